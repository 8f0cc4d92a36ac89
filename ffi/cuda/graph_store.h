/* Graphs that exist, by their handles, within a budget of memory. For one thread at a time; no call of CUPTI. */
#ifndef SERVICE_GRAPH_STORE_H
#define SERVICE_GRAPH_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "graph_shape.h"

/* A new graph, whatever had its handle before. */
void graph_store_create(const void *handle);

/* Adds a node or an edge, also to a graph whose creation was not seen. */
void graph_store_add(const void *handle, unsigned kind, const void *node, uint64_t detail);

/* Notes that a node or an edge of a known graph is gone. */
void graph_store_remove(const void *handle, unsigned kind, const void *node, uint64_t detail);

/* A clone has the present shape of its original, and holds no nodes: each instantiation makes a clone. */
void graph_store_clone(const void *handle, const void *original);

/* The shape of a graph; without a signature if it cannot be known. */
struct graph_shape graph_store_shape(const void *handle);

bool graph_store_has(const void *handle);

void graph_store_forget(const void *handle);

/* Forgets all graphs without freeing them: after a fork the memory's state is unknown. */
void graph_store_clear(void);

#endif
