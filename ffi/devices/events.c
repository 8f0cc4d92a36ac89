/* XID events: errors of the device or its driver, each counted under its number. */
#include <stdio.h>

#include "groups.h"

/* In one poll; the others stay for the next one. */
#define EVENTS 10000

static bool open_events(struct device *device) {
    nvmlReturn_t answer = ASK(device, nvmlEventSetCreate, &device->events);
    if (answer != NVML_SUCCESS) device->events = NULL;
    if (answer == NVML_SUCCESS)
        answer = ASK(device, nvmlDeviceRegisterEvents, device->handle, nvmlEventTypeXidCriticalError, device->events);
    if (answer == NVML_SUCCESS) device_count(device, XIDS, 0);
    else {
        device_refuses(device, XIDS, answer);
        events_close(device);
    }
    return answer == NVML_SUCCESS;
}

void events_close(struct device *device) {
    if (device->events) ASK(device, nvmlEventSetFree, device->events);
    device->events = NULL;
}

/* The MIG device that an event is of, if it says so and is polled here; else the whole device. */
static struct device *subject_of(struct device *device, const nvmlEventData_t *event) {
    for (uint32_t i = 0; event->gpuInstanceId != NVML_NO_INSTANCE && i < devices_count; i++) {
        struct device *other = &devices[i];
        if (other->parent == device && other->held && other->gpu_instance == event->gpuInstanceId) return other;
    }
    return device;
}

static void count(struct device *device, unsigned long long xid) {
    char text[32];
    snprintf(text, sizeof text, "%llu", xid);
    const char *tags[] = {"xid", text, NULL};
    uint32_t cell = device_cell(device, "xid", COUNTER, tags);
    if (cell != SEGMENT_NONE) segment_set(cell, segment_values[cell].a + 1, 1);
    device_count(device, XIDS, 1);
}

void poll_events(struct device *device) {
    if (!device_wants(device, XIDS) || (!device->events && !open_events(device))) return;
    for (int i = 0; i < EVENTS; i++) {
        nvmlEventData_t event = {.gpuInstanceId = NVML_NO_INSTANCE};
        nvmlReturn_t answer = ASK(device, nvmlEventSetWait_v2, device->events, &event, 0);
        if (answer == NVML_ERROR_TIMEOUT) return;
        if (answer != NVML_SUCCESS) return device_refuses(device, XIDS, answer);
        if (event.eventType & nvmlEventTypeXidCriticalError) count(subject_of(device, &event), event.eventData);
    }
}
