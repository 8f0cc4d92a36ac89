/* What is asked of a device in each poll, one function for each kind of question. */
#ifndef SERVICE_DEVICES_GROUPS_H
#define SERVICE_DEVICES_GROUPS_H

#include "device.h"

/* Seconds between the questions whose answers change seldom. */
#define SELDOM 60
#define NOW_AND_THEN 10

void poll_identity(struct device *device);
void poll_basics(struct device *device);
void poll_memory(struct device *device);

#endif
