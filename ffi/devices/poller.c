/* The thread that polls the devices: one poll a second, begun a little before each whole second, when the
 * watcher reads. It blocks nobody: whoever reads reads the segment, and a call that hangs is named there. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "../export.h"
#include "groups.h"
#include "list.h"

#define SECOND_NS 1000000000ull
/* Time that a poll has before the watcher's tick. */
#define LEAD_NS 300000000ull
#define MILLISECOND_NS 1000000ull
/* Time that a stop waits for the thread. */
#define PATIENCE_MS 100

/* Events: the thread is to stop, and it has. */
static int stop = -1, ended = -1;
static atomic_bool stopping, started;
static char *library_path;

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void signal_event(int event) {
    uint64_t one = 1;
    if (write(event, &one, sizeof one) < 0) return;
}

/* Waits for an event; -1: for ever. The time is no instant of a clock, which may be set back meanwhile. */
static void wait_for(int event, int milliseconds) {
    struct pollfd events = {event, POLLIN, 0};
    while (poll(&events, 1, milliseconds) < 0 && errno == EINTR) {}
}

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

static void poll_devices(void) {
    list_publish();
    for (uint32_t i = 0; i < devices_count; i++) list_hold(&devices[i]);
    for (uint32_t i = 0; i < devices_count && !stopping; i++)
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
static void poll_with_driver(void) {
    static uint64_t away;
    if (away == 0) poll_devices();
    if (away == 0 && has_driver()) return;
    away = away++ % NOW_AND_THEN == 0 && renew_driver() ? 0 : away;
}

/* ---- The thread ---- */

/* Waits until a while before the next whole second; returns whether to go on. */
static bool wait_for_beat(void) {
    uint64_t left_ns = SECOND_NS - (clock_ns(CLOCK_REALTIME) + LEAD_NS) % SECOND_NS;
    wait_for(stop, (int)(left_ns / MILLISECOND_NS) + 1);
    return !stopping;
}

static bool refuse(nvmlReturn_t answer) {
    char buffer[32];
    bool closed = answer == NVML_ERROR_NO_PERMISSION;
    segment_state(SEGMENT_REFUSED, closed ? "no permission: this user or container may not open /dev/nvidia*"
                                          : library_words(answer, buffer));
    return false;
}

static bool begin(void) {
    char reason[512];
    if (!library_open(library_path, reason, sizeof reason)) {
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

static void *run(void *unused) {
    (void)unused;
    if (begin()) {
        do poll_with_driver();
        while (wait_for_beat());
    }
    /* The reason stays to be read. */
    wait_for(stop, -1);
    segment_state(SEGMENT_ENDED, NULL);
    segment_remove();
    segment_forget();
    list_close();
    signal_event(ended);
    return NULL;
}

static int start_thread(void) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) pthread_detach(thread);
    return -error;
}

/* Begins to poll the devices, in a thread; never blocks. The segment is in the first of the directories
 * (separated by ':') that has room, the locks in the first that can be made. `library`: a path instead of
 * the driver's library, or empty. Returns 0 or a negative errno; -EALREADY: a process starts once. */
SERVICE_EXPORT int devices_start(const char *directories, const char *library) {
    if (atomic_exchange(&started, true)) return -EALREADY;
    stop = eventfd(0, EFD_CLOEXEC);
    ended = eventfd(0, EFD_CLOEXEC);
    library_path = strdup(library ? library : "");
    int error = stop < 0 || ended < 0 ? -errno : list_open(directories);
    if (error == 0) error = segment_open(directories);
    if (error == 0) error = start_thread();
    if (error == 0) return 0;
    segment_remove();
    segment_forget();
    list_close();
    return error;
}

/* Ends the thread; after 100 ms it is left alone, in a call that hangs. */
SERVICE_EXPORT void devices_stop(void) {
    if (!started) return;
    stopping = true;
    signal_event(stop);
    wait_for(ended, PATIENCE_MS);
}
