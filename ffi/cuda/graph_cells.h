/* The cell that the launches of a graph are counted in: a frame that is named after the graph's signature,
 * or after its id where that is not known. For the collector's thread alone. */
#ifndef SERVICE_GRAPH_CELLS_H
#define SERVICE_GRAPH_CELLS_H

#include <stdint.h>

/* Makes the counter of graphs without a signature its cell. */
void graph_cells_open(uint32_t unidentified_cell);

/* The cell, in a device's profile of graphs, of the graph that CUPTI's records call `id`. */
uint32_t graph_cell(uint32_t profile, uint32_t id);

#endif
