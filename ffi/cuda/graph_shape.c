/* Graph signatures: labels each node by the nodes before and after it, then adds up the labels. */
#include "graph_shape.h"

#include <stdbool.h>
#include <string.h>

#define DETAIL (UINT64_MAX >> 2)
#define NONE UINT32_MAX

enum { UNKNOWN = 0, GONE = 1, SEEDS = 2 }; /* seeds begin here */
enum { QUEUED = INT32_MIN / 2 };

struct node {
    union {
        uint64_t handle; /* until all events are read */
        uint64_t up;     /* its label by the nodes after it */
    };
    uint64_t seed;
    uint64_t down;   /* the sum of its predecessors' labels, then its label by the nodes before it */
    int32_t waits;   /* predecessors without a label */
    uint32_t first;  /* its edges in `targets` */
};

struct edge {
    uint32_t from;
    uint32_t to; /* as in `targets` */
};

struct work {
    struct node *nodes; /* and one more, to end the last one's edges */
    struct edge *edges;
    uint32_t *targets; /* twice the node, plus one if the edge was removed */
    uint32_t *order;
    uint32_t *index; /* handle -> node, open addressing */
    uint32_t index_size;
    uint32_t node_count, node_limit, edge_count;
    uint32_t alive, linked;
};

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t mix_pair(uint64_t a, uint64_t b) {
    return mix(mix(a + 0x9e3779b97f4a7c15u) ^ b);
}

uint64_t graph_symbol_hash(const char *symbol) {
    size_t left = strlen(symbol);
    uint64_t hash = mix(left + 1);
    for (; left > 0; symbol += 8) {
        size_t taken = left < 8 ? left : 8;
        uint64_t word = 0;
        memcpy(&word, symbol, taken);
        hash = mix_pair(hash, word);
        left -= taken;
    }
    return hash;
}

uint64_t graph_seed(int type, uint64_t inner) {
    uint64_t seed = mix_pair((uint64_t)type, inner) & DETAIL;
    return seed < SEEDS ? SEEDS : seed;
}

static uint32_t index_size_for(uint32_t nodes) {
    uint32_t size = 16;
    while (size / 2 < nodes) size *= 2;
    return size;
}

size_t graph_shape_room(uint32_t nodes, uint32_t edges) {
    return ((size_t)nodes + 1) * sizeof(struct node) + edges * (sizeof(struct edge) + sizeof(uint32_t)) +
           ((size_t)nodes + index_size_for(nodes)) * sizeof(uint32_t);
}

static struct work work_in(void *room, uint32_t nodes, uint32_t edges) {
    struct work w = {.node_limit = nodes, .index_size = index_size_for(nodes)};
    memset(room, 0, graph_shape_room(nodes, edges));
    w.nodes = room;
    w.edges = (struct edge *)(w.nodes + nodes + 1);
    w.targets = (uint32_t *)(w.edges + edges);
    w.order = w.targets + edges;
    w.index = w.order + nodes;
    memset(w.index, 0xff, w.index_size * sizeof *w.index);
    return w;
}

/* The slot in the index of the node with this handle, or the free one for it. */
static uint32_t *slot_of(struct work *w, uint64_t handle) {
    uint32_t at = (uint32_t)mix(handle);
    for (;; at++) {
        uint32_t *slot = &w->index[at & (w->index_size - 1)];
        if (*slot == NONE || w->nodes[*slot].handle == handle) return slot;
    }
}

static uint32_t add_node(struct work *w, uint32_t *slot, uint64_t handle) {
    if (w->node_count == w->node_limit) return NONE;
    w->nodes[w->node_count].handle = handle;
    return *slot = w->node_count++;
}

/* The node with this handle, added if it is new: an edge may name it before its own event. */
static uint32_t node_of(struct work *w, uint64_t handle) {
    uint32_t *slot = slot_of(w, handle);
    return *slot == NONE ? add_node(w, slot, handle) : *slot;
}

/* The same, or a new node if the one with this handle is gone: handles are reused. */
static uint32_t living_node_of(struct work *w, uint64_t handle) {
    uint32_t *slot = slot_of(w, handle);
    bool lives = *slot != NONE && w->nodes[*slot].seed != GONE;
    return lives ? *slot : add_node(w, slot, handle);
}

