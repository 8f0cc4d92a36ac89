#include "records.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "../activity/busy.h"
#include "../activity/device_names.h"
#include "../activity/durations.h"
#include "../activity/overhead.h"
#include "../activity/symbols.h"
#include "../segment/segment.h"
#include "graphs.h"
#include "waits.h"

static const char *const COPIES[] = {
    "unknown",       "host_to_device", "device_to_host",  "host_to_array", "array_to_host",  "array_to_array",
    "array_to_device", "device_to_array", "device_to_device", "host_to_host",  "peer_to_peer",
};
static const char *const MEMORIES[] = {
    "unknown", "pageable", "pinned", "device", "array", "managed", "device_static", "managed_static",
};
static const char *const WAITS[WAIT_TYPES] = {"unknown", "event", "stream_wait_event", "stream", "context"};

#define KINDS 11u
_Static_assert(sizeof COPIES / sizeof *COPIES == KINDS, "the longest list");

/* What moves bytes: copies, or sets. */
struct traffic {
    const char *const *kinds;
    uint32_t count;
    const char *bytes_metric;
    uint32_t profile;
    uint32_t time_cells[KINDS];
    uint32_t byte_cells[KINDS];
};

/* Graph ids and their cells, forgotten together when there are too many. */
#define GRAPHS 1024u

struct graphs {
    uint32_t profile;
    uint32_t count;
    struct {
        uint32_t id, cell;
        bool used;
    } slots[GRAPHS];
};

struct device {
    const char *name;
    uint32_t kernels, waits;
    uint32_t wait_cells[WAIT_TYPES];
    uint32_t busy_cell, late_cell;
    struct traffic copies, sets;
    struct graphs graphs;
    struct durations durations;
    struct busy busy;
};

static struct device *devices[DEVICES];
static uint32_t dropped_cell, invalid_cell, spent_cell, unidentified_cell;
static uint64_t dropped, invalid, unidentified;
static uint32_t answered;

/* ---- Series ---- */

static uint32_t global_cell(const char *metric, uint32_t type) {
    return segment_cell(segment_series(metric, type, NULL), 0);
}

static uint32_t device_series(const struct device *device, const char *metric, uint32_t type) {
    return segment_series(metric, type, (const char *const[]){"device.uuid", device->name, NULL});
}

static uint32_t frame(uint32_t profile, const char *name) {
    return segment_cell(profile, segment_name(name, strlen(name)));
}

static void forget_cells(uint32_t *cells, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) cells[i] = SEGMENT_NONE;
}

static void open_traffic(struct traffic *traffic, const char *const *kinds, uint32_t count) {
    traffic->kinds = kinds;
    traffic->count = count;
    forget_cells(traffic->time_cells, KINDS);
    forget_cells(traffic->byte_cells, KINDS);
}

