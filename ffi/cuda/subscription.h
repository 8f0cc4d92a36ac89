/* What CUPTI does for us: a subscription, the kinds of records, and the buffers that they come in. */
#ifndef SERVICE_SUBSCRIPTION_H
#define SERVICE_SUBSCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds CUPTI and starts; makes no driver call. Where that fails everything is as it was before, and
 * `reason` says why. */
bool capture_start(bool node_mode, char *reason, size_t size);

/* The child of a fork, and the end of the process: from now on every callback returns at once. */
void capture_stop(void);

/* The rest is for the writer's thread. */

/* Has CUPTI return what is complete, or all there is. */
void capture_flush(bool all);

/* Adds up the oldest buffer that came back. Returns whether there was one. */
bool capture_read(void);

/* Counts what came back as lost. */
void capture_abandon(void);

/* Once a second: sees whether another client has taken the buffers, which the state of the segment then
 * says, and takes them back when that client is certainly done. */
void capture_check(void);

/* Between those: a glance, as that client's session may be short. To be called when the bell rings. */
void capture_glance(void);

/* The driver is in use, so it is ready to be asked about devices. */
bool capture_has_begun(void);

#endif