static bool read_event(struct work *w, struct graph_event event) {
    unsigned kind = event.detail >> 62;
    uint64_t detail = event.detail & DETAIL;
    uint32_t node = kind == GRAPH_NODE ? living_node_of(w, event.node) : node_of(w, event.node);
    if (node == NONE) return false;
    if (kind == GRAPH_NODE) {
        w->nodes[node].seed = detail;
    } else if (kind == GRAPH_NODE_GONE) {
        w->nodes[node].seed = GONE;
    } else {
        uint32_t to = node_of(w, detail);
        if (to == NONE) return false;
        w->edges[w->edge_count++] = (struct edge){node, to << 1 | (kind == GRAPH_EDGE_GONE)};
    }
    return true;
}

static bool all_known(struct work *w) {
    for (uint32_t i = 0; i < w->node_count; i++) {
        if (w->nodes[i].seed == UNKNOWN) return false;
        w->alive += w->nodes[i].seed != GONE;
    }
    return true;
}

static bool joins_living(const struct work *w, const struct edge *edge) {
    return w->nodes[edge->from].seed != GONE && w->nodes[edge->to >> 1].seed != GONE;
}

/* An edge that was removed is listed twice, once with each sign. */
static int sign_of(uint32_t target) {
    return target & 1 ? -1 : 1;
}

static void sort_edges(struct work *w) {
    struct node *nodes = w->nodes;
    for (uint32_t i = 0; i < w->edge_count; i++) {
        if (joins_living(w, &w->edges[i])) nodes[w->edges[i].from].first++;
    }
    uint32_t end = 0;
    for (uint32_t i = 0; i <= w->node_count; i++) {
        end += nodes[i].first;
        nodes[i].first = end;
    }
    for (uint32_t i = w->edge_count; i-- > 0;) {
        struct edge *edge = &w->edges[i];
        if (!joins_living(w, edge)) continue;
        w->targets[--nodes[edge->from].first] = edge->to;
        nodes[edge->to >> 1].waits += sign_of(edge->to);
        w->linked += (uint32_t)sign_of(edge->to);
    }
}

/* Labels every node by the nodes before it. Returns the number of nodes reached. */
static uint32_t label_down(struct work *w) {
    struct node *nodes = w->nodes;
    uint32_t reached = 0;
    for (uint32_t i = 0; i < w->node_count; i++) {
        if (nodes[i].seed == GONE || nodes[i].waits != 0) continue;
        nodes[i].waits = QUEUED;
        w->order[reached++] = i;
    }
    for (uint32_t head = 0; head < reached; head++) {
        struct node *node = &nodes[w->order[head]];
        const uint32_t *begin = w->targets + node->first, *end = w->targets + node[1].first;
        node->down = mix_pair(node->seed, node->down);
        for (const uint32_t *target = begin; target < end; target++) {
            struct node *next = &nodes[*target >> 1];
            next->down += (uint64_t)sign_of(*target) * mix(node->down);
            next->waits -= sign_of(*target);
        }
        for (const uint32_t *target = begin; target < end; target++) {
            struct node *next = &nodes[*target >> 1];
            if (next->waits != 0) continue;
            next->waits = QUEUED;
            w->order[reached++] = *target >> 1;
        }
    }
    return reached;
}

/* Labels every node by the nodes after it, too: kernels of one name may differ in what follows them.
 * Returns the sum of both labels over all nodes. */
static uint64_t label_up(struct work *w) {
    uint64_t total = 0;
    for (uint32_t i = w->alive; i-- > 0;) {
        struct node *node = &w->nodes[w->order[i]];
        uint64_t sum = 0;
        for (uint32_t at = node->first; at < node[1].first; at++) {
            sum += (uint64_t)sign_of(w->targets[at]) * mix(w->nodes[w->targets[at] >> 1].up);
        }
        node->up = mix_pair(node->seed, sum);
        total += mix_pair(node->down, node->up);
    }
    return total;
}

struct graph_shape graph_shape(const struct graph_event *events, uint32_t count, uint32_t nodes, uint32_t edges,
                               void *room) {
    struct graph_shape unknown = {0};
    struct work w = work_in(room, nodes, edges);
    for (uint32_t i = 0; i < count; i++) {
        if (!read_event(&w, events[i])) return unknown;
    }
    if (!all_known(&w)) return unknown;
    sort_edges(&w);
    if (label_down(&w) != w.alive) return unknown;
    uint64_t signature = mix_pair(label_up(&w), (uint64_t)w.linked << 32 | w.alive);
    return (struct graph_shape){signature ? signature : 1, w.alive, w.linked};
}
