/* Another client of CUPTI in this process, such as torch.profiler: notices that it has taken the activity
 * buffers, says so in the state of the capture, and takes them back when that client is certainly done.
 * For the collector's thread alone. */
#ifndef SERVICE_OTHER_CLIENT_H
#define SERVICE_OTHER_CLIENT_H

#include <stdbool.h>

/* Remembers how CUPTI is set while there is only us. */
void other_client_begin(void);

/* Whether it has the buffers: what they hold is not ours to cut. */
bool other_client_interrupts(void);

/* Once a second. */
void other_client_check(void);

/* Between those, as its session may be short; to be called when the bell rings. */
void other_client_poll(void);

#endif
