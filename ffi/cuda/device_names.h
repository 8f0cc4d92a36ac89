/* Names of the CUDA devices of this process, as NVML has them. For the collector's thread alone. */
#ifndef SERVICE_DEVICE_NAMES_H
#define SERVICE_DEVICE_NAMES_H

#include <stdint.h>

/* Asks the driver for the uuids of all devices, once. To be called when the driver is in use. */
void device_names_learn(void);

/* The uuid of a device: GPU-…, or MIG-… for a part of one; "device-<ordinal>" if it is not known.
 * NULL: there can be no such device. The string is static. */
const char *device_name(uint32_t ordinal);

#endif
