/* Cost of a kernel record in the collector, with generated records. Prints the processor time of the
 * thread that does the work: it is valid also with more threads than cores.
 * Arguments: directory of the segment, symbols, threads that fill buffers, millions of records, devices,
 * length of the longest symbol, kernels that a kernel may come too late, records a second (0: as fast as
 * possible). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "../../ffi/activity/accounts.h"
#include "../../ffi/activity/overhead.h"
#include "../../ffi/cuda/buffers.h"
#include "../../ffi/cuda/records.h"
#include "../../ffi/segment/segment.h"

#define RECORD 216u /* of CUPTI 13.0 */
#define SPACING_NS 2000u /* from kernel to kernel */
#define PAGE 4096u
#define PUBLISHED 1000000u /* records in a publication */
#define NAME "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_"

static const struct activity_source source = {.prefix = "cuda"};
static struct accounts accounts;
static char **names;
static uint32_t symbol_count, device_count, disorder;
static uint64_t records_each;
static _Atomic uint64_t clock_ns = 1700000000000000000u;
static _Atomic uint32_t done; /* threads */
static _Atomic int in_use; /* buffers in use, limited so that none goes to the shared buffer */
static _Atomic uint64_t lending_ns; /* asking for buffers and returning them */

/* Double of CUPTI's iteration over records; valgrind separates its instructions by this name. */
__attribute__((noinline)) CUptiResult next_record(uint8_t *buffer, size_t valid, void **record) {
    uint8_t *next = *record ? (uint8_t *)*record + RECORD : buffer;
    if (next + RECORD > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = next;
    return CUPTI_SUCCESS;
}

static void set64(uint8_t *record, size_t offset, uint64_t value) { memcpy(record + offset, &value, sizeof value); }

static void fill(uint8_t *data, uint32_t records, uint32_t *random) {
    uint64_t at = atomic_fetch_add(&clock_ns, records * SPACING_NS);
    for (uint32_t i = 0; i < records; i++, at += SPACING_NS) {
        uint8_t *record = data + i * RECORD;
        *random = *random * 1664525u + 1013904223u;
        record[RECORD_KIND] = CUPTI_KIND_CONCURRENT_KERNEL;
        uint64_t start = at + (uint64_t)(*random >> 12) * disorder * SPACING_NS / (1u << 20);
        set64(record, KERNEL_START, start);
        set64(record, KERNEL_END, start + 500 + (*random >> 22));
        record[KERNEL_DEVICE] = (uint8_t)((*random >> 4) % device_count);
        record[KERNEL_CONTEXT] = record[KERNEL_DEVICE] + 1;
        set64(record, KERNEL_NAME, (uint64_t)(uintptr_t)names[(*random >> 8) % symbol_count]);
    }
}

/* Symbols that repeat one text until they are long enough: 300 bytes and more if the longest is longer. Each
 * has pages of its own, as in modules that were loaded one by one. */
static void make_names(size_t longest) {
    size_t shortest = sizeof NAME + 4 < 300 && longest > 300 ? 300 : sizeof NAME + 4;
    names = malloc(symbol_count * sizeof *names);
    for (uint32_t i = 0; i < symbol_count; i++) {
        size_t length = shortest;
        if (longest > shortest) length += (size_t)i * 7919 % (longest - shortest);
        size_t pages = length / PAGE + 2;
        char *name = names[i] = (char *)aligned_alloc(PAGE, pages * PAGE) + (size_t)i * 7919 % PAGE;
        for (size_t at = 0; at < length; at++) name[at] = NAME[at % (sizeof NAME - 1)];
        snprintf(name + length - 5, 6, "%05u", i);
    }
}

static uint64_t cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t clock_cost_ns = UINT64_MAX;

static void measure_clock(void) {
    for (int i = 0; i < 1000; i++) {
        uint64_t from = cpu_ns(), took = cpu_ns() - from;
        if (took < clock_cost_ns) clock_cost_ns = took;
    }
}

/* Time since `start_ns`, without that of the clock itself. */
static uint64_t cpu_since(uint64_t start_ns) {
    uint64_t took = cpu_ns() - start_ns;
    return took > clock_cost_ns ? took - clock_cost_ns : 0;
}

/* Returns the number of records, or 0 if too many buffers are in use. */
static uint32_t fill_one(uint32_t *random) {
    uint8_t *data;
    size_t size, most;
    if (atomic_fetch_add(&in_use, 1) >= (int)BUFFER_COUNT) {
        atomic_fetch_sub(&in_use, 1);
        return 0;
    }
    uint64_t start = cpu_ns();
    buffers_request(&data, &size, &most);
    atomic_fetch_add(&lending_ns, cpu_since(start));
    uint32_t count = (uint32_t)(size / RECORD);
    fill(data, count, random);
    start = cpu_ns();
    buffers_complete(NULL, 0, data, size, count * RECORD);
    atomic_fetch_add(&lending_ns, cpu_since(start));
    return count;
}

static void *fill_many(void *seed) {
    uint32_t random = (uint32_t)(uintptr_t)seed;
    for (uint64_t filled = 0; filled < records_each;) {
        uint32_t more = fill_one(&random);
        if (more == 0) sched_yield();
        filled += more;
    }
    atomic_fetch_add(&done, 1);
    return NULL;
}

/* Memory of the process alone, and of the segment. */
static long resident_kib(void) {
    char line[256];
    long kib = 0, all = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %ld", &kib) == 1 || sscanf(line, "RssShmem: %ld", &kib) == 1) all += kib;
    fclose(file);
    return all;
}

/* Waits until so many records are due. */
static void pace(uint64_t records, uint32_t rate) {
    static uint64_t begun_ns;
    if (begun_ns == 0) begun_ns = monotonic_ns();
    uint64_t due_ns = begun_ns + records * 1000000000u / rate, now_ns = monotonic_ns();
    if (due_ns > now_ns) usleep((useconds_t)((due_ns - now_ns) / 1000));
}

static void publish(struct accounts_publication publication) {
    accounts_show(&accounts, buffers_lost_bytes(), publication);
    segment_publish(0);
}

static uint64_t reading_ns, recycling_ns;

/* Reads all returned buffers, as the collector's thread does. Returns the number of records. */
static uint64_t read_all(const struct cupti *cupti) {
    uint64_t count = 0;
    struct buffer buffer;
    for (; buffers_take(&buffer); count += buffer.valid / RECORD) {
        uint64_t start = cpu_ns();
        records_read(&accounts, cupti, buffer);
        reading_ns += cpu_since(start);
        start = cpu_ns();
        buffers_recycle(buffer);
        recycling_ns += cpu_since(start);
        atomic_fetch_sub(&in_use, 1);
    }
    return count;
}

int main(int count, char **words) {
    if (count != 9) return 1;
    symbol_count = (uint32_t)atoi(words[2]);
    uint32_t threads = (uint32_t)atoi(words[3]), rate = (uint32_t)atoi(words[8]), random = 1, bell = 0;
    uint64_t records = (uint64_t)(atof(words[4]) * 1e6), read = 0;
    device_count = (uint32_t)atoi(words[5]);
    make_names((size_t)atoi(words[6]));
    disorder = (uint32_t)atoi(words[7]);
    measure_clock();
    long before = resident_kib(), halfway = 0;
    if (segment_open(words[1]) != 0 || !buffers_open(false)) return 1;
    const struct cupti cupti = {.ActivityGetNextRecord = next_record};
    accounts_open(&accounts, &source);
    records_open(&accounts, false);
    records_each = records / threads;
    pthread_t thread;
    for (uintptr_t i = 1; threads > 1 && i <= threads; i++) pthread_create(&thread, NULL, fill_many, (void *)i);
    for (uint64_t filled = 0, shown = 0, last = 0; !last;) {
        if (threads == 1) filled += fill_one(&random);
        if (rate > 0) pace(filled, rate);
        last = threads == 1 ? filled >= records : atomic_load(&done) == threads;
        if (threads == 1 && segment_bell() == bell && !last) continue;
        bell = segment_bell();
        uint64_t more = read_all(&cupti);
        if (more == 0) sched_yield();
        if (read < records / 2 && read + more >= records / 2) halfway = resident_kib();
        read += more;
        if (read - shown < PUBLISHED) continue;
        publish((struct accounts_publication){false, true});
        shown = read;
    }
    publish((struct accounts_publication){true, true});
    printf("{\"records\":%.0f,\"read_ns\":%.3f,\"recycle_ns\":%.3f,\"lend_ns\":%.3f,\"halfway_kib\":%ld,"
           "\"after_kib\":%ld}\n",
           (double)read, (double)reading_ns / (double)read, (double)recycling_ns / (double)read,
           (double)atomic_load(&lending_ns) / (double)read, halfway - before, resident_kib() - before);
    return 0;
}
