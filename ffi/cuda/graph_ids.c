#include "graph_ids.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* A prime: ids that step by any other number fill all places. */
#define PLACES 32749u

struct ids {
    _Atomic uint64_t signatures[PLACES];
    _Atomic uint32_t ids[PLACES]; /* 0 while the place is empty or changes */
};

static struct ids *_Atomic kinds; /* two of them */

static struct ids *made(void) {
    struct ids *ids = atomic_load(&kinds);
    if (ids) return ids;
    ids = calloc(2, sizeof *ids);
    atomic_store(&kinds, ids);
    return ids;
}

void graph_ids_put(int kind, uint32_t id, uint64_t signature) {
    struct ids *ids = made();
    if (!ids || id == 0) return;
    uint32_t place = id % PLACES;
    atomic_store(&ids[kind].ids[place], 0);
    atomic_store(&ids[kind].signatures[place], signature);
    atomic_store(&ids[kind].ids[place], id);
}

static bool found(struct ids *ids, uint32_t id, uint64_t *signature) {
    uint32_t place = id % PLACES;
    if (atomic_load(&ids->ids[place]) != id) return false;
    *signature = atomic_load(&ids->signatures[place]);
    return atomic_load(&ids->ids[place]) == id;
}

uint64_t graph_ids_find(uint32_t id) {
    struct ids *ids = atomic_load(&kinds);
    uint64_t signature = 0;
    if (!ids || id == 0) return 0;
    if (found(&ids[GRAPH_ID_EXEC], id, &signature)) return signature;
    return found(&ids[GRAPH_ID_TEMPLATE], id, &signature) ? signature : 0;
}

void graph_ids_forget(void) {
    atomic_store(&kinds, NULL);
}
