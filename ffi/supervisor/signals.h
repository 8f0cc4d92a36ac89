/* Signals that reach the supervisor: passed on to the workload as the kernel would have done. */
#ifndef SERVICE_SIGNALS_H
#define SERVICE_SIGNALS_H

#include "supervisor.h"

/* Blocks the signals that are passed on and opens `s->signals`, from which they are read. Saves the
 * mask from before in `s->workload.mask`. */
void signals_open(struct supervisor *s);

/* Handles the signals that have arrived. */
void signals_handle(struct supervisor *s);

#endif
