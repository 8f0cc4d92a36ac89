/* Another client of CUPTI in this process, such as torch.profiler: detects that it has taken the activity
 * buffers, reports the interruption, and takes them back when that client is certainly done. For the
 * collector's thread alone. */
#ifndef SERVICE_OTHER_CLIENT_H
#define SERVICE_OTHER_CLIENT_H

#include <stdbool.h>

/* Remembers CUPTI's settings while there is no other client. */
void other_client_begin(void);

/* Whether it has the buffers: a forced flush would cut its records. */
bool other_client_interrupts(void);

/* Once a second, after a flush. */
void other_client_check(void);

/* Between those: its session may be short. Returns whether it has to be called again soon. */
bool other_client_poll(void);

#endif
