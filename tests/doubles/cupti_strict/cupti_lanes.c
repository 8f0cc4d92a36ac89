/* Strict CUPTI: the way of a record from a launch to a buffer.
 *
 * The launching thread only reserves room in a buffer and queues the operation in its lane.
 * A worker writes the record on another core, when the work has ended. */
#include "cupti.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RING = 4096, BATCH = 256, RUNNING = 1024, MAX_LANES = 512, MAX_WORKERS = 8 };

struct entry {
    struct strict_operation operation;
    uint8_t *slot;
    struct buffer *buffer;
};

struct lane {
    /* Written by launches. */
    _Alignas(64) atomic_flag locked;
    struct buffer *open;
    _Atomic uint32_t head;
    /* Written by the worker. */
    _Alignas(64) _Atomic uint32_t tail;
    uint32_t running_count;
    struct entry running[RUNNING];
    struct entry ring[RING];
};

static _Atomic(struct lane *) lanes[MAX_LANES];
static _Atomic uint32_t lane_count;
static _Thread_local struct lane *own;
static struct lane *shared;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t dropped, taken;
static _Atomic uint32_t forced;
static _Atomic uint64_t written;
static uint32_t workers = 1;
static uint64_t zero_times;

static void lock_lane(struct lane *lane)
{
    struct timespec start = {0}, now;
    for (uint64_t tries = 1; atomic_flag_test_and_set_explicit(&lane->locked, memory_order_acquire);
         tries++) {
        if (tries % 1024)
            continue;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (!start.tv_sec)
            start = now;
        if (now.tv_sec - start.tv_sec > 3)
            strict_fatal("deadlock: a lock held across a call of CUPTI is taken in a request");
        nanosleep(&(struct timespec){0, 1000}, NULL);
    }
}

static void unlock_lane(struct lane *lane)
{
    atomic_flag_clear_explicit(&lane->locked, memory_order_release);
}

static struct lane *new_lane(void)
{
    uint32_t index = atomic_fetch_add(&lane_count, 1);
    if (index >= MAX_LANES)
        strict_fatal("strict CUPTI: more than %d threads", MAX_LANES);
    struct lane *lane = aligned_alloc(64, (sizeof *lane + 63) / 64 * 64);
    memset(lane, 0, offsetof(struct lane, running));
    atomic_flag_clear(&lane->locked);
    lanes[index] = lane;
    return lane;
}

static struct lane *lane_of_thread(void)
{
    if (cupti_per_thread)
        return own ? own : (own = new_lane());
    if (!shared) {
        pthread_mutex_lock(&making);
        if (!shared)
            shared = new_lane();
        pthread_mutex_unlock(&making);
    }
    return shared;
}

/* Takes records off those to come; whoever takes the last one has the buffer delivered. */
static void take_off(struct buffer *buffer, int64_t records)
{
    if (atomic_fetch_sub(&buffer->left, records) == records)
        cupti_give(buffer);
}

static void close_buffer(struct lane *lane)
{
    struct buffer *buffer = lane->open;
    lane->open = NULL;
    if (buffer)
        take_off(buffer, OPEN_RECORDS - (int64_t)buffer->records);
}

static bool is_written(struct buffer *buffer)
{
    return buffer->left == OPEN_RECORDS - (int64_t)buffer->records;
}

static uint8_t *claim(struct lane *lane, size_t size)
{
    struct buffer *open = lane->open;
    if (open && (open->claimed + size > open->size ||
                 (open->max_records && open->records == open->max_records))) {
        close_buffer(lane);
        open = NULL;
    }
    if (!open)
        open = lane->open = cupti_request();
    if (open && size > open->size) {
        close_buffer(lane);
        open = NULL;
    }
    if (!open)
        return NULL;
    uint8_t *slot = open->data + open->claimed;
    open->claimed += size;
    open->records++;
    return slot;
}

static bool is_wanted(uint8_t kind)
{
    return cupti_kinds[kind] || (kind == KIND_CONCURRENT_KERNEL && cupti_kinds[KIND_KERNEL]);
}

/* The host waits while the queue is full, as it does for a device's. */
static void push(struct lane *lane, const struct entry *entry)
{
    uint32_t head = atomic_load_explicit(&lane->head, memory_order_relaxed);
    while (head - atomic_load_explicit(&lane->tail, memory_order_acquire) == RING) {
        unlock_lane(lane);
        nanosleep(&(struct timespec){0, 20000}, NULL);
        lock_lane(lane);
        head = atomic_load_explicit(&lane->head, memory_order_relaxed);
    }
    lane->ring[head % RING] = *entry;
    atomic_store_explicit(&lane->head, head + 1, memory_order_release);
}

