/* What is asked of a device in each poll, one function for each kind of question. */
#ifndef SERVICE_DEVICES_GROUPS_H
#define SERVICE_DEVICES_GROUPS_H

#include "device.h"

/* Polls from one question to the next, where answers change seldom. */
#define NOW_AND_THEN 10
#define SELDOM 60

void poll_identity(struct device *device);
void poll_events(struct device *device);
void poll_memory(struct device *device);
void poll_basics(struct device *device);
void poll_fields(struct device *device);
void poll_throttling(struct device *device);
void poll_nvlinks(struct device *device);
void poll_gpm(struct device *device);
/* After GPM, which may have told it. */
void poll_pcie(struct device *device);

/* Frees what NVML has allocated for the device. */
void events_close(struct device *device);
void gpm_close(struct device *device);

#endif
