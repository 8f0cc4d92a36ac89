/* States of the sources, and the state of the process that the segment shows. For one thread at a time. */
#ifndef SERVICE_STATES_H
#define SERVICE_STATES_H

#include <stdbool.h>
#include <stdint.h>

/* Sets the state of the source in this row of the table, with a reason or NULL. Returns whether it changed. */
bool states_set(uint32_t row, uint32_t state, const char *reason);

/* Puts the state of the process into the segment: interrupted if a source is interrupted, else capturing if
 * one captures, else refused. With several sources each reason follows its prefix. */
void states_show(void);

#endif
