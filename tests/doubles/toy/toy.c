/* The toy's source, and its runtime, which the workload calls from one thread at a time. */
#include "toy.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../ffi/activity/accounts.h"
#include "../../../ffi/activity/collector.h"
#include "../../../ffi/export.h"

#define RECORDS 4096u
#define IN_BUFFER 64u
#define UUID "GPU-f0112233-4455-6677-8899-aabbccddee07"

struct record {
    const char *kernel; /* NULL: a copy */
    uint32_t kind;
    uint64_t bytes, start, end;
};

static const char *const COPIES[] = {"sideways", "up", "down"};

static struct record records[RECORDS];
static _Atomic uint32_t recorded;
static uint32_t flushed, taken; /* the collector's */
static _Atomic uint64_t lost;
static _Atomic bool stopped;

/* ---- The source ---- */

static bool start(const struct activity_options *options, char *reason, size_t size) {
    (void)options;
    if (!getenv("TOY_FAILS")) return true;
    snprintf(reason, size, "no toy in this process");
    return false;
}

static void open(struct accounts *accounts) {
    segment_set(accounts_cell(accounts, "wheels", SEGMENT_GAUGE), 4, 1);
}

static void flush(bool all) {
    (void)all;
    flushed = atomic_load(&recorded);
}

static bool is_pending(void) { return false; }

static void add(struct account *account, const struct record *record) {
    if (record->kernel) account_kernel(account, record->kernel, record->start, record->end);
    else account_copy(account, record->kind, record->bytes, record->start, record->end);
}

static bool read(struct accounts *accounts) {
    if (taken == flushed) return false;
    struct account *account = accounts->devices[0];
    if (!account) account = accounts_add_device(accounts, 0, UUID);
    symbols_begin_round();
    for (uint32_t i = 0; i < IN_BUFFER && taken < flushed; i++, taken++)
        if (account) add(account, &records[taken]);
    accounts_compare();
    return true;
}

static void nothing(void) {}

static bool never(void) { return false; }

static uint64_t dropped(void) { return atomic_load(&lost); }

static void stop(void) { atomic_store(&stopped, true); }

const struct activity_source toy_source = {
    .prefix = "toy",
    .copies = {COPIES, sizeof COPIES / sizeof *COPIES},
    .start = start,
    .open = open,
    .flush = flush,
    .is_pending = is_pending,
    .read = read,
    .check = nothing,
    .poll = never,
    .dropped = dropped,
    .stop = stop,
};

/* ---- The runtime ---- */

/* Returns whether it records. */
SERVICE_EXPORT bool toy_begin(void) {
    const struct activity_options options = {0};
    return collector_open(getenv("SERVICE_SEGMENTS")) && collector_start(&toy_source, &options);
}

/* Returns whether it was recorded, or counted as lost. */
static bool record(struct record record) {
    uint32_t at = atomic_load(&recorded);
    if (atomic_load(&stopped)) return false;
    if (at == RECORDS) {
        atomic_fetch_add(&lost, 1);
        return true;
    }
    records[at] = record;
    atomic_store(&recorded, at + 1);
    return true;
}

SERVICE_EXPORT bool toy_launch(const char *kernel, uint64_t start, uint64_t end) {
    return record((struct record){kernel, 0, 0, start, end});
}

SERVICE_EXPORT bool toy_copy(uint32_t kind, uint64_t bytes, uint64_t start, uint64_t end) {
    return record((struct record){NULL, kind, bytes, start, end});
}