static struct device *open_device(uint32_t ordinal) {
    void *memory = mmap(NULL, sizeof(struct device), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    struct device *device = memory;
    device->name = devices_name(ordinal);
    device->kernels = device_series(device, "cuda_kernels_nanoseconds", SEGMENT_PROFILE);
    device->graphs.profile = device_series(device, "cuda_graphs_nanoseconds", SEGMENT_PROFILE);
    device->waits = device_series(device, "cuda_sync_nanoseconds", SEGMENT_PROFILE);
    forget_cells(device->wait_cells, WAIT_TYPES);
    open_traffic(&device->copies, COPIES, KINDS);
    device->copies.profile = device_series(device, "cuda_memcpy_nanoseconds", SEGMENT_PROFILE);
    device->copies.bytes_metric = "cuda_memcpy_bytes";
    open_traffic(&device->sets, MEMORIES, sizeof MEMORIES / sizeof *MEMORIES);
    device->sets.profile = device_series(device, "cuda_memset_nanoseconds", SEGMENT_PROFILE);
    device->sets.bytes_metric = "cuda_memset_bytes";
    device->busy_cell = segment_cell(device_series(device, "gpu_busy_nanoseconds", SEGMENT_COUNTER), 0);
    device->late_cell = segment_cell(device_series(device, "gpu_busy_late_nanoseconds", SEGMENT_COUNTER), 0);
    uint32_t durations = device_series(device, "cuda_kernel_duration_nanoseconds", SEGMENT_HISTOGRAM);
    durations_open(&device->durations, durations);
    return devices[ordinal] = device;
}

void records_open(bool node_mode) {
    segment_set(global_cell("cuda_graph_trace_mode", SEGMENT_GAUGE), node_mode, 0);
    dropped_cell = global_cell("cuda_dropped_records_total", SEGMENT_COUNTER);
    invalid_cell = global_cell("cuda_invalid_records_total", SEGMENT_COUNTER);
    spent_cell = global_cell("profiler_capture_nanoseconds", SEGMENT_COUNTER);
    unidentified_cell = global_cell("cuda_unidentified_graphs_total", SEGMENT_COUNTER);
}

/* ---- Records ---- */

struct interval {
    uint64_t start, end;
};

/* Returns whether it can be. */
static inline bool interval_at(const void *record, size_t start, size_t end, struct interval *found) {
    *found = (struct interval){record_u64(record, start), record_u64(record, end)};
    if (__builtin_expect(found->start != 0 && found->end >= found->start, true)) return true;
    invalid++;
    return false;
}

static struct device *device_of(uint32_t ordinal) {
    if (ordinal < DEVICES && devices[ordinal]) return devices[ordinal];
    struct device *device = ordinal < DEVICES ? open_device(ordinal) : NULL;
    if (!device) dropped++;
    return device;
}

static void add_wait(struct device *device, uint32_t type, struct wait wait) {
    if (wait.count == 0) return;
    uint32_t *cell = &device->wait_cells[type];
    if (*cell == SEGMENT_NONE) *cell = frame(device->waits, WAITS[type]);
    segment_add(*cell, wait.ns, wait.count);
}

static void learn(uint32_t context, uint32_t ordinal) {
    const struct wait *kept = waits_learn(context, ordinal);
    if (!kept) return;
    struct device *device = devices[ordinal];
    for (uint32_t type = 0; type < WAIT_TYPES; type++) add_wait(device, type, kept[type]);
}

/* Where a record is from: its device, and its context in the upper half. */
_Static_assert(KERNEL_CONTEXT == KERNEL_DEVICE + 4, "both are read at once");
_Static_assert(MEMCPY_CONTEXT == MEMCPY_DEVICE + 4 && MEMSET_CONTEXT == MEMSET_DEVICE + 4, "here, too");

static struct {
    uint64_t origin;
    struct device *device;
} latest;

static __attribute__((noinline)) struct device *device_from(uint64_t origin) {
    struct device *device = device_of((uint32_t)origin);
    if (!device) return NULL;
    learn((uint32_t)(origin >> 32), (uint32_t)origin);
    latest.origin = origin;
    return latest.device = device;
}

/* Most records are from where the one before is. */
static inline struct device *device_at(const void *record, size_t offset) {
    uint64_t origin = record_u64(record, offset);
    if (__builtin_expect(origin == latest.origin && latest.device, true)) return latest.device;
    return device_from(origin);
}

static inline void read_kernel(const void *record) {
    struct interval ran;
    struct device *device = device_at(record, KERNEL_DEVICE);
    if (!device || !interval_at(record, KERNEL_START, KERNEL_END, &ran)) return;
    const char *name;
    memcpy(&name, (const char *)record + KERNEL_NAME, sizeof name);
    segment_add_touched(symbols_cell(name, device->kernels), ran.end - ran.start, 1);
    durations_add(&device->durations, ran.end - ran.start);
    busy_add(&device->busy, ran.start, ran.end);
}

static uint32_t byte_cell(const struct device *device, const struct traffic *traffic, const char *kind) {
    const char *const tags[] = {"device.uuid", device->name, "kind", kind, NULL};
    return segment_cell(segment_series(traffic->bytes_metric, SEGMENT_COUNTER, tags), 0);
}

static void add_traffic(struct device *device, struct traffic *traffic, uint32_t kind, uint64_t bytes,
                        struct interval ran) {
    if (kind >= traffic->count) kind = 0;
    const char *name = traffic->kinds[kind];
    uint32_t *time = &traffic->time_cells[kind], *byte = &traffic->byte_cells[kind];
    if (*time == SEGMENT_NONE) *time = frame(traffic->profile, name);
    if (*byte == SEGMENT_NONE) *byte = byte_cell(device, traffic, name);
    segment_add(*time, ran.end - ran.start, 1);
    segment_add(*byte, bytes, 0);
    busy_add(&device->busy, ran.start, ran.end);
}

static void read_copy(const void *record) {
    struct interval ran;
    struct device *device = device_at(record, MEMCPY_DEVICE);
    if (!device || !interval_at(record, MEMCPY_START, MEMCPY_END, &ran)) return;
    uint32_t kind = *((const uint8_t *)record + MEMCPY_COPY_KIND);
    add_traffic(device, &device->copies, kind, record_u64(record, MEMCPY_BYTES), ran);
}

static void read_set(const void *record) {
    struct interval ran;
    struct device *device = device_at(record, MEMSET_DEVICE);
    if (!device || !interval_at(record, MEMSET_START, MEMSET_END, &ran)) return;
    uint32_t kind = record_u16(record, MEMSET_MEMORY_KIND);
    add_traffic(device, &device->sets, kind, record_u64(record, MEMSET_BYTES), ran);
}

static void read_wait(const void *record) {
    struct interval waited;
    if (!interval_at(record, SYNC_START, SYNC_END, &waited)) return;
    uint32_t type = record_u32(record, SYNC_TYPE);
    if (type >= WAIT_TYPES) type = 0;
    struct wait wait = {waited.end - waited.start, 1};
    uint32_t ordinal = waits_add(record_u32(record, SYNC_CONTEXT), type, wait.ns);
    if (ordinal != WAITS_UNKNOWN) add_wait(devices[ordinal], type, wait);
}

static void read_context(const void *record) {
    uint32_t ordinal = record_u32(record, CONTEXT_DEVICE);
    if (device_of(ordinal)) learn(record_u32(record, CONTEXT_ID), ordinal);
}

static uint32_t name_graph(uint32_t profile, uint32_t id) {
    char name[32];
    uint64_t signature = graphs_signature(id);
    if (signature != 0) snprintf(name, sizeof name, "%016llx", (unsigned long long)signature);
    else snprintf(name, sizeof name, "graph_%u", id);
    uint32_t cell = frame(profile, name);
    /* One whose slot was forgotten has its frame still, and was counted. */
    if (signature == 0 && cell < SEGMENT_CELLS && segment_values[cell].b == 0) unidentified++;
    return cell;
}

static uint32_t graph_cell(struct graphs *graphs, uint32_t id) {
    uint32_t slot = id % GRAPHS;
    for (; graphs->slots[slot].used; slot = (slot + 1) % GRAPHS)
        if (graphs->slots[slot].id == id) return graphs->slots[slot].cell;
    if (graphs->count == GRAPHS / 4 * 3) {
        memset(graphs->slots, 0, sizeof graphs->slots);
        graphs->count = 0;
        slot = id % GRAPHS;
    }
    uint32_t cell = name_graph(graphs->profile, id);
    graphs->slots[slot].id = id;
    graphs->slots[slot].cell = cell;
    graphs->slots[slot].used = true;
    graphs->count++;
    return cell;
}

static void read_graph(const void *record) {
    struct interval ran;
    struct device *device = device_of(record_u32(record, GRAPH_TRACE_DEVICE));
    if (!device || !interval_at(record, GRAPH_TRACE_START, GRAPH_TRACE_END, &ran)) return;
    uint32_t cell = graph_cell(&device->graphs, record_u32(record, GRAPH_TRACE_GRAPH));
    segment_add(cell, ran.end - ran.start, 1);
    busy_add(&device->busy, ran.start, ran.end);
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

#define AHEAD 864u

void records_read(const struct cupti *cupti, struct buffer buffer) {
    void *record = NULL;
    symbols_doubt();
    while (buffer.valid > 0 && cupti->ActivityGetNextRecord(buffer.data, buffer.valid, &record) == CUPTI_SUCCESS) {
        uint32_t kind = record_u32(record, RECORD_KIND);
        /* A few records on: they come from another core's cache. */
        __builtin_prefetch((const char *)record + AHEAD);
        __builtin_prefetch((const char *)record + AHEAD + KERNEL_NAME);
        if (kind == CUPTI_KIND_CONCURRENT_KERNEL) read_kernel(record);
        else read_other(record, kind);
    }
}

void records_lost(uint64_t count) { dropped += count; }

/* ---- Publication ---- */

static void show_device(struct device *device, bool answers, bool taken) {
    busy_settle(&device->busy);
    segment_set(device->busy_cell, device->busy.covered, 0);
    segment_set(device->late_cell, device->busy.late, 0);
    if (answers) durations_show(&device->durations, taken);
}

void records_publish(uint32_t asked, bool last) {
    bool taken = segment_taken() == answered;
    for (uint32_t i = 0; i < DEVICES; i++)
        if (devices[i]) show_device(devices[i], last || asked != answered, taken);
    /* What still waits for its device at the end was lost. */
    segment_set(dropped_cell, dropped + buffers_dropped() + (last ? waits_kept() : 0), 0);
    segment_set(invalid_cell, invalid, 0);
    segment_set(unidentified_cell, unidentified, 0);
    segment_set(spent_cell, atomic_load_explicit(&spent_ns, memory_order_relaxed), 0);
    segment_publish(asked);
    answered = asked;
}
