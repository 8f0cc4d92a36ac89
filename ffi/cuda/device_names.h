/* The devices of this process, by the names that NVML gives them. For the collector's thread alone. */
#ifndef SERVICE_DEVICE_NAMES_H
#define SERVICE_DEVICE_NAMES_H

#include <stdint.h>

/* Asks the driver, once it is ready, for the uuids of all devices. */
void device_names_learn(void);

/* The uuid of a device: GPU-…, or MIG-… for a part of one; "device-<ordinal>" where it is not known.
 * NULL: there can be no such device. It stays where it is. */
const char *device_name(uint32_t ordinal);

#endif
