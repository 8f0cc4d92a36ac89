/* Launches of work, counted while they are watched: then, and while a stream is captured, CUPTI calls back for
 * each, which costs the launching thread. */
#ifndef SERVICE_LAUNCHES_H
#define SERVICE_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti.h"

/* The callback of a driver function that may launch, on the thread that calls it. */
void launches_api(const struct cupti_callback_data *data);

/* The call of this thread has made a node of a graph, and so has launched nothing. */
void launches_made_node(void);

/* The rest is for the collector's thread. */

/* Watches launches or does not; the bell rings for the first ones. Once a second. */
void launches_watch(bool on);

/* Whether some launches were seen since the watch began, the first of them at least so long ago. */
bool launches_since(uint64_t ns);

#endif
