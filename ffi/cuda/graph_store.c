/* Graphs that exist: the events of each or, if it is sealed, only its shape. */
#include "graph_store.h"

#include <stdlib.h>
#include <string.h>

/* Bytes for all graphs, and with the memory to compute a shape. */
#define KEPT_BUDGET (1u << 20)
#define BUDGET (2u << 20)
#define BUCKETS 1024u
#define FIRST_CAPACITY 16u

/* A graph that exists: its events or, if `sealed`, only its shape. */
struct graph {
    const void *handle;
    struct graph *next;
    struct graph_event *events;
    uint32_t count, capacity;
    uint32_t nodes, edges;    /* among the events; after sealing, how many were added */
    struct graph_shape shape; /* once `shaped` */
    bool shaped;
    bool sealed;
    bool cloned; /* sealed with the shape of its original */
    bool lost;   /* its structure cannot be known */
};

static struct graph *graphs[BUCKETS];
static size_t used;

/* ---- Memory ---- */

static void drop_events(struct graph *g) {
    used -= g->capacity * sizeof *g->events;
    free(g->events);
    g->events = NULL;
    g->count = g->capacity = g->nodes = g->edges = 0;
}

/* Seals the graphs that have a shape already. */
static void make_room(void) {
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct graph *g = graphs[i]; g; g = g->next) {
            if (!g->shaped || g->sealed) continue;
            drop_events(g);
            g->sealed = true;
        }
    }
}

static bool reserve(size_t bytes, size_t budget) {
    if (used + bytes > budget) make_room();
    if (used + bytes > budget) return false;
    used += bytes;
    return true;
}

static bool grow(struct graph *g) {
    uint32_t capacity = g->capacity ? g->capacity + g->capacity / 2 : FIRST_CAPACITY;
    size_t more = (capacity - g->capacity) * sizeof *g->events;
    if (!reserve(more, KEPT_BUDGET)) return false;
    struct graph_event *events = realloc(g->events, capacity * sizeof *events);
    if (!events) {
        used -= more;
        return false;
    }
    g->events = events;
    g->capacity = capacity;
    return true;
}

/* ---- Graphs by handle ---- */

static struct graph **bucket_of(const void *handle) {
    return &graphs[(uintptr_t)handle * 0x9e3779b97f4a7c15u >> 54];
}

static struct graph **link_to(const void *handle) {
    struct graph **link = bucket_of(handle);
    while (*link && (*link)->handle != handle) link = &(*link)->next;
    return link;
}

void graph_store_forget(const void *handle) {
    struct graph **link = link_to(handle), *g = *link;
    if (!g) return;
    drop_events(g);
    *link = g->next;
    used -= sizeof *g;
    free(g);
}

/* The graph with this handle, added if it is new. NULL: no room. */
static struct graph *graph_of(const void *handle) {
    struct graph *known = *link_to(handle);
    if (known || !handle || !reserve(sizeof *known, KEPT_BUDGET)) return known;
    struct graph *g = calloc(1, sizeof *g);
    if (!g) {
        used -= sizeof *g;
        return NULL;
    }
    struct graph **bucket = bucket_of(handle);
    g->handle = handle;
    g->next = *bucket;
    return *bucket = g;
}

/* ---- Shapes ---- */

static void lose(struct graph *g) {
    drop_events(g);
    g->lost = true;
}

static void compute_shape(struct graph *g) {
    size_t bytes = graph_shape_room(g->nodes, g->edges);
    if (!reserve(bytes, BUDGET)) return;
    void *room = malloc(bytes);
    if (room) {
        g->shape = graph_shape(g->events, g->count, g->nodes, g->edges, room);
        g->shaped = true;
    }
    free(room);
    used -= bytes;
}

/* CUPTI may report all nodes and edges of a clone as created; any other count is a change to a graph whose
 * nodes are not held. */
static bool is_still_clone(const struct graph *g) {
    return (g->nodes == 0 || g->nodes == g->shape.nodes) && (g->edges == 0 || g->edges == g->shape.edges);
}

struct graph_shape graph_store_shape(const void *handle) {
    struct graph_shape unknown = {0};
    struct graph *g = *link_to(handle);
    if (!g || g->lost) return unknown;
    if (g->sealed) return is_still_clone(g) ? g->shape : unknown;
    if (!g->shaped) compute_shape(g);
    return g->shaped ? g->shape : unknown;
}

/* ---- Events ---- */

static void append(struct graph *g, struct graph_event event) {
    if (g->count == g->capacity && !grow(g)) {
        lose(g);
        return;
    }
    g->events[g->count++] = event;
    g->shaped = false;
}

static void add_to(struct graph *g, unsigned kind, const void *node, uint64_t detail) {
    if (!g || g->lost) return;
    if (g->sealed && (!g->cloned || kind == GRAPH_NODE_GONE || kind == GRAPH_EDGE_GONE)) lose(g);
    else if (!g->sealed) append(g, graph_event(kind, node, detail));
    g->nodes += !g->lost && kind == GRAPH_NODE;
    g->edges += !g->lost && (kind == GRAPH_EDGE || kind == GRAPH_EDGE_GONE);
}

void graph_store_clone(const void *handle, const void *original) {
    struct graph_shape shape = graph_store_shape(original);
    struct graph *g = graph_of(handle);
    if (!g || !original || original == handle || g->cloned) return;
    uint32_t nodes = g->nodes, edges = g->edges;
    drop_events(g);
    g->nodes = nodes;
    g->edges = edges;
    g->shape = shape;
    g->shaped = g->sealed = g->cloned = true;
}

void graph_store_create(const void *handle) {
    graph_store_forget(handle);
    graph_of(handle);
}

void graph_store_add(const void *handle, unsigned kind, const void *node, uint64_t detail) {
    add_to(graph_of(handle), kind, node, detail);
}

void graph_store_remove(const void *handle, unsigned kind, const void *node, uint64_t detail) {
    add_to(*link_to(handle), kind, node, detail);
}

bool graph_store_has(const void *handle) { return *link_to(handle); }

void graph_store_clear(void) {
    memset(graphs, 0, sizeof graphs);
    used = 0;
}
