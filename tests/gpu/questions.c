/* Injection library for open questions of CUPTI's documentation: prints the graph callbacks in their order
 * and the ids of records, as JSON lines on stderr. Loaded through CUDA_INJECTION64_PATH by questions.ts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../ffi/cuda/cupti.h"

enum { BUFFER = 1 << 20, KERNEL_CORRELATION = 92, PRINTED_RECORDS = 40 };

static const uint32_t LAUNCHES[] = {DRIVER_cuLaunchKernel, DRIVER_cuLaunchKernel_ptsz, DRIVER_cuLaunchKernelEx};
static const uint32_t CALLS[] = {
    DRIVER_cuGraphAddKernelNode,      DRIVER_cuGraphAddKernelNode_v2, DRIVER_cuStreamBeginCapture_v2,
    DRIVER_cuStreamBeginCapture_v2_ptsz,
};

static struct cupti cupti;
static CUpti_SubscriberHandle subscriber;
static _Thread_local const char *symbol = "";
static int printed;

static uint32_t id_of(CUptiResult (*ask)(void *, uint32_t *), void *handle) {
    uint32_t id = 0;
    if (ask && handle) ask(handle, &id);
    return id;
}

static void print_graph(uint32_t cbid, const struct cupti_graph_data *data) {
    fprintf(stderr,
            "{\"callback\":%u,\"graph\":\"%p\",\"original\":\"%p\",\"node\":\"%p\",\"original_node\":\"%p\","
            "\"type\":%d,\"dependency\":\"%p\",\"symbol\":\"%s\"}\n",
            cbid, data->graph, data->original_graph, data->node, data->original_node, data->node_type,
            data->dependency, symbol);
    if (cbid != RESOURCE_GRAPHEXEC_CREATED) return;
    fprintf(stderr, "{\"instantiated\":true,\"exec_id\":%u,\"graph_id\":%u,\"original_id\":%u}\n",
            id_of(cupti.GetGraphExecId, data->graph_exec), id_of(cupti.GetGraphId, data->graph),
            id_of(cupti.GetGraphId, data->original_graph));
}

static void enable(int domain, const uint32_t *cbids, size_t count) {
    for (size_t i = 0; i < count; i++) cupti.EnableCallback(1, subscriber, domain, cbids[i]);
}

#define ALL(cbids) cbids, sizeof cbids / sizeof *cbids

static bool begins_capture(uint32_t cbid) {
    return cbid == DRIVER_cuStreamBeginCapture_v2 || cbid == DRIVER_cuStreamBeginCapture_v2_ptsz;
}

/* The callbacks of launches are enabled when a capture has begun, as the profiler does. */
static void on_callback(void *user, int domain, uint32_t cbid, const void *data) {
    (void)user;
    if (domain == CUPTI_DOMAIN_DRIVER_API) {
        const struct cupti_callback_data *call = data;
        bool is_entered = call->site == CUPTI_API_ENTER;
        if (!is_entered && begins_capture(cbid)) enable(CUPTI_DOMAIN_DRIVER_API, ALL(LAUNCHES));
        symbol = !is_entered ? "" : call->symbol_name ? call->symbol_name : "(none)";
    } else {
        print_graph(cbid, ((const struct cupti_resource_data *)data)->descriptor);
    }
}

static void on_requested(uint8_t **buffer, size_t *size, size_t *max_records) {
    *buffer = calloc(1, BUFFER);
    *size = BUFFER;
    *max_records = 0;
}

static void print_record(const void *record) {
    uint32_t kind = record_u32(record, RECORD_KIND);
    if (printed >= PRINTED_RECORDS) return;
    if (kind == CUPTI_KIND_GRAPH_TRACE) {
        fprintf(stderr, "{\"record\":\"graph\",\"id\":%u}\n", record_u32(record, GRAPH_TRACE_GRAPH));
    } else if (kind == CUPTI_KIND_CONCURRENT_KERNEL) {
        fprintf(stderr, "{\"record\":\"kernel\",\"correlation\":%u}\n", record_u32(record, KERNEL_CORRELATION));
    } else {
        return;
    }
    printed++;
}

static void on_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    (void)context, (void)stream, (void)size;
    void *record = NULL;
    while (cupti.ActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) print_record(record);
    free(buffer);
}

static void at_end(void) {
    cupti.ActivityFlushAll(CUPTI_FLUSH_FORCED);
}

static bool load(void) {
    const char *path = getenv("CUPTI_LIBRARY");
    void *library = dlopen(path ? path : "libcupti.so", RTLD_NOW);
    if (!library) library = dlopen("libcupti.so.13", RTLD_NOW);
    if (!library) library = dlopen("libcupti.so.12", RTLD_NOW);
    if (!library) return false;
#define LOAD(name) *(void **)&cupti.name = dlsym(library, "cupti" #name)
    LOAD(Subscribe), LOAD(EnableCallback), LOAD(ActivityRegisterCallbacks), LOAD(ActivityEnable);
    LOAD(ActivityGetNextRecord), LOAD(ActivityFlushAll), LOAD(GetGraphId), LOAD(GetGraphExecId);
    CUptiResult (*enable_hardware_trace)(uint8_t) =
        (CUptiResult(*)(uint8_t))dlsym(library, "cuptiActivityEnableHWTrace");
    if (getenv("ASK_HARDWARE_TRACE") && enable_hardware_trace) {
        fprintf(stderr, "{\"hardware_trace\":%d}\n", enable_hardware_trace(1));
    }
    return true;
}

__attribute__((visibility("default"))) int InitializeInjection(void) {
    static const uint32_t graph_callbacks[] = {9, 10, 11, 13, 14, 15, 16, 18, 19, 20};
    if (!load()) {
        fprintf(stderr, "{\"refused\":\"no libcupti\"}\n");
        return 1;
    }
    int result = cupti.Subscribe(&subscriber, on_callback, NULL);
    fprintf(stderr, "{\"subscribe\":%d}\n", result);
    enable(CUPTI_DOMAIN_RESOURCE, ALL(graph_callbacks));
    enable(CUPTI_DOMAIN_DRIVER_API, ALL(CALLS));
    cupti.ActivityRegisterCallbacks(on_requested, on_completed);
    cupti.ActivityEnable(CUPTI_KIND_CONCURRENT_KERNEL);
    cupti.ActivityEnable(CUPTI_KIND_GRAPH_TRACE);
    atexit(at_end);
    return 1;
}
