/* The signature of a graph: a hash of its nodes and the edges between them, computed from what happened to
 * it. The order of creation, handles and ids do not enter it, so it is the same on every host. */
#ifndef SERVICE_GRAPH_SHAPE_H
#define SERVICE_GRAPH_SHAPE_H

#include <stddef.h>
#include <stdint.h>

enum { GRAPH_NODE = 0, GRAPH_NODE_GONE = 1, GRAPH_EDGE = 2, GRAPH_EDGE_GONE = 3 };

/* One thing that happened to the node of this handle; `detail` is its kind in the two highest bits, above
 * the seed of a node or the handle of an edge's other node. Handles lie in the lower 62 bits. */
struct graph_event {
    uint64_t node;
    uint64_t detail;
};

static inline struct graph_event graph_event(unsigned kind, const void *node, uint64_t detail) {
    return (struct graph_event){(uintptr_t)node, (uint64_t)kind << 62 | detail};
}

/* A graph as its events have left it. Signature 0: it cannot be told. */
struct graph_shape {
    uint64_t signature;
    uint32_t nodes;
    uint32_t edges;
};

/* What a kernel's name says. */
uint64_t graph_symbol_hash(const char *symbol);

/* What a node is, whatever surrounds it: its type, and the hash of its symbol or of the graph within. 0 is
 * the seed of a node that is not known. */
uint64_t graph_seed(int type, uint64_t inner);

/* The memory that graph_shape() wants for so many events of each kind. */
size_t graph_shape_room(uint32_t nodes, uint32_t edges);

/* `nodes` of the events are GRAPH_NODE, `edges` are GRAPH_EDGE or GRAPH_EDGE_GONE. O(count). */
struct graph_shape graph_shape(const struct graph_event *events, uint32_t count, uint32_t nodes, uint32_t edges,
                               void *room);

#endif
