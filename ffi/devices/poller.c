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
#include <unistd.h>

#include "../export.h"
#include "clock.h"
#include "list.h"
#include "polling.h"

/* Time that a poll has before the watcher's tick. */
#define LEAD_NS 300000000ull
#define MILLISECOND_NS 1000000ull
/* Time that a stop waits for the thread. */
#define PATIENCE_MS 100

/* Events: the thread is to stop, and it has. */
static int stop = -1, ended = -1;
static atomic_bool stopping, started;
static char *library_path;

static void signal_event(int event) {
    uint64_t one = 1;
    if (write(event, &one, sizeof one) < 0) return;
}

/* Waits for an event; -1: for ever. The time is no instant of a clock, which may be set back meanwhile. */
static void wait_for(int event, int milliseconds) {
    struct pollfd events = {event, POLLIN, 0};
    while (poll(&events, 1, milliseconds) < 0 && errno == EINTR) {}
}

/* Waits until a while before the next whole second; returns whether to go on. */
static bool wait_for_beat(void) {
    uint64_t left_ns = SECOND_NS - (clock_ns(CLOCK_REALTIME) + LEAD_NS) % SECOND_NS;
    wait_for(stop, (int)(left_ns / MILLISECOND_NS) + 1);
    return !stopping;
}

static void *run(void *unused) {
    (void)unused;
    if (polling_begin(library_path)) {
        do polling_poll(&stopping);
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
