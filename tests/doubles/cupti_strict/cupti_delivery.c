/* Strict CUPTI: buffers between their request and their delivery.
 *
 * A lock is held while a buffer is delivered, and cuptiActivityGetNumDroppedRecords takes it:
 * a profiler that calls it with a lock that its completion takes too would hang, and is ended. */
#include "cupti.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LATE_NS = 20000000, DEADLOCK_SECONDS = 3 };

static pthread_mutex_t delivery = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct buffer *first, **last = &first;
static struct buffer *owned;
static bool delivering;
static _Atomic(request_function *) request;
static _Atomic(complete_function *) complete;

static bool has_mode(const char *mode)
{
    const char *chosen = getenv("STRICT_DELIVERY");
    return chosen && !strcmp(chosen, mode);
}

bool cupti_delivers_inline(void)
{
    return has_mode("inline");
}

bool cupti_delivers_late(void)
{
    return has_mode("late");
}

void cupti_register(request_function *requested, complete_function *completed)
{
    request = requested;
    complete = completed;
}

bool cupti_is_registered(void)
{
    return complete != NULL;
}

void cupti_lock_delivery(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DEADLOCK_SECONDS;
    if (pthread_mutex_timedlock(&delivery, &until) == ETIMEDOUT)
        strict_fatal("deadlock: a lock held across a call of CUPTI is taken in completion");
}

void cupti_unlock_delivery(void)
{
    pthread_mutex_unlock(&delivery);
}

static bool has_data(const struct buffer *list, const uint8_t *data)
{
    while (list && list->data != data)
        list = list->next;
    return list;
}

/* The same memory may be given many times, if it is never read. */
bool cupti_owns(const uint8_t *data)
{
    pthread_mutex_lock(&lock);
    bool found = has_data(owned, data) || has_data(first, data);
    pthread_mutex_unlock(&lock);
    return found;
}

static void check_zeroed(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i]) {
            strict_misuse("a buffer that was said to be zeroed has byte %#x at %zu", data[i], i);
            return;
        }
    }
}

/* On the launching thread, as CUPTI does it: its zeroing too. */
struct buffer *cupti_request(void)
{
    struct buffer got = {0};
    request_function *ask = request;
    if (!ask)
        return NULL;
    enum strict_inside before = cupti_set_inside(INSIDE_REQUEST);
    ask(&got.data, &got.size, &got.max_records);
    cupti_set_inside(before);
    if (!got.data) {
        if (STRICT_CUPTI < 1209)
            strict_fatal("request for a buffer declined, on which CUPTI before 12.9 crashes");
        return NULL;
    }
    if ((uintptr_t)got.data % 8)
        strict_misuse("a buffer is not aligned to 8 bytes");
    if (!cupti_zeroed)
        memset(got.data, 0, got.size);
    else if (strict_checks)
        check_zeroed(got.data, got.size);
    struct buffer *made = malloc(sizeof *made);
    *made = got;
    made->left = OPEN_RECORDS;
    pthread_mutex_lock(&lock);
    made->next = owned;
    owned = made;
    pthread_mutex_unlock(&lock);
    return made;
}

void cupti_give(struct buffer *buffer)
{
    pthread_mutex_lock(&lock);
    struct buffer **at = &owned;
    while (*at != buffer)
        at = &(*at)->next;
    *at = buffer->next;
    buffer->next = NULL;
    *last = buffer;
    last = &buffer->next;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void deliver(struct buffer *buffer)
{
    cupti_lock_delivery();
    enum strict_inside before = cupti_set_inside(INSIDE_COMPLETE);
    complete_function *done = complete;
    if (done)
        done(NULL, 0, buffer->data, buffer->size, buffer->claimed);
    cupti_set_inside(before);
    cupti_unlock_delivery();
    free(buffer);
}

/* Takes the first of the queue; under the lock. */
static struct buffer *take(void)
{
    struct buffer *buffer = first;
    if (buffer) {
        first = buffer->next;
        if (!first)
            last = &first;
    }
    return buffer;
}

void cupti_deliver_queued(void)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        struct buffer *buffer = take();
        pthread_mutex_unlock(&lock);
        if (!buffer)
            return;
        deliver(buffer);
    }
}

void cupti_wait_for_delivery(void)
{
    pthread_mutex_lock(&lock);
    while (first || delivering)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void *run(void *late)
{
    pthread_setname_np(pthread_self(), "strict-give");
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!first)
            pthread_cond_wait(&changed, &lock);
        if (late) {
            pthread_mutex_unlock(&lock);
            nanosleep(&(struct timespec){0, LATE_NS}, NULL);
            pthread_mutex_lock(&lock);
        }
        struct buffer *buffer = take();
        delivering = true;
        pthread_mutex_unlock(&lock);
        deliver(buffer);
        pthread_mutex_lock(&lock);
        delivering = false;
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}

void cupti_start_delivery(void)
{
    static bool late;
    late = cupti_delivers_late();
    pthread_t thread;
    if (!cupti_delivers_inline() && !pthread_create(&thread, NULL, run, late ? &late : NULL))
        pthread_detach(thread);
}
