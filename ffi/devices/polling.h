/* Polls of the devices, for the poller's thread. */
#ifndef SERVICE_DEVICES_POLLING_H
#define SERVICE_DEVICES_POLLING_H

#include <stdatomic.h>
#include <stdbool.h>

/* Opens the driver's library, or that at another path, and finds the devices. Returns false if there are none
 * to poll; the segment's state says why. */
bool polling_begin(const char *library);

/* Polls each device once, until it is to stop. */
void polling_poll(const atomic_bool *stopping);

#endif
