/* Polls of all devices that this process polls, over drivers that may be loaded anew. */
#define _GNU_SOURCE
#include "polling.h"

#include "clock.h"
#include "groups.h"
#include "list.h"

/* ---- Polling ---- */

/* Events first: a device that is lost may have said why. What seldom changes is not asked of such a one. */
static void (*const OF_DEVICES[])(struct device *) = {
    poll_events,  poll_memory, poll_basics, poll_fields,   poll_throttling,
    poll_nvlinks, poll_gpm,    poll_pcie,   poll_identity, NULL,
};
static void (*const OF_MIG_DEVICES[])(struct device *) = {poll_memory, poll_gpm, poll_identity, NULL};

static void ask(struct device *device) {
    void (*const *groups)(struct device *) = device->parent ? OF_MIG_DEVICES : OF_DEVICES;
    for (; *groups && !device->fault; groups++) (*groups)(device);
}

static void set_answering(struct device *device) {
    if (device->lost_cell) segment_set(device->lost_cell - 1, 1, 0);
    device->lost_cell = 0;
}

static void set_lost(struct device *device) {
    char buffer[32];
    const char *tags[] = {"reason", library_words(device->fault, buffer), NULL};
    device_forgets(device);
    set_answering(device);
    device->lost_cell = device_cell(device, "lost", GAUGE, tags) + 1;
    segment_set(device->lost_cell - 1, 1, 1);
}

static void set_polled(struct device *device) {
    set_answering(device);
    if (device->polled_cell == 0) device->polled_cell = device_cell(device, "polled", GAUGE, NULL) + 1;
    segment_set(device->polled_cell - 1, clock_ns(CLOCK_REALTIME), 1);
    device->prepared = true;
    device->polls++;
}

static void poll_device(struct device *device) {
    device->before_ns = device->prepared ? device->polled_ns : 0;
    device->polled_ns = clock_ns(CLOCK_BOOTTIME);
    device->fault = device->listed ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
    ask(device);
    if (device->fault) set_lost(device);
    else set_polled(device);
    /* At once: the next device may hang. */
    segment_publish(0);
}

/* MIG devices come and go while the whole device stays. */
static void look_for_mig_devices(void) {
    for (uint32_t i = 0, count = devices_count; i < count; i++) {
        struct device *device = &devices[i];
        bool due = (device->held ? device->polls : devices_beat) % NOW_AND_THEN == 1;
        if (due && device->listed && device->can_be_split) list_mig_devices(device);
    }
}

static void poll_devices(const atomic_bool *stopping) {
    list_publish();
    for (uint32_t i = 0; i < devices_count; i++) list_hold(&devices[i]);
    for (uint32_t i = 0; i < devices_count && !*stopping; i++)
        if (devices[i].held) poll_device(&devices[i]);
    look_for_mig_devices();
    devices_beat++;
}

/* ---- The driver ---- */

/* Answers after which NVML must be initialised anew: the driver was loaded again. */
static bool is_of_driver(nvmlReturn_t answer) {
    return answer == NVML_ERROR_UNINITIALIZED || answer == NVML_ERROR_DRIVER_NOT_LOADED ||
           answer == NVML_ERROR_LIB_RM_VERSION_MISMATCH;
}

static bool has_driver(void) {
    for (uint32_t i = 0; i < devices_count; i++)
        if (devices[i].held && is_of_driver(devices[i].fault)) return false;
    return true;
}

/* What NVML allocated is of the driver that went. */
static bool renew_driver(void) {
    for (uint32_t i = 0; i < devices_count; i++) {
        events_close(&devices[i]);
        gpm_close(&devices[i]);
    }
    nvmlReturn_t answer = library_initialise();
    if (answer == NVML_SUCCESS) answer = list_devices();
    char buffer[32];
    segment_state(answer == NVML_SUCCESS ? SEGMENT_CAPTURING : SEGMENT_INTERRUPTED,
                  answer == NVML_SUCCESS ? list_limit() : library_words(answer, buffer));
    return answer == NVML_SUCCESS;
}

/* A driver that was away is looked for at once, then now and then. */
void polling_poll(const atomic_bool *stopping) {
    static uint64_t away;
    if (away == 0) poll_devices(stopping);
    if (away == 0 && has_driver()) return;
    away = away++ % NOW_AND_THEN == 0 && renew_driver() ? 0 : away;
}

/* ---- The begin ---- */

static bool refuse(nvmlReturn_t answer) {
    char buffer[32];
    bool closed = answer == NVML_ERROR_NO_PERMISSION;
    segment_state(SEGMENT_REFUSED, closed ? "no permission: this user or container may not open /dev/nvidia*"
                                          : library_words(answer, buffer));
    return false;
}

bool polling_begin(const char *library) {
    char reason[512];
    if (!library_open(library, reason, sizeof reason)) {
        segment_state(SEGMENT_REFUSED, reason);
        return false;
    }
    nvmlReturn_t answer = library_initialise();
    if (answer == NVML_SUCCESS) answer = list_devices();
    if (answer != NVML_SUCCESS) return refuse(answer);
    list_publish();
    segment_state(SEGMENT_CAPTURING, list_limit());
    return true;
}
