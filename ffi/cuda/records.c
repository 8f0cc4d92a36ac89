/* CUPTI's records: one function for each kind. */
#include "records.h"

#include <string.h>

#include "../segment/segment.h"
#include "device_names.h"
#include "graph_cells.h"
#include "waits.h"

/* Bytes ahead of a record that are fetched while it is read: they come from another core's cache. */
#define AHEAD 1984u
/* Bytes before the end of a buffer in which no kernel waits: more than a record has. When the iterator says that
 * all is read no name is needed any more. */
#define NEAR 512u

void records_open(const struct accounts *of, bool node_mode) {
    segment_set(accounts_cell(of, "graph_trace_mode", SEGMENT_GAUGE), node_mode, 1);
    graph_cells_open(accounts_cell(of, "unidentified_graphs_total", SEGMENT_COUNTER));
}

/* The accounts that records are added to: no argument, as the loop has no register left for it. */
static struct accounts *accounts;

struct interval {
    uint64_t start, end;
};

/* Returns whether it is valid; if not it is counted. */
static inline bool interval_at(const void *record, size_t start, size_t end, struct interval *found) {
    *found = (struct interval){record_u64(record, start), record_u64(record, end)};
    if (account_can_have(found->start, found->end)) return true;
    accounts->invalid++;
    return false;
}

/* ---- Devices ---- */

static struct account *account_of(uint32_t ordinal) {
    if (ordinal < ACCOUNTS_DEVICES && accounts->devices[ordinal]) return accounts->devices[ordinal];
    return accounts_add_device(accounts, ordinal, device_name(ordinal));
}

/* Sets the device of a context, and adds the waits that were kept for it. */
static void learn_context(struct account *account, uint32_t context, uint32_t ordinal) {
    const struct wait *kept = waits_learn(context, ordinal);
    for (uint32_t type = 0; kept && type < WAIT_TYPES; type++)
        account_wait(account, type, kept[type].ns, kept[type].count);
}

/* The origin of a record: its device, and its context in the upper half. */
_Static_assert(KERNEL_CONTEXT == KERNEL_DEVICE + 4, "both are read at once");
_Static_assert(MEMCPY_CONTEXT == MEMCPY_DEVICE + 4 && MEMSET_CONTEXT == MEMSET_DEVICE + 4, "as for kernels");

static struct known {
    uint64_t origin;
    struct account *account;
} knowns[ACCOUNTS_DEVICES] = {[0 ... ACCOUNTS_DEVICES - 1] = {UINT64_MAX, NULL}};

static __attribute__((noinline)) struct account *account_from(uint64_t origin) {
    struct account *account = account_of((uint32_t)origin);
    if (!account) return NULL;
    learn_context(account, (uint32_t)(origin >> 32), (uint32_t)origin);
    knowns[(uint32_t)origin % ACCOUNTS_DEVICES] = (struct known){origin, account};
    return account;
}

static inline struct account *account_at(const void *record, size_t offset) {
    uint64_t origin = record_u64(record, offset);
    const struct known *known = &knowns[(uint32_t)origin % ACCOUNTS_DEVICES];
    if (__builtin_expect(known->origin != origin, false)) return account_from(origin);
    if (!known->account) __builtin_unreachable(); /* the compiler would test it */
    return known->account;
}

/* ---- Records ---- */

static inline void read_kernel(const void *record) {
    struct interval ran;
    struct account *account = account_at(record, KERNEL_DEVICE);
    if (!account || !interval_at(record, KERNEL_START, KERNEL_END, &ran)) return;
    const char *symbol;
    memcpy(&symbol, (const char *)record + KERNEL_NAME, sizeof symbol);
    account_kernel(account, symbol, ran.start, ran.end);
}

/* As interval_at(), for a copy or a set. */
static bool bytes_at(const void *record, size_t offset, uint64_t *bytes) {
    *bytes = record_u64(record, offset);
    if (*bytes < ACCOUNTS_LIMIT) return true;
    accounts->invalid++;
    return false;
}

