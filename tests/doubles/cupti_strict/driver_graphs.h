/* Strict driver: graphs, their nodes, and what is made of them. */
#ifndef DRIVER_GRAPHS_H
#define DRIVER_GRAPHS_H

#include "driver.h"

struct strict_node {
    struct strict_graph *graph;
    struct strict_node *next;
    struct strict_node *original;
    struct strict_node *before[STRICT_DEPENDENCIES];
    uint32_t dependencies, type, index;
    struct strict_graph *child;
    struct strict_operation operation;
    struct strict_function *function;
};

struct strict_graph {
    uint32_t id, nodes;
    struct strict_node *first, *last;
};

struct strict_exec {
    uint32_t id;
    bool whole;
    struct strict_graph graph;
    _Atomic uint64_t launches, recorded_ns;
};

/* Graphs and what is made of them have numbers of one kind. */
extern _Atomic uint32_t graph_last_id;

void tell_graph(uint32_t cbid, struct strict_graph_data);
/* Appends copies of all nodes, those of child graphs too. */
void clone_nodes(struct strict_graph *made, struct strict_graph *graph);
void destroy_nodes(struct strict_graph *);

#endif
