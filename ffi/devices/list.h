/* The devices that this process may see, and those among them that it polls. */
#ifndef SERVICE_DEVICES_LIST_H
#define SERVICE_DEVICES_LIST_H

#include "device.h"

/* Opens the directory of the locks; returns 0 or a negative errno. */
int list_open(const char *directories);
void list_close(void);

/* Finds the devices anew, by their UUIDs; an answer other than success says why there are none. */
nvmlReturn_t list_devices(void);

/* What to say of devices that there was no room for, or that do not answer; NULL: of none. */
const char *list_limit(void);

/* Finds the MIG devices of a device anew. */
void list_mig_devices(struct device *parent);

/* Tries to take the lock of a device, without waiting. */
void list_hold(struct device *device);

/* Publishes which devices are listed, if that has changed. */
void list_publish(void);

#endif
