/* Graph structures: a signature for each executable CUDA graph, learned from CUPTI's callbacks while the
 * graph is made. No driver call is made for it: none is allowed inside a callback, and afterwards the
 * template may be gone.
 *
 * The signature is a hash of the nodes (type and kernel symbol) and the edges between them, whatever the
 * order they were made in; so it is the same in every run, process and host.
 *
 * At most 3 MiB are used. They hold a graph of some 20,000 nodes, or more graphs of fewer that are not
 * instantiated yet, and the latest 65,000 ids; what finds no room is not identified. Nor is a clone that
 * was changed, or a graph with a kernel node whose symbol CUPTI did not tell. */
#ifndef SERVICE_GRAPHS_H
#define SERVICE_GRAPHS_H

#include <stdint.h>

#include "cupti.h"

/* A driver function that may make nodes is entered or left, on this thread. */
void graphs_api(uint32_t cbid, const struct cupti_callback_data *data);

/* A resource callback of the graph kind. Asks `cupti` for the ids of what was instantiated. */
void graphs_resource(const struct cupti *cupti, uint32_t cbid, const struct cupti_graph_data *data);

/* The signature of the graph that CUPTI's records call `graph_id`, or 0 where it could not be learned.
 * From any thread. */
uint64_t graphs_signature(uint32_t graph_id);

/* The child of a fork: no lock of the parent is held here. */
void graphs_forget(void);

#endif
