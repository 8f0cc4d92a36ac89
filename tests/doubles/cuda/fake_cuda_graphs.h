/* Graphs of the fake driver, for those that build them. */
#ifndef FAKE_CUDA_GRAPHS_H
#define FAKE_CUDA_GRAPHS_H

#include "fake_cuda.h"

/* What CUPTI tells of them. */
enum {
    GRAPH_CREATED = 9,
    GRAPH_DESTROY_STARTING = 10,
    GRAPH_CLONED = 11,
    NODE_CREATE_STARTING = 12,
    NODE_CREATED = 13,
    NODE_DESTROY_STARTING = 14,
    DEPENDENCY_CREATED = 15,
    EXEC_CREATE_STARTING = 17,
    EXEC_CREATED = 18,
    EXEC_DESTROY_STARTING = 19,
    NODE_CLONED = 20,
};
enum { NODE_KERNEL = 0, NODE_CHILD = 4 };
enum { NODES = 64 };

struct node {
    int type;
    const char *name;
    struct graph *child;
};

struct graph {
    uint32_t id;
    int count;
    struct node *nodes[NODES];
};

void graph_tell(uint32_t cbid, struct fake_graph_data data);

/* A graph without nodes, of which nothing has been told. */
struct graph *graph_new(void);

/* Adds a node after others. */
struct node *graph_node(struct graph *graph, struct node made, struct node *const after[], size_t count);

void graph_free(struct graph *graph);

#endif
