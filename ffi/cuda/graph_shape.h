/* The signature of a graph: a hash of its nodes and the edges between them, computed from its
 * events. It does not depend on the order of creation, on handles or on ids, so it is the same on every
 * host. */
#ifndef SERVICE_GRAPH_SHAPE_H
#define SERVICE_GRAPH_SHAPE_H

#include <stddef.h>
#include <stdint.h>

enum { GRAPH_NODE = 0, GRAPH_NODE_GONE = 1, GRAPH_EDGE = 2, GRAPH_EDGE_GONE = 3 };

/* An event of the node with this handle. `detail` has its kind in the two highest bits; below them the seed
 * of a node, or the handle of an edge's other node. Handles fit into 62 bits. */
struct graph_event {
    uint64_t node;
    uint64_t detail;
};

static inline struct graph_event graph_event(unsigned kind, const void *node, uint64_t detail) {
    return (struct graph_event){(uintptr_t)node, (uint64_t)kind << 62 | detail};
}

/* A graph after all its events. Signature 0: unknown. */
struct graph_shape {
    uint64_t signature;
    uint32_t nodes;
    uint32_t edges;
};

/* Hash of a kernel's symbol. */
uint64_t graph_symbol_hash(const char *symbol);

/* Seed of a node without its surroundings: a hash of its type and of `inner`, the hash of its symbol or of
 * its child graph. Never 0, which is the seed of an unknown node. */
uint64_t graph_seed(int type, uint64_t inner);

/* Bytes of memory that graph_shape() needs for these counts of events. */
size_t graph_shape_room(uint32_t nodes, uint32_t edges);

/* The shape after these events. `nodes`: count of GRAPH_NODE; `edges`: count of GRAPH_EDGE and
 * GRAPH_EDGE_GONE. O(count). */
struct graph_shape graph_shape(const struct graph_event *events, uint32_t count, uint32_t nodes, uint32_t edges,
                               void *room);

#endif
