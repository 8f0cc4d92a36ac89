/* Our subscription to CUPTI: the callbacks, and the kinds of records that are enabled. */
#ifndef SERVICE_SUBSCRIPTION_H
#define SERVICE_SUBSCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti.h"

/* The functions of the process's libcupti, once the subscription was started. */
extern struct cupti cupti;

/* Finds CUPTI and subscribes; makes no driver call. Where that fails everything is as it was before, and
 * `reason` says why. `node_mode`: kernels of graphs are recorded, and not graphs. */
bool subscription_start(bool node_mode, char *reason, size_t size);

/* From now on every callback returns at once. From any thread. */
void subscription_stop(void);
bool subscription_is_stopped(void);

/* Whether the driver is in use, and so can be asked about devices. */
bool subscription_has_begun(void);

/* The rest is for the collector's thread. */

/* Sets again what another client, or the end of its session, may have undone: all but the subscription
 * itself if `alive`. Where that fails there is no subscription, unless it was lost before. */
bool subscription_renew(bool alive, char *reason, size_t size);

/* Reads CUPTI's attribute of per-thread buffers. Older versions do not have it. */
bool subscription_per_thread_attribute(uint8_t *value);

#endif
