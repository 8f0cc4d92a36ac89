/* Signals to the supervisor: forwarded to the workload as the kernel would have delivered them. */
#ifndef SERVICE_SIGNALS_H
#define SERVICE_SIGNALS_H

#include "supervisor.h"

/* Blocks the signals to forward and opens `s->signals`, from which they are read. Saves the previous
 * mask in `s->workload.mask`. */
void signals_open(struct supervisor *s);

/* Handles the signals that have arrived. */
void signals_handle(struct supervisor *s);

#endif
