/* Test of states.c: the state of the process is that of its sources, with the reason of each. */
#include "states.h"

#include <string.h>

#include "../segment/parts.h"
#include "../testdata/check.h"
#include "source.h"

static const struct activity_source red = {.prefix = "red"}, blue = {.prefix = "blue"};
const struct activity_source *const activity_sources[ACTIVITY_SOURCES] = {&red, &blue};

enum { RED, BLUE };

static void shows(uint32_t state, const char *reason) {
    states_show();
    CHECK(segment->state == state);
    const char *name = segment_at(NAMES_AT + segment->reason);
    uint32_t length = 0;
    if (segment->reason != 0) memcpy(&length, name, sizeof length);
    CHECK(length == strlen(reason) && memcmp(name + sizeof length, reason, length) == 0);
}

int main(int count, char **words) {
    CHECK(count == 2 && segment_open(words[1]) == 0);

    /* A single source needs no prefix. */
    CHECK(states_set(RED, SEGMENT_CAPTURING, NULL));
    shows(SEGMENT_CAPTURING, "");
    CHECK(states_set(RED, SEGMENT_INTERRUPTED, "a guest"));
    CHECK(!states_set(RED, SEGMENT_INTERRUPTED, "a guest"));
    shows(SEGMENT_INTERRUPTED, "a guest");

    CHECK(states_set(BLUE, SEGMENT_CAPTURING, NULL));
    shows(SEGMENT_INTERRUPTED, "red: a guest");
    CHECK(states_set(RED, SEGMENT_CAPTURING, NULL));
    shows(SEGMENT_CAPTURING, "");
    CHECK(states_set(BLUE, SEGMENT_REFUSED, "no paint"));
    shows(SEGMENT_CAPTURING, "blue: no paint");
    CHECK(states_set(RED, SEGMENT_REFUSED, "no brush"));
    shows(SEGMENT_REFUSED, "red: no brush; blue: no paint");

    /* A reason is cut, and the other one still has room. */
    char reason[3000];
    memset(reason, 'x', sizeof reason - 1);
    reason[sizeof reason - 1] = '\0';
    CHECK(states_set(RED, SEGMENT_REFUSED, reason));
    CHECK(!states_set(RED, SEGMENT_REFUSED, reason));
    states_show();
    const char *name = segment_at(NAMES_AT + segment->reason);
    uint32_t length;
    memcpy(&length, name, sizeof length);
    CHECK(length > 1000 && memcmp(name + sizeof length + length - 8, "no paint", 8) == 0);
    return 0;
}
