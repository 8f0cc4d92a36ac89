/* The devices of this process, by the names that NVML gives them. For the writer's thread alone. */
#ifndef SERVICE_DEVICE_NAMES_H
#define SERVICE_DEVICE_NAMES_H

#include <stdint.h>

#define DEVICES 64u
#define DEVICE_NAME_SIZE 48

/* Asks the driver, once it is ready, for the uuids of all devices. */
void devices_learn(void);

/* The uuid of a device: GPU-…, or MIG-… for a part of one; "device-<ordinal>" where it is not known. */
const char *devices_name(uint32_t ordinal);

#endif
