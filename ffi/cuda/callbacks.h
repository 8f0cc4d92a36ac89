/* Callbacks: which of them CUPTI makes. Those of launches cost the launching thread, so they are enabled only
 * while they are needed: while a stream is captured, as the node of a kernel gets its symbol from its launch,
 * and while launches are watched. */
#ifndef SERVICE_CALLBACKS_H
#define SERVICE_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti.h"

/* Begins anew: captures of an earlier subscription are forgotten. */
void callbacks_begin(CUpti_SubscriberHandle subscriber);

/* Enables the callbacks of the subscription; those of graphs not in node mode. */
void callbacks_enable(bool node_mode);

/* Whether the subscription exists: another client may have ended it. */
bool callbacks_are_alive(void);

/* Watches launches or does not; once a second, as a capture may have ended with its stream. */
void callbacks_watch(bool on);

/* The callback of a driver function, on the thread that calls it. False: it does not begin or end a capture. */
bool callbacks_capture(uint32_t cbid, const struct cupti_callback_data *data);

/* A stream is destroyed, and with it its capture. */
void callbacks_forget(const void *stream);

#endif
