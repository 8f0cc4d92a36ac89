/* What the CUDA driver loads into a process and calls, and the writer's thread that it starts: that
 * gathers what CUPTI records, and publishes it. Whatever fails, the process runs on unmeasured, and the
 * segment says why. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../activity/device_names.h"
#include "../activity/overhead.h"
#include "../export.h"
#include "../segment/segment.h"
#include "buffers.h"
#include "graphs.h"
#include "records.h"
#include "subscription.h"

#define ROUND_MS 1000u
#define GLANCE_MS 20u /* at most one glance in so long: a wake-up costs who launches, too */
#define LATE_MS 5u   /* what CUPTI may take to return buffers after a flush */
#define READ_MS 10u /* then the next answer is due, whatever there is to read */
#define EXIT_MS 1000u
#define EXIT_READ_MS 750u
#define STACK (1u << 20) /* CUPTI runs on it */
#define REASON_SIZE 1024

static pid_t owner;
static _Atomic bool leaving;
static _Atomic uint32_t left; /* the last was published; a futex */

/* ---- The writer's thread ---- */

static uint64_t now_ms(void) { return spent_now() / 1000000u; }

static uint64_t buffers_read;

/* Returns whether there is more. */
static bool read_for(uint32_t ms) {
    uint64_t until = now_ms() + ms;
    if (capture_has_begun()) devices_learn();
    while (capture_read()) {
        buffers_read++;
        if (now_ms() >= until) return true;
    }
    return false;
}

/* What a flush returns may come after it: waits until some has come, and then no more. */
static bool read_late(void) {
    uint64_t until = now_ms() + LATE_MS, first = buffers_read, before;
    do {
        before = buffers_read;
        segment_wait(segment_bell(), 1);
        if (read_for(READ_MS)) return true;
    } while (buffers_lent() > 0 && now_ms() < until && (before == first || before != buffers_read));
    return false;
}

static void publish_last(void) {
    uint32_t asked = segment_asked();
    /* Others may go on launching for as long as they like. */
    buffers_close();
    capture_flush(true);
    bool more = read_for(EXIT_READ_MS);
    for (uint32_t i = 0; i < LATE_MS && !more && buffers_lent() > 0; i++) {
        segment_wait(segment_bell(), 1);
        more = read_for(EXIT_READ_MS);
    }
    capture_stop();
    capture_abandon();
    records_publish(asked, true);
    segment_state(SEGMENT_ENDED, NULL);
    atomic_store(&left, 1);
    syscall(SYS_futex, &left, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Publishes each second, and whenever it is asked to. */
static void *write_segment(void *unused) {
    uint64_t round = now_ms() + ROUND_MS, glance = 0;
    uint32_t answered = 0;
    while (!atomic_load(&leaving)) {
        uint32_t bell = segment_bell(), asked = segment_asked();
        uint64_t now = now_ms();
        bool due = now >= round;
        if (due || asked != answered) capture_flush(false);
        bool more = read_for(READ_MS);
        if (asked != answered && !more && buffers_lent() > 0) more = read_late();
        if (due) capture_check();
        else if (now >= glance) capture_glance();
        if (due || asked != answered) records_publish(asked, false);
        answered = asked;
        if (due) round = now + ROUND_MS;
        uint64_t next = now < glance ? glance : round;
        if (now >= glance) glance = now + GLANCE_MS;
        if (!more && !atomic_load(&leaving)) segment_wait(bell, (uint32_t)(next - now));
    }
    publish_last();
    return unused;
}

static bool start_thread(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, write_segment, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

/* ---- The ends of a process ---- */

/* Calls nothing of CUPTI here, and waits no longer than it may: another thread may hold what those need. */
static void on_exit_of_process(void) {
    if (getpid() != owner) return;
    uint64_t until = now_ms() + EXIT_MS;
    atomic_store(&leaving, true);
    segment_ring();
    for (uint64_t now = now_ms(); !atomic_load(&left) && now < until; now = now_ms()) {
        uint64_t rest = until - now;
        struct timespec timeout = {(time_t)(rest / 1000), (long)(rest % 1000) * 1000000};
        syscall(SYS_futex, &left, FUTEX_WAIT_PRIVATE, 0, &timeout, NULL, 0);
    }
}

/* The child has neither the thread nor the right to speak of what its parent does. */
static void on_fork_in_child(void) {
    owner = 0;
    capture_stop();
    graphs_forget();
    segment_forget();
}

/* ---- The beginning ---- */

static bool names_tool(const char *path) { return path && *path && strcmp(path, "none") != 0; }

static void refuse(const char *reason) { segment_state(SEGMENT_REFUSED, reason); }

/* There is room for one: another tool that was there before goes first. */
static int step_back(const char *path, int (*initialize)(void)) {
    char reason[REASON_SIZE];
    snprintf(reason, sizeof reason, "CUPTI is left to %s, which CUDA_INJECTION64_PATH named", path);
    refuse(reason);
    return initialize();
}

/* NULL where it is no tool for this process: then the driver would have gone on without, too. */
static int (*load_tool(const char *path))(void) {
    void *tool = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return tool ? (int (*)(void))dlsym(tool, "InitializeInjection") : NULL;
}

static void begin(const char *unusable) {
    const char *mode = getenv("SERVICE_CUDA_GRAPH_TRACE");
    bool node_mode = mode && strcmp(mode, "node") == 0;
    char reason[REASON_SIZE];
    if (!capture_start(node_mode, reason, sizeof reason)) return refuse(reason);
    records_open(node_mode);
    owner = getpid();
    if (unusable) snprintf(reason, sizeof reason, "CUDA_INJECTION64_PATH named %s, which is no tool", unusable);
    segment_state(SEGMENT_CAPTURING, unusable ? reason : NULL);
    if (start_thread()) {
        atexit(on_exit_of_process);
        return;
    }
    capture_stop();
    refuse("no thread could be started");
}

/* The driver calls it while it starts, so nothing of the driver can be called here. */
SERVICE_EXPORT int InitializeInjection(void) {
    static _Atomic bool called;
    static _Atomic int result = 1;
    if (atomic_exchange(&called, true)) return atomic_load(&result);
    int error = errno;
    const char *next = getenv("SERVICE_CUDA_NEXT"), *segments = getenv("SERVICE_SEGMENTS");
    bool open = segments && segment_open(segments) == 0;
    /* Also where nothing is captured: a child would keep the segment alive. */
    bool guarded = pthread_atfork(NULL, NULL, on_fork_in_child) == 0;
    int (*tool)(void) = names_tool(next) ? load_tool(next) : NULL;
    if (tool) atomic_store(&result, step_back(next, tool));
    else if (open && guarded) begin(names_tool(next) ? next : NULL);
    else refuse("no memory to follow forks");
    errno = error;
    return atomic_load(&result);
}