bool cupti_record(const struct strict_operation *operation)
{
    if (!is_wanted(operation->kind))
        return false;
    struct lane *lane = lane_of_thread();
    lock_lane(lane);
    uint8_t *slot = claim(lane, cupti_record_size(operation->kind));
    if (slot) {
        struct entry entry = {*operation, slot, lane->open};
        push(lane, &entry);
    } else {
        atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
    }
    unlock_lane(lane);
    return slot != NULL;
}

uint64_t cupti_dropped(void)
{
    return dropped;
}

uint64_t cupti_take_dropped(void)
{
    uint64_t all = dropped;
    return all - atomic_exchange(&taken, all);
}

/* Records that were written and whose buffer does not know it yet. */
struct progress {
    struct buffer *buffer;
    int64_t records;
};

static void publish(struct progress *progress)
{
    if (progress->buffer)
        take_off(progress->buffer, progress->records);
    *progress = (struct progress){0};
}

/* Work that has not ended has no end in its record: only when that was forced. */
static void write_entry(const struct entry *entry, uint64_t now_ns, struct progress *progress)
{
    if (progress->buffer != entry->buffer)
        publish(progress);
    progress->buffer = entry->buffer;
    progress->records++;
    const struct strict_operation *o = &entry->operation;
    uint64_t end_ns = o->start_ns + o->duration_ns;
    if (zero_times && ++written % zero_times == 0) {
        struct strict_operation without = *o;
        without.start_ns = 0;
        cupti_write_record(entry->slot, &without, 0);
        return;
    }
    cupti_write_record(entry->slot, o, end_ns <= now_ns ? end_ns : 0);
}

static bool work_on(struct lane *lane, uint64_t now_ns)
{
    bool force = forced, worked = false;
    struct progress progress = {0};
    for (uint32_t i = 0; i < lane->running_count;) {
        struct entry *entry = &lane->running[i];
        if (!force && entry->operation.start_ns + entry->operation.duration_ns > now_ns) {
            i++;
            continue;
        }
        write_entry(entry, now_ns, &progress);
        *entry = lane->running[--lane->running_count];
        worked = true;
    }
    uint32_t tail = atomic_load_explicit(&lane->tail, memory_order_relaxed);
    uint32_t head = atomic_load_explicit(&lane->head, memory_order_acquire);
    for (uint32_t n = 0; tail != head && n < BATCH && lane->running_count < RUNNING; n++, tail++) {
        struct entry *entry = &lane->ring[tail % RING];
        if (!force && entry->operation.start_ns + entry->operation.duration_ns > now_ns)
            lane->running[lane->running_count++] = *entry;
        else
            write_entry(entry, now_ns, &progress);
        worked = true;
    }
    publish(&progress);
    atomic_store_explicit(&lane->tail, tail, memory_order_release);
    return worked;
}

static void *run(void *index)
{
    uint32_t first = (uint32_t)(uintptr_t)index;
    bool delivers = cupti_delivers_inline();
    long pause_ns = 0;
    pthread_setname_np(pthread_self(), "strict-work");
    for (;;) {
        bool worked = false;
        uint32_t count = lane_count;
        for (uint32_t i = first; i < count; i += workers) {
            if (lanes[i])
                worked |= work_on(lanes[i], cupti_now());
        }
        if (delivers)
            cupti_deliver_queued();
        pause_ns = worked ? 0 : pause_ns < 200000 ? pause_ns + 20000 : 200000;
        if (pause_ns)
            nanosleep(&(struct timespec){0, pause_ns}, NULL);
    }
    return NULL;
}

void cupti_start_workers(void)
{
    workers = (uint32_t)strict_number("STRICT_WORKERS", 1);
    zero_times = strict_number("STRICT_ZERO_TIMES", 0);
    for (uint32_t i = 0; i < workers && i < MAX_WORKERS; i++) {
        pthread_t thread;
        if (!pthread_create(&thread, NULL, run, (void *)(uintptr_t)i))
            pthread_detach(thread);
    }
}

static bool is_idle(struct lane *lane)
{
    return lane->tail == lane->head && !lane->running_count;
}

void cupti_close_lanes(bool all)
{
    if (all)
        forced++;
    for (uint32_t i = 0; i < lane_count; i++) {
        struct lane *lane = lanes[i];
        if (!lane)
            continue;
        lock_lane(lane);
        struct buffer *open = lane->open;
        if (open && open->records && (all || is_written(open)))
            close_buffer(lane);
        unlock_lane(lane);
    }
    if (!all)
        return;
    for (uint32_t i = 0; i < lane_count; i++) {
        while (lanes[i] && !is_idle(lanes[i]))
            nanosleep(&(struct timespec){0, 20000}, NULL);
    }
    forced--;
}
