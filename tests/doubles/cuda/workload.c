/* Workload that uses CUDA through the driver API, and books its operations to the nanosecond. Its argument is
 * the name of the scenario. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

struct cuda cuda;

static void *module;
static void *functions[SYMBOLS];
static char *names[SYMBOLS];
static uint64_t clocks[DEVICES][STREAMS];
static __thread int device;

static void *find(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL) fprintf(stderr, "workload: no %s\n", name), exit(70);
    return found;
}

/* Loads the libraries that $WORKLOAD_LOADS lists, before CUDA starts. */
static void load_others(void) {
    const char *list = getenv("WORKLOAD_LOADS");
    char *paths = strdup(list == NULL ? "" : list), *rest = paths;
    for (char *path; (path = strtok_r(rest, ":", &rest)) != NULL;) {
        if (dlopen(path, RTLD_NOW) == NULL) fprintf(stderr, "workload: %s\n", dlerror()), exit(70);
    }
    free(paths);
}

void load(void) {
    load_others();
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) fprintf(stderr, "workload: %s\n", dlerror()), exit(70);
#define FIND(name) (*(void **)&cuda.name = find(library, #name))
    FIND(cuInit);
    FIND(cuDevicePrimaryCtxRetain);
    FIND(cuCtxSetCurrent);
    FIND(cuModuleLoadData);
    FIND(cuModuleGetFunction);
    FIND(cuModuleUnload);
    FIND(cuLaunchKernel);
    FIND(cuMemcpyHtoD_v2);
    FIND(cuMemsetD8_v2);
    FIND(cuStreamSynchronize);
    FIND(cuCtxSynchronize);
    FIND(cuGraphCreate);
    FIND(cuGraphAddKernelNode_v2);
    FIND(cuGraphAddChildGraphNode);
    FIND(cuGraphAddDependencies);
    FIND(cuGraphInstantiateWithFlags);
    FIND(cuGraphLaunch);
    FIND(cuGraphDestroy);
    FIND(cuGraphExecDestroy);
    FIND(cuStreamBeginCapture_v2);
    FIND(cuStreamEndCapture);
    FIND(cuStreamDestroy_v2);
    FIND(cuEventCreate);
    FIND(cuEventRecord);
    FIND(cuStreamWaitEvent);
    FIND(fake_next);
    FIND(fake_settle);
    FIND(fake_gate);
    FIND(fake_drop);
    FIND(fake_enabled);
    FIND(fake_copy);
    FIND(fake_set);
    FIND(fake_wait);
    FIND(fake_poll);
    FIND(fake_launch_callbacks);
    FIND(fake_invalidate);
    FIND(fake_close_injection);
#undef FIND
}

void start(void) {
    load();
    if (cuda.cuInit(0) != 0) fprintf(stderr, "workload: no cuInit\n"), exit(70);
    cuda.cuModuleLoadData(&module, "");
}

uint32_t random_below(uint32_t limit) {
    static uint32_t state = 20240607;
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)state * limit) >> 32);
}

void on_device(int chosen) {
    void *context;
    cuda.cuDevicePrimaryCtxRetain(&context, chosen);
    cuda.cuCtxSetCurrent(context);
    device = chosen;
}

static uint64_t minute_ago(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)(now.tv_sec - 60) * 1000000000u;
}

struct span next_span(int stream, uint64_t duration) {
    uint64_t *at = &clocks[device][stream];
    if (*at == 0) *at = minute_ago();
    struct span span = {*at + random_below(2000), 0};
    span.end = *at = span.start + duration;
    return span;
}

const char *symbol_name(int symbol) {
    if (names[symbol] == NULL) {
        char name[64];
        snprintf(name, sizeof name, "_Z10kernel%04diPfS_i", symbol);
        names[symbol] = strdup(name);
    }
    return names[symbol];
}

void *symbol_function(int symbol) {
    if (functions[symbol] == NULL) {
        cuda.cuModuleGetFunction(&functions[symbol], module, symbol_name(symbol));
    }
    return functions[symbol];
}

void launch_at(const char *name, void *function, int stream, struct span span) {
    cuda.fake_next(span.start, span.end);
    cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, (void *)(uintptr_t)(stream + 1), NULL, NULL);
    expect_kernel(name, span);
}

void launch(int symbol, int stream, uint64_t duration) {
    launch_at(symbol_name(symbol), symbol_function(symbol), stream, next_span(stream, duration));
}

static const char *const copy_kinds[] = {"",
                                         "host_to_device",
                                         "device_to_host",
                                         "host_to_array",
                                         "array_to_host",
                                         "array_to_array",
                                         "array_to_device",
                                         "device_to_array",
                                         "device_to_device",
                                         "host_to_host",
                                         "peer_to_peer"};
static const char *const memory_kinds[] = {
    "", "pageable", "pinned", "device", "array", "managed", "device_static", "managed_static"};
static const char *const wait_types[] = {"", "event", "stream_wait_event", "stream", "context"};

void copy(uint32_t kind, size_t bytes, int stream, uint64_t duration) {
    struct span span = next_span(stream, duration);
    cuda.fake_next(span.start, span.end);
    cuda.fake_copy(kind, bytes, (void *)(uintptr_t)(stream + 1));
    expect("cuda_memcpy_nanoseconds", copy_kinds[kind], duration, 1);
    expect("cuda_memcpy_bytes", copy_kinds[kind], bytes, 0);
    expect_busy(span);
}

void set(uint32_t memory_kind, size_t bytes, int stream, uint64_t duration) {
    struct span span = next_span(stream, duration);
    cuda.fake_next(span.start, span.end);
    cuda.fake_set(memory_kind, bytes, (void *)(uintptr_t)(stream + 1));
    expect("cuda_memset_nanoseconds", memory_kinds[memory_kind], duration, 1);
    expect("cuda_memset_bytes", memory_kinds[memory_kind], bytes, 0);
    expect_busy(span);
}

