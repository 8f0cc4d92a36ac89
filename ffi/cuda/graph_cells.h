/* Cells of graphs: the launches of a graph are counted in a frame with the graph's signature as its name, or
 * with its id if it has none. For the collector's thread alone. */
#ifndef SERVICE_GRAPH_CELLS_H
#define SERVICE_GRAPH_CELLS_H

#include <stdint.h>

/* Begins; graphs without a signature are counted in this cell. */
void graph_cells_open(uint32_t unidentified_cell);

/* The cell, in a device's profile of graphs, of the graph with this id in CUPTI's records. */
uint32_t graph_cell(uint32_t profile, uint32_t id);

#endif
