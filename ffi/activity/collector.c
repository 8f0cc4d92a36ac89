/* The collector's thread: its start by a source, and its end by exit() or fork(). */
#define _GNU_SOURCE
#include "collector.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../segment/segment.h"
#include "accounts.h"
#include "overhead.h"
#include "states.h"

#define ROUND_MS 1000u
#define POLL_MS 20u /* polled at most this often: a wake-up costs the threads that launch, too */
#define LATE_MS 5u  /* limit for a library to return buffers after a flush */
#define READ_MS 10u /* of reading at once: then an answer may be due */
#define EXIT_MS 1000u
#define EXIT_READ_MS 750u
#define STACK (1u << 20) /* the libraries of vendors run on it */

/* Guards the states, `owner` and `is_running`; never held while a source is called. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t owner;     /* of the segment; 0: there is none */
static bool is_running; /* the thread; from then on it alone appends to the segment */
static bool states_changed;

static _Atomic bool started[ACTIVITY_SOURCES];
static _Atomic bool shutting_down;
static _Atomic uint32_t shut_down; /* the last publication is done; a futex */

static uint64_t now_ms(void) { return monotonic_ns() / 1000000u; }

/* ---- The thread: sources ---- */

/* The started sources, in that order. */
static struct opened {
    const struct activity_source *source;
    struct accounts accounts;
} opened[ACTIVITY_SOURCES];
static bool is_opened[ACTIVITY_SOURCES];
static uint32_t opened_count;

static void open_started(void) {
    for (uint32_t i = 0; i < ACTIVITY_SOURCES; i++) {
        if (is_opened[i] || !atomic_load(&started[i])) continue;
        struct opened *one = &opened[opened_count++];
        is_opened[i] = true;
        one->source = activity_sources[i];
        accounts_open(&one->accounts, one->source);
        one->source->open(&one->accounts);
    }
}

static void flush(bool all) {
    for (uint32_t i = 0; i < opened_count; i++) opened[i].source->flush(all);
}

static bool is_pending(void) {
    bool pending = false;
    for (uint32_t i = 0; i < opened_count; i++) pending |= opened[i].source->is_pending();
    return pending;
}

static uint64_t buffers_read;

/* Reads a buffer of each source. Returns whether there was one. */
static bool read_one_each(void) {
    uint64_t before = buffers_read;
    for (uint32_t i = 0; i < opened_count; i++) buffers_read += opened[i].source->read(&opened[i].accounts);
    return buffers_read != before;
}

/* Returns whether there may be more. */
static bool read_for(uint32_t ms) {
    uint64_t until = now_ms() + ms;
    while (read_one_each())
        if (now_ms() >= until) return true;
    return false;
}

/* Buffers may return some time after a flush: waits for the first one, and then until no more return. */
static bool read_late(void) {
    uint64_t until = now_ms() + LATE_MS, first = buffers_read, before;
    do {
        before = buffers_read;
        segment_wait(segment_bell(), 1);
        if (read_for(READ_MS)) return true;
    } while (is_pending() && now_ms() < until && (before == first || before != buffers_read));
    return false;
}

static void check(void) {
    for (uint32_t i = 0; i < opened_count; i++) opened[i].source->check();
}

static bool poll(void) {
    bool again = false;
    for (uint32_t i = 0; i < opened_count; i++) again |= opened[i].source->poll();
    return again;
}

/* ---- The thread: publication ---- */

static uint32_t answered;

/* `asked` is the value of segment_asked() before the records were read; `last`: no other publication follows. */
static void publish(uint32_t asked, bool last) {
    static uint32_t overhead_cell = SEGMENT_NONE;
    if (overhead_cell == SEGMENT_NONE)
        overhead_cell = segment_cell(segment_series("profiler_capture_nanoseconds", SEGMENT_COUNTER, NULL), 0);
    struct accounts_publication publication = {last || asked != answered, segment_taken() == answered};
    for (uint32_t i = 0; i < opened_count; i++)
        accounts_show(&opened[i].accounts, opened[i].source->dropped(), publication);
    segment_set(overhead_cell, atomic_load_explicit(&overhead_ns, memory_order_relaxed), 0);
    segment_publish(asked);
    answered = asked;
}

static void show_states(void) {
    pthread_mutex_lock(&lock);
    if (states_changed) states_show();
    states_changed = false;
    pthread_mutex_unlock(&lock);
}