void wait_for(uint32_t type, int stream, uint64_t duration) {
    struct span span = next_span(stream, duration);
    cuda.fake_next(span.start, span.end);
    cuda.fake_wait(type, (void *)(uintptr_t)(stream + 1));
    expect("cuda_sync_nanoseconds", wait_types[type], duration, 1);
}

/* ---- the books ---- */

enum { BOOKED = 1 << 15, SPANS = 1 << 18 };

static struct booked {
    const char *metric;
    char *frame;
    int device;
    uint64_t a, b;
} books[BOOKED];

static struct span *spans[DEVICES];
static size_t span_counts[DEVICES];
static uint64_t least[DEVICES], greatest[DEVICES];

static uint32_t hash(const char *text, uint32_t value) {
    while (*text) value = (value ^ (unsigned char)*text++) * 16777619u;
    return value;
}

static void book(const char *metric, const char *frame, int of, uint64_t a, uint64_t b) {
    uint32_t at = hash(frame, hash(metric, (uint32_t)of)) % BOOKED;
    for (;; at = (at + 1) % BOOKED) {
        struct booked *entry = &books[at];
        if (entry->metric == NULL) *entry = (struct booked){metric, strdup(frame), of, 0, 0};
        if (entry->device != of || strcmp(entry->metric, metric) || strcmp(entry->frame, frame)) continue;
        entry->a += a;
        entry->b += b;
        return;
    }
}

void expect(const char *metric, const char *frame, uint64_t a, uint64_t b) {
    book(metric, frame, device, a, b);
}

void expect_on(int of, const char *metric, const char *frame, uint64_t a, uint64_t b) {
    book(metric, frame, of, a, b);
}

void expect_process(const char *metric, uint64_t a) { book(metric, "", -1, a, 0); }

void expect_busy(struct span span) {
    if (spans[device] == NULL) spans[device] = malloc(SPANS * sizeof(struct span));
    if (span_counts[device] == SPANS) abort();
    spans[device][span_counts[device]++] = span;
}

void expect_kernel(const char *name, struct span span) {
    uint64_t duration = span.end - span.start;
    expect("cuda_kernels_nanoseconds", name, duration, 1);
    expect("cuda_kernel_duration_nanoseconds", "", duration, 1);
    if (least[device] == 0 || duration < least[device]) least[device] = duration;
    if (duration > greatest[device]) greatest[device] = duration;
    expect_busy(span);
}

static int by_start(const void *a, const void *b) {
    uint64_t x = ((const struct span *)a)->start, y = ((const struct span *)b)->start;
    return x < y ? -1 : x > y;
}

static uint64_t busy(int of) {
    qsort(spans[of], span_counts[of], sizeof(struct span), by_start);
    uint64_t total = 0, until = 0;
    for (size_t i = 0; i < span_counts[of]; i++) {
        struct span span = spans[of][i];
        if (span.start < until) span.start = until;
        if (span.end <= span.start) continue;
        total += span.end - span.start;
        until = span.end;
    }
    return total;
}

void new_books(void) {
    memset(books, 0, sizeof books);
    memset(span_counts, 0, sizeof span_counts);
    memset(least, 0, sizeof least);
    memset(greatest, 0, sizeof greatest);
}

void close_books(void) {
    const char *path = getenv("WORKLOAD_EXPECTED");
    if (path == NULL) return;
    for (int of = 0; of < DEVICES; of++) {
        if (span_counts[of] == 0) continue;
        book("gpu_busy_nanoseconds", "", of, busy(of), 0);
        if (greatest[of] > 0) book("extremes", "", of, least[of], greatest[of]);
    }
    char *text;
    size_t length;
    FILE *lines = open_memstream(&text, &length);
    fprintf(lines, "{\"pid\":%d,\"booked\":[", getpid());
    const char *comma = "";
    for (size_t i = 0; i < BOOKED; i++) {
        if (books[i].metric == NULL) continue;
        fprintf(lines, "%s[\"%s\",%d,\"%s\",\"%llu\",\"%llu\"]", comma, books[i].metric, books[i].device,
                books[i].frame, (unsigned long long)books[i].a, (unsigned long long)books[i].b);
        comma = ",";
    }
    fprintf(lines, "]}\n");
    fclose(lines);
    FILE *file = fopen(path, "a");
    setvbuf(file, NULL, _IOFBF, length + 1);
    fwrite(text, 1, length, file);
    fclose(file);
    free(text);
}

void wait_for_gate(void) {
    const char *path = getenv("WORKLOAD_GATE");
    for (int tries = 0; path != NULL && access(path, F_OK) != 0 && tries < 20000; tries++) usleep(1000);
}

/* ---- scenarios ---- */

static int run_in(const struct scenario *scenarios, const char *name, int *result) {
    for (; scenarios->name != NULL; scenarios++) {
        if (strcmp(scenarios->name, name) != 0) continue;
        *result = scenarios->run();
        return 1;
    }
    return 0;
}

int main(int count, char **words) {
    int result = 64;
    const char *name = count == 2 ? words[1] : "";
    if (!run_in(work_scenarios, name, &result) && !run_in(graph_scenarios, name, &result) &&
        !run_in(process_scenarios, name, &result) && !run_in(tool_scenarios, name, &result) &&
        !run_in(load_scenarios, name, &result) && !run_in(source_scenarios, name, &result) &&
        !run_in(capture_scenarios, name, &result)) {
        fprintf(stderr, "workload: no scenario %s\n", name);
    }
    return result;
}
