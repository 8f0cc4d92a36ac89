/* States of the sources, joined into that of the process. */
#include "states.h"

#include <stdio.h>
#include <string.h>

#include "../segment/segment.h"
#include "source.h"

#define REASON_SIZE 1024

static struct {
    uint32_t state; /* SEGMENT_STARTING: it was not asked to start */
    char reason[REASON_SIZE];
} states[ACTIVITY_SOURCES];

bool states_set(uint32_t row, uint32_t state, const char *reason) {
    if (!reason) reason = "";
    if (states[row].state == state && strncmp(states[row].reason, reason, REASON_SIZE - 1) == 0) return false;
    states[row].state = state;
    snprintf(states[row].reason, REASON_SIZE, "%s", reason);
    return true;
}

static uint32_t count_of(uint32_t state) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < ACTIVITY_SOURCES; i++) count += states[i].state == state;
    return count;
}

static void join_reasons(char *text, size_t size) {
    bool several = count_of(SEGMENT_STARTING) + 1 < ACTIVITY_SOURCES;
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < ACTIVITY_SOURCES; i++) {
        const char *reason = states[i].reason;
        if (reason[0] == '\0' || used >= size) continue;
        const char *prefix = several ? activity_sources[i]->prefix : "";
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", used ? "; " : "", prefix,
                                 several ? ": " : "", reason);
    }
}

void states_show(void) {
    static char text[ACTIVITY_SOURCES * REASON_SIZE];
    uint32_t state = count_of(SEGMENT_INTERRUPTED) ? SEGMENT_INTERRUPTED
                     : count_of(SEGMENT_CAPTURING) ? SEGMENT_CAPTURING
                                                   : SEGMENT_REFUSED;
    join_reasons(text, sizeof text);
    segment_state(state, text[0] ? text : NULL);
}