static void read_copy(const void *record) {
    struct interval ran;
    uint64_t bytes;
    struct account *account = account_at(record, MEMCPY_DEVICE);
    if (!account || !interval_at(record, MEMCPY_START, MEMCPY_END, &ran)) return;
    if (!bytes_at(record, MEMCPY_BYTES, &bytes)) return;
    account_copy(account, *((const uint8_t *)record + MEMCPY_COPY_KIND), bytes, ran.start, ran.end);
}

static void read_set(const void *record) {
    struct interval ran;
    uint64_t bytes;
    struct account *account = account_at(record, MEMSET_DEVICE);
    if (!account || !interval_at(record, MEMSET_START, MEMSET_END, &ran)) return;
    if (!bytes_at(record, MEMSET_BYTES, &bytes)) return;
    account_set(account, record_u16(record, MEMSET_MEMORY_KIND), bytes, ran.start, ran.end);
}

static void read_wait(const void *record) {
    struct interval waited;
    if (!interval_at(record, SYNC_START, SYNC_END, &waited)) return;
    uint32_t type = record_u32(record, SYNC_TYPE);
    if (type >= WAIT_TYPES) type = 0;
    uint64_t ns = waited.end - waited.start;
    uint32_t ordinal = waits_add(record_u32(record, SYNC_CONTEXT), type, ns);
    if (ordinal != WAITS_UNKNOWN) account_wait(accounts->devices[ordinal], type, ns, 1);
}

static void read_context(const void *record) {
    uint32_t ordinal = record_u32(record, CONTEXT_DEVICE);
    struct account *account = account_of(ordinal);
    if (account) learn_context(account, record_u32(record, CONTEXT_ID), ordinal);
}

static void read_graph(const void *record) {
    struct interval ran;
    struct account *account = account_of(record_u32(record, GRAPH_TRACE_DEVICE));
    if (!account || !interval_at(record, GRAPH_TRACE_START, GRAPH_TRACE_END, &ran)) return;
    uint32_t cell = graph_cell(account->graphs, record_u32(record, GRAPH_TRACE_GRAPH));
    account_graph(account, cell, ran.start, ran.end);
}

static __attribute__((noinline)) void read_other(const void *record, uint32_t kind) {
    switch (kind) {
    case CUPTI_KIND_MEMCPY:
    case CUPTI_KIND_MEMCPY2: read_copy(record); break;
    case CUPTI_KIND_MEMSET: read_set(record); break;
    case CUPTI_KIND_SYNCHRONIZATION: read_wait(record); break;
    case CUPTI_KIND_CONTEXT: read_context(record); break;
    case CUPTI_KIND_GRAPH_TRACE: read_graph(record); break;
    }
}

/* Of all buffers read: a kernel's record of 13.0, until there is one. */
static uint64_t read_bytes = 216, read_records = 1;

uint64_t records_in(uint64_t bytes) {
    return (uint64_t)((double)bytes * (double)read_records / (double)read_bytes + 0.5);
}

void records_read(struct accounts *of, const struct cupti *cupti, struct buffer buffer) {
    void *record = NULL;
    uint64_t count = 0;
    const uint8_t *near_end = buffer.data + buffer.valid - (buffer.valid < NEAR ? buffer.valid : NEAR);
    accounts = of;
    if (buffer.first) symbols_begin_round();
    while (buffer.valid > 0 && cupti->ActivityGetNextRecord(buffer.data, buffer.valid, &record) == CUPTI_SUCCESS) {
        uint32_t kind = record_u32(record, RECORD_KIND);
        count++;
        __builtin_prefetch((const char *)record + AHEAD);
        __builtin_prefetch((const char *)record + AHEAD + KERNEL_NAME);
        if (kind == CUPTI_KIND_CONCURRENT_KERNEL) read_kernel(record);
        else read_other(record, kind);
        if ((const uint8_t *)record >= near_end) accounts_compare();
    }
    accounts_compare();
    read_bytes += buffer.valid;
    read_records += count;
}
