/* The signatures of what was instantiated lately, by the ids that CUPTI's records may call it. */
#ifndef SERVICE_GRAPH_IDS_H
#define SERVICE_GRAPH_IDS_H

#include <stdint.h>

/* Ids of the two kinds are counted apart. */
enum { GRAPH_ID_EXEC = 0, GRAPH_ID_TEMPLATE = 1 };

/* One writer at a time. Forgets an old id for a new one; signature 0: the graph is not identified. */
void graph_ids_put(int kind, uint32_t id, uint64_t signature);

/* By its executable's id or else its template's. 0: unknown. From any thread, without a lock. */
uint64_t graph_ids_find(uint32_t id);

/* The child of a fork. */
void graph_ids_forget(void);

#endif
