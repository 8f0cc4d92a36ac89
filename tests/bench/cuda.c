/* Cost of a kernel record in the collector, with generated records. Prints the processor time of the
 * thread that does the work: it is valid also with more threads than cores.
 * Arguments: directory of the segment, symbols, threads that fill buffers, millions of records, devices,
 * length of the longest symbol. */
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
#include "../../ffi/cuda/buffers.h"
#include "../../ffi/cuda/records.h"
#include "../../ffi/segment/segment.h"

#define RECORD 216u /* of CUPTI 13.0 */
#define IN_BUFFER (BUFFER_SIZE / RECORD)
#define NAME "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_"

static const struct activity_source source = {.prefix = "cuda"};
static struct accounts accounts;
static char **names;
static uint32_t symbol_count, device_count;
static uint64_t buffers_each;
static _Atomic uint64_t clock_ns = 1700000000000000000u;
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

static void fill(uint8_t *data, uint32_t *random) {
    uint64_t at = atomic_fetch_add(&clock_ns, IN_BUFFER * 2000u);
    for (uint32_t i = 0; i < IN_BUFFER; i++, at += 2000) {
        uint8_t *record = data + i * RECORD;
        *random = *random * 1664525u + 1013904223u;
        record[RECORD_KIND] = CUPTI_KIND_CONCURRENT_KERNEL;
        set64(record, KERNEL_START, at);
        set64(record, KERNEL_END, at + 500 + (*random >> 22));
        record[KERNEL_DEVICE] = (uint8_t)((*random >> 4) % device_count);
        record[KERNEL_CONTEXT] = record[KERNEL_DEVICE] + 1;
        set64(record, KERNEL_NAME, (uint64_t)(uintptr_t)names[(*random >> 8) % symbol_count]);
    }
}

/* Symbols that repeat one text until they are long enough: 300 bytes and more if the longest is longer. */
static void make_names(size_t longest) {
    size_t shortest = sizeof NAME + 4 < 300 && longest > 300 ? 300 : sizeof NAME + 4;
    names = malloc(symbol_count * sizeof *names);
    for (uint32_t i = 0; i < symbol_count; i++) {
        size_t length = shortest;
        if (longest > shortest) length += (size_t)i * 7919 % (longest - shortest);
        char *name = names[i] = malloc(length + 1);
        for (size_t at = 0; at < length; at++) name[at] = NAME[at % (sizeof NAME - 1)];
        snprintf(name + length - 5, 6, "%05u", i);
    }
}

static uint64_t cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static bool fill_one(uint32_t *random) {
    uint8_t *data;
    size_t size, records;
    if (atomic_fetch_add(&in_use, 1) >= (int)BUFFER_COUNT) {
        atomic_fetch_sub(&in_use, 1);
        return false;
    }
    uint64_t start = cpu_ns();
    buffers_request(&data, &size, &records);
    uint64_t filling = cpu_ns();
    fill(data, random);
    uint64_t filled = cpu_ns();
    buffers_complete(NULL, 0, data, size, IN_BUFFER * RECORD);
    atomic_fetch_add(&lending_ns, filling - start + cpu_ns() - filled);
    return true;
}

static void *fill_many(void *seed) {
    uint32_t random = (uint32_t)(uintptr_t)seed;
    for (uint64_t i = 0; i < buffers_each;) {
        if (fill_one(&random)) i++;
        else sched_yield();
    }
    return NULL;
}

static long resident_kib(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%*d %ld", &pages) != 1) abort();
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static void publish(struct accounts_publication publication) {
    accounts_show(&accounts, buffers_lost_bytes(), publication);
    segment_publish(0);
}

int main(int count, char **words) {
    if (count != 7 || segment_open(words[1]) != 0 || !buffers_open()) return 1;
    symbol_count = (uint32_t)atoi(words[2]);
    uint32_t threads = (uint32_t)atoi(words[3]);
    uint64_t buffers = (uint64_t)(atof(words[4]) * 1e6 / IN_BUFFER) / threads * threads;
    device_count = (uint32_t)atoi(words[5]);
    make_names((size_t)atoi(words[6]));
    const struct cupti cupti = {.ActivityGetNextRecord = next_record};
    accounts_open(&accounts, &source);
    records_open(&accounts, false);
    buffers_each = buffers / threads;
    uint32_t random = 1;
    pthread_t thread;
    for (uintptr_t i = 1; threads > 1 && i <= threads; i++) pthread_create(&thread, NULL, fill_many, (void *)i);
    uint64_t reading = 0, recycling = 0;
    long before = 0;
    for (uint64_t i = 0; i < buffers;) {
        struct buffer buffer;
        if (threads == 1) fill_one(&random);
        if (!buffers_take(&buffer)) {
            sched_yield();
            continue;
        }
        uint64_t start = cpu_ns();
        records_read(&accounts, &cupti, buffer);
        uint64_t read = cpu_ns();
        buffers_recycle(buffer);
        atomic_fetch_sub(&in_use, 1);
        recycling += cpu_ns() - read;
        reading += read - start;
        if (++i % 400 == 0) publish((struct accounts_publication){false, true});
        if (i == buffers / 2) before = resident_kib();
    }
    publish((struct accounts_publication){true, true});
    double records = (double)(buffers * IN_BUFFER);
    printf("{\"records\":%.0f,\"read_ns\":%.3f,\"recycle_ns\":%.3f,\"lend_ns\":%.3f,\"halfway_kib\":%ld,"
           "\"after_kib\":%ld}\n",
           records, (double)reading / records, (double)recycling / records,
           (double)atomic_load(&lending_ns) / records, before, resident_kib());
    return 0;
}
