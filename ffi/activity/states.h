/* What each source captures, and what the segment says of the process for that. Not for several threads at
 * once. */
#ifndef SERVICE_STATES_H
#define SERVICE_STATES_H

#include <stdbool.h>
#include <stdint.h>

/* Of the source in this row of the table: a state of the segment, and its reason or NULL. Returns whether
 * it is another than before. */
bool states_set(uint32_t row, uint32_t state, const char *reason);

/* Puts the state of the process into the segment: interrupted if a source is, else capturing if one does,
 * else refused. Reasons of several sources stand behind their prefixes. */
void states_show(void);

#endif
