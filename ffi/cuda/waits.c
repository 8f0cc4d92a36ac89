/* Waits of the host: a hash table of contexts. */
#include "waits.h"

#include <stdbool.h>
#include <stddef.h>

/* A power of two. A process has a context or two for each device. */
#define CONTEXTS 512u

static struct context {
    bool used;
    uint32_t id, device;
    struct wait kept[WAIT_TYPES];
} contexts[CONTEXTS];
static struct context *latest = contexts;
static uint64_t kept;

static struct context *find(uint32_t id) {
    if (latest->used && latest->id == id) return latest;
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        struct context *context = &contexts[(id + i) % CONTEXTS];
        if (!context->used) *context = (struct context){true, id, WAITS_UNKNOWN, {{0, 0}}};
        if (context->id == id) return latest = context;
    }
    return NULL;
}

const struct wait *waits_learn(uint32_t id, uint32_t device) {
    struct context *context = find(id);
    if (!context || context->device != WAITS_UNKNOWN) return NULL;
    context->device = device;
    for (uint32_t type = 0; type < WAIT_TYPES; type++) kept -= context->kept[type].count;
    return context->kept;
}

uint32_t waits_add(uint32_t id, uint32_t type, uint64_t ns) {
    struct context *context = find(id);
    if (context && context->device != WAITS_UNKNOWN) return context->device;
    kept++;
    if (context) {
        context->kept[type].ns += ns;
        context->kept[type].count++;
    }
    return WAITS_UNKNOWN;
}

uint64_t waits_kept(void) { return kept; }
