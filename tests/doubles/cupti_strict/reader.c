/* A profiler after CUPTI's documentation, to test the strict double and to compare with.
 *
 * READER=nothing (it takes buffers and gives them back), sums (it writes sums by kind and name to
 * READER_OUT), or a misuse: flush_in_complete, flush_in_resource, call_in_callback, not_zeroed,
 * twice, by_hand, lock, decline, finalize, late_attribute. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int result;
extern result cuptiSubscribe(void **, void (*)(void *, int, uint32_t, const void *), void *);
extern result cuptiEnableCallback(uint32_t, void *, int, uint32_t);
extern result cuptiActivityRegisterCallbacks(void (*)(uint8_t **, size_t *, size_t *),
                                             void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
extern result cuptiActivityEnable(uint32_t);
extern result cuptiActivityFlushAll(uint32_t);
extern result cuptiActivityGetNextRecord(uint8_t *, size_t, uint8_t **);
extern result cuptiActivityGetNumDroppedRecords(void *, uint32_t, size_t *);
extern result cuptiActivitySetAttribute(uint32_t, size_t *, void *);
extern result cuptiFinalize(void);
extern result cuCtxGetDevice(int *);

enum { BUFFER = 512 * 1024, BUFFERS = 64, SUMS = 8192, PERIOD_NS = 200000000 };

static struct {
    uint32_t kind;
    char *name;
    uint64_t count, ns, bytes, unended;
} sums[SUMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *pool[BUFFERS];
static size_t pooled;
static uint64_t delivered_bytes;
static bool zeroes = true;

static bool is_mode(const char *mode)
{
    const char *chosen = getenv("READER");
    return chosen && !strcmp(chosen, mode);
}

static void requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
    static uint8_t *always;
    *max_records = 0;
    *size = BUFFER;
    if (is_mode("decline")) {
        *buffer = NULL;
        return;
    }
    pthread_mutex_lock(&lock);
    *buffer = pooled ? pool[--pooled] : NULL;
    pthread_mutex_unlock(&lock);
    if (!*buffer)
        *buffer = aligned_alloc(64, BUFFER), memset(*buffer, 0, BUFFER);
    if (is_mode("not_zeroed"))
        (*buffer)[BUFFER - 1] = 1;
    if (is_mode("twice"))
        *buffer = always ? always : (always = *buffer);
}

static void add(uint32_t kind, const char *name, uint64_t start, uint64_t end, uint64_t bytes)
{
    uint64_t hash = kind;
    for (const char *c = name; *c; c++)
        hash = hash * 31 + (uint8_t)*c;
    size_t i = hash % SUMS;
    while (sums[i].name && (sums[i].kind != kind || strcmp(sums[i].name, name)))
        i = (i + 1) % SUMS;
    if (!sums[i].name)
        sums[i].name = strdup(name);
    sums[i].kind = kind;
    sums[i].count++;
    sums[i].ns += end > start ? end - start : 0;
    sums[i].unended += !end;
    sums[i].bytes += bytes;
}

#define GET(type, offset) (*(const type *)(record + (offset)))

static void read_record(const uint8_t *record)
{
    char name[16];
    switch (GET(uint32_t, 0)) {
    case 10:
        add(10, GET(const char *, 104), GET(uint64_t, 16), GET(uint64_t, 24), 0);
        break;
    case 1:
    case 22:
        snprintf(name, sizeof name, "%u", record[4]);
        add(GET(uint32_t, 0), name, GET(uint64_t, 16), GET(uint64_t, 24), GET(uint64_t, 8));
        break;
    case 2:
        add(2, "", GET(uint64_t, 16), GET(uint64_t, 24), GET(uint64_t, 8));
        break;
    case 38:
    case 51:
        add(GET(uint32_t, 0), "", GET(uint64_t, 8), GET(uint64_t, 16), 0);
        break;
    }
}

static void read_buffer(uint8_t *buffer, size_t valid)
{
    uint8_t *record = NULL;
    while (!cuptiActivityGetNextRecord(buffer, valid, &record)) {
        read_record(record);
        if (is_mode("by_hand"))
            record += 8;
    }
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream;
    if (is_mode("flush_in_complete"))
        cuptiActivityFlushAll(0);
    if (!is_mode("nothing"))
        read_buffer(buffer, valid);
    if (zeroes)
        memset(buffer, 0, size);
    pthread_mutex_lock(&lock);
    delivered_bytes += valid;
    if (pooled < BUFFERS)
        pool[pooled++] = buffer;
    pthread_mutex_unlock(&lock);
}

static void called(void *user, int domain, uint32_t cbid, const void *data)
{
    (void)user, (void)cbid, (void)data;
    int device;
    if (is_mode("flush_in_resource") && domain == 3)
        cuptiActivityFlushAll(0);
    if (is_mode("call_in_callback"))
        cuCtxGetDevice(&device);
}

static void *flush(void *unused)
{
    pthread_setname_np(pthread_self(), "reader");
    for (;;) {
        nanosleep(&(struct timespec){0, PERIOD_NS}, NULL);
        cuptiActivityFlushAll(is_mode("forced"));
        size_t dropped;
        if (is_mode("lock"))
            pthread_mutex_lock(&lock);
        cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
        if (is_mode("lock"))
            pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void leave(void)
{
    const char *path = getenv("READER_OUT");
    if (is_mode("finalize"))
        cuptiFinalize();
    cuptiActivityFlushAll(1);
    FILE *out = path ? fopen(path, "w") : NULL;
    for (size_t i = 0; out && i < SUMS; i++) {
        if (sums[i].name)
            fprintf(out, "%u %zu %lu %lu %lu %lu\n", sums[i].kind, strlen(sums[i].name),
                    sums[i].count, sums[i].ns, sums[i].bytes, sums[i].unended);
    }
    if (out)
        fclose(out);
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
    static const uint32_t kinds[] = {10, 1, 22, 2, 38, 51};
    uint8_t zeroed = 1, per_thread = 1;
    size_t size = sizeof zeroed;
    void *subscriber;
    const char *checks = getenv("STRICT_CHECKS");
    zeroes = !checks || strcmp(checks, "0");
    if (cuptiSubscribe(&subscriber, called, NULL))
        return 1;
    cuptiActivitySetAttribute(5, &size, &zeroed);
    if (!is_mode("late_attribute"))
        cuptiActivitySetAttribute(9, &size, &per_thread);
    cuptiActivityRegisterCallbacks(requested, completed);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i] != 51 || getenv("READER_GRAPHS"))
            cuptiActivityEnable(kinds[i]);
    }
    if (is_mode("late_attribute"))
        cuptiActivitySetAttribute(9, &size, &per_thread);
    if (is_mode("call_in_callback"))
        cuptiEnableCallback(1, subscriber, 1, 307);
    if (is_mode("flush_in_resource"))
        cuptiEnableCallback(1, subscriber, 3, 3);
    pthread_t thread;
    if (!pthread_create(&thread, NULL, flush, NULL))
        pthread_detach(thread);
    atexit(leave);
    return 1;
}