static void publish_last(void) {
    uint32_t asked = segment_asked();
    open_started();
    /* Flushes incomplete buffers too, only here: other threads may launch for ever. */
    flush(true);
    bool more = read_for(EXIT_READ_MS);
    for (uint32_t i = 0; i < LATE_MS && !more && is_pending(); i++) {
        segment_wait(segment_bell(), 1);
        more = read_for(EXIT_READ_MS);
    }
    for (uint32_t i = 0; i < opened_count; i++) opened[i].source->stop();
    publish(asked, true);
    segment_state(SEGMENT_ENDED, NULL);
    atomic_store(&shut_down, 1);
    syscall(SYS_futex, &shut_down, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *collect(void *unused) {
    uint64_t next_round = now_ms() + ROUND_MS, next_poll = 0;
    bool polls = false;
    while (!atomic_load(&shutting_down)) {
        uint32_t bell = segment_bell(), asked = segment_asked();
        uint64_t now = now_ms();
        bool due = now >= next_round, is_asked = asked != answered;
        open_started();
        if (due || is_asked) flush(false);
        bool more = read_for(READ_MS);
        if (is_asked && !more && is_pending()) more = read_late();
        if (due) check();
        bool is_early = now < next_poll;
        if (!is_early) polls = poll();
        if (!is_early) next_poll = now + POLL_MS;
        show_states();
        if (due || is_asked) publish(asked, false);
        if (due) next_round = now + ROUND_MS;
        uint64_t next = (is_early || polls) && next_poll < next_round ? next_poll : next_round;
        if (!more && !atomic_load(&shutting_down)) segment_wait(bell, (uint32_t)(next - now));
    }
    publish_last();
    return unused;
}

/* Detached, with all signals blocked. */
static bool start_thread(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, collect, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

/* ---- The ends of a process ---- */

/* Calls no source, and waits for a limited time: another thread may hold a lock that their libraries need. */
static void on_exit_of_process(void) {
    if (getpid() != owner || atomic_exchange(&shutting_down, true)) return;
    uint64_t until = now_ms() + EXIT_MS;
    segment_ring();
    for (uint64_t now = now_ms(); !atomic_load(&shut_down) && now < until; now = now_ms()) {
        uint64_t rest = until - now;
        struct timespec timeout = {(time_t)(rest / 1000), (long)(rest % 1000) * 1000000};
        syscall(SYS_futex, &shut_down, FUTEX_WAIT_PRIVATE, 0, &timeout, NULL, 0);
    }
}

/* The child has no collector thread, and the segment is that of its parent. */
static void on_fork_in_child(void) {
    pthread_mutex_init(&lock, NULL);
    owner = 0;
    for (uint32_t i = 0; i < ACTIVITY_SOURCES && activity_sources[i]; i++) activity_sources[i]->stop();
    segment_forget();
}

/* ---- The beginning ---- */

static uint32_t row_of(const struct activity_source *source) {
    uint32_t row = 0;
    while (activity_sources[row] != source) row++;
    return row;
}

/* Under the lock. */
static void set_state(uint32_t row, uint32_t state, const char *reason) {
    if (!states_set(row, state, reason)) return;
    states_changed = is_running;
    if (is_running) segment_ring();
    else states_show();
}

void collector_state(const struct activity_source *source, uint32_t state, const char *reason) {
    pthread_mutex_lock(&lock);
    set_state(row_of(source), state, reason);
    pthread_mutex_unlock(&lock);
}

static bool open_segment(const char *directories) {
    if (!directories || segment_open(directories) != 0) return false;
    owner = getpid();
    /* Also if nothing is captured: the lock of the child would keep the segment alive. */
    if (pthread_atfork(NULL, NULL, on_fork_in_child) == 0) return true;
    segment_state(SEGMENT_REFUSED, "no memory to follow forks");
    return false;
}

bool collector_open(const char *directories) {
    static bool is_called, is_open;
    pthread_mutex_lock(&lock);
    if (!is_called) is_open = open_segment(directories);
    is_called = true;
    bool usable = is_open && owner == getpid();
    pthread_mutex_unlock(&lock);
    return usable;
}

/* Hands the source to the thread, which the first source starts. */
static bool add_source(uint32_t row) {
    pthread_mutex_lock(&lock);
    atomic_store(&started[row], true);
    set_state(row, SEGMENT_CAPTURING, NULL);
    if (!is_running) is_running = start_thread();
    /* For every source: handlers run in reverse order, and this one must run before those of all libraries. */
    if (is_running) atexit(on_exit_of_process);
    else atomic_store(&started[row], false);
    bool added = is_running;
    pthread_mutex_unlock(&lock);
    return added;
}

bool collector_start(const struct activity_source *source, const struct activity_options *options) {
    char reason[1024];
    if (!source->start(options, reason, sizeof reason)) {
        collector_state(source, SEGMENT_REFUSED, reason);
        return false;
    }
    bool added = add_source(row_of(source));
    if (!added) collector_state(source, SEGMENT_REFUSED, "no thread could be started");
    /* The thread may miss a source that starts while the process ends. */
    if (!added || atomic_load(&shutting_down)) source->stop();
    return added;
}
