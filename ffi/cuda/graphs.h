/* Graphs: a signature for each executable CUDA graph, computed from CUPTI's callbacks while the graph is
 * made. The driver is not asked: that is not allowed in a callback, and later the template may be gone.
 *
 * The signature is a hash of the nodes (type and kernel symbol) and the edges between them. It does not
 * depend on their order, so it is the same in every run, process and host.
 *
 * At most 3 MiB are used: for a graph of some 20,000 nodes, or several smaller ones, that is not instantiated
 * yet, and for the last 65,000 ids. Not identified are graphs for which there is no room, clones that were
 * changed, and graphs with a kernel node whose symbol CUPTI did not give. */
#ifndef SERVICE_GRAPHS_H
#define SERVICE_GRAPHS_H

#include <stdint.h>

#include "cupti.h"

/* The callback of a driver function that may make nodes, on the thread that calls it. */
void graphs_api(uint32_t cbid, const struct cupti_callback_data *data);

/* The callbacks of launches were disabled: those that were entered may never be left. */
void graphs_end_launches(void);

/* The callback of a graph event. Asks `cupti` for the ids of a graph that is instantiated. */
void graphs_resource(const struct cupti *cupti, uint32_t cbid, const struct cupti_graph_data *data);

/* The signature of the graph with this id in CUPTI's records, or 0 if it is not identified. From any
 * thread. */
uint64_t graphs_signature(uint32_t graph_id);

/* For the child of a fork: forgets all, and the lock is free. */
void graphs_forget(void);

#endif
