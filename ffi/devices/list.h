/* The devices that this process may see, and those among them that it polls. */
#ifndef SERVICE_DEVICES_LIST_H
#define SERVICE_DEVICES_LIST_H

#include "device.h"

/* Opens the directory of the locks; returns 0 or a negative errno. */
int list_open(const char *directories);
void list_close(void);

/* Finds the devices anew, by their UUIDs. */
nvmlReturn_t list_devices(void);

/* Finds the MIG devices of a device anew. */
void list_mig_devices(struct device *parent);

/* Tries to take the lock of a device, without waiting. Returns whether this process polls it. */
bool list_holds(struct device *device);

/* Publishes which devices are listed, if that has changed. */
void list_publish(void);

#endif
