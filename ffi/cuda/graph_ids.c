/* Signatures by graph id, in a fixed table that readers need no lock for. */
#include "graph_ids.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* A prime: ids in steps of any other number fill all slots. */
#define SLOTS 32749u

struct ids {
    _Atomic uint64_t signatures[SLOTS];
    _Atomic uint32_t ids[SLOTS]; /* 0 while the slot is empty or changes */
};

static struct ids *_Atomic kinds; /* two of them */

static struct ids *allocated(void) {
    struct ids *ids = atomic_load(&kinds);
    if (ids) return ids;
    ids = calloc(2, sizeof *ids);
    atomic_store(&kinds, ids);
    return ids;
}

void graph_ids_put(int kind, uint32_t id, uint64_t signature) {
    struct ids *ids = allocated();
    if (!ids || id == 0) return;
    uint32_t slot = id % SLOTS;
    atomic_store(&ids[kind].ids[slot], 0);
    atomic_store(&ids[kind].signatures[slot], signature);
    atomic_store(&ids[kind].ids[slot], id);
}

static bool find(struct ids *ids, uint32_t id, uint64_t *signature) {
    uint32_t slot = id % SLOTS;
    if (atomic_load(&ids->ids[slot]) != id) return false;
    *signature = atomic_load(&ids->signatures[slot]);
    return atomic_load(&ids->ids[slot]) == id;
}

uint64_t graph_ids_find(uint32_t id) {
    struct ids *ids = atomic_load(&kinds);
    uint64_t signature = 0;
    if (!ids || id == 0) return 0;
    if (find(&ids[GRAPH_ID_EXEC], id, &signature)) return signature;
    return find(&ids[GRAPH_ID_TEMPLATE], id, &signature) ? signature : 0;
}

void graph_ids_forget(void) {
    atomic_store(&kinds, NULL);
}
