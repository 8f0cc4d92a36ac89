/* Signatures of the graphs that were instantiated last, by the ids that CUPTI's records have of them. */
#ifndef SERVICE_GRAPH_IDS_H
#define SERVICE_GRAPH_IDS_H

#include <stdint.h>

/* The two kinds of ids are numbered apart. */
enum { GRAPH_ID_EXEC = 0, GRAPH_ID_TEMPLATE = 1 };

/* One writer at a time. A new id may replace an old one; signature 0: the graph is not identified. */
void graph_ids_put(int kind, uint32_t id, uint64_t signature);

/* The signature by the executable's id, or else by the template's. 0: unknown. From any thread. */
uint64_t graph_ids_find(uint32_t id);

/* For the child of a fork. */
void graph_ids_forget(void);

#endif
