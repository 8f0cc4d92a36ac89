/* CUPTI's binary interface, the part that we use: declared here, so that nothing of CUDA is needed to build.
 * One layout serves CUPTI 11.8 to 13, as newer records only append; tests/doubles/cuda/headers.c compares it
 * with real headers if there are some.
 *
 * Records are read at the offsets below and walked with CUPTI's own iterator, never by size. */
#ifndef SERVICE_CUPTI_H
#define SERVICE_CUPTI_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef int CUptiResult;
enum {
    CUPTI_SUCCESS = 0,
    CUPTI_ERROR_MAX_LIMIT_REACHED = 12, /* the iterator's end */
    CUPTI_ERROR_NOT_INITIALIZED = 15,
    CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
};

/* Results that have a meaning for users. */
enum {
    RESULT_OUT_OF_MEMORY = 8,
    RESULT_NOT_COMPATIBLE = 14,
    RESULT_DISABLED = 23,
    RESULT_HARDWARE_BUSY = 26,
    RESULT_NOT_SUPPORTED = 27,
    RESULT_VIRTUALIZED = 33,
    RESULT_PRIVILEGES = 35,
    RESULT_HYPERVISOR = 40,
    RESULT_CONFIDENTIAL = 41,
    RESULT_MINING = 42,
    RESULT_MIG = 43,
    RESULT_SLI = 44,
    RESULT_WSL = 45,
    RESULT_UNKNOWN = 999,
};

enum {
    CUPTI_KIND_MEMCPY = 1,
    CUPTI_KIND_MEMSET = 2,
    CUPTI_KIND_CONTEXT = 9,
    CUPTI_KIND_CONCURRENT_KERNEL = 10,
    CUPTI_KIND_MEMCPY2 = 22, /* peer to peer */
    CUPTI_KIND_SYNCHRONIZATION = 38,
    CUPTI_KIND_GRAPH_TRACE = 51,
};

enum { CUPTI_ATTR_ZEROED_OUT_BUFFER = 5, CUPTI_ATTR_PER_THREAD_BUFFER = 9 };
enum { CUPTI_FLUSH_COMPLETE = 0, CUPTI_FLUSH_FORCED = 1 };

/* Versions by cuptiGetVersion. */
enum { CUPTI_VERSION_11_8 = 18, CUPTI_VERSION_12_3 = 21, CUPTI_VERSION_12_9 = 27 };

/* Offsets in records. */
enum {
    RECORD_KIND = 0, /* u32 */

    KERNEL_START = 16, /* u64, as all times: ns of CLOCK_REALTIME */
    KERNEL_END = 24,
    KERNEL_DEVICE = 40,
    KERNEL_CONTEXT = 44,
    KERNEL_NAME = 104, /* const char *: CUPTI's, mangled */

    MEMCPY_COPY_KIND = 4, /* u8 */
    MEMCPY_BYTES = 8,
    MEMCPY_START = 16,
    MEMCPY_END = 24,
    MEMCPY_DEVICE = 32,
    MEMCPY_CONTEXT = 36, /* all six hold for MEMCPY2 too */

    MEMSET_BYTES = 8,
    MEMSET_START = 16,
    MEMSET_END = 24,
    MEMSET_DEVICE = 32,
    MEMSET_CONTEXT = 36,
    MEMSET_MEMORY_KIND = 50, /* u16 */

    GRAPH_TRACE_START = 8,
    GRAPH_TRACE_END = 16,
    GRAPH_TRACE_DEVICE = 24,
    GRAPH_TRACE_GRAPH = 28, /* u32: of the executable graph, or of its template */

    SYNC_TYPE = 4,
    SYNC_START = 8,
    SYNC_END = 16,
    SYNC_CONTEXT = 28,

    CONTEXT_ID = 4,
    CONTEXT_DEVICE = 8,
};

static inline uint64_t record_u64(const void *record, size_t offset) {
    uint64_t value;
    memcpy(&value, (const char *)record + offset, sizeof value);
    return value;
}

static inline uint32_t record_u32(const void *record, size_t offset) {
    uint32_t value;
    memcpy(&value, (const char *)record + offset, sizeof value);
    return value;
}

static inline uint16_t record_u16(const void *record, size_t offset) {
    uint16_t value;
    memcpy(&value, (const char *)record + offset, sizeof value);
    return value;
}

/* Callbacks. */
typedef void *CUpti_SubscriberHandle;
typedef void (*CUpti_CallbackFunc)(void *user, int domain, uint32_t cbid, const void *data);

enum { CUPTI_DOMAIN_DRIVER_API = 1, CUPTI_DOMAIN_RUNTIME_API = 2, CUPTI_DOMAIN_RESOURCE = 3 };
enum { CUPTI_API_ENTER = 0, CUPTI_API_EXIT = 1 };

enum {
    RESOURCE_CONTEXT_CREATED = 1,
    RESOURCE_MODULE_LOADED = 6,
    RESOURCE_STREAM_DESTROY_STARTING = 4,
    RESOURCE_GRAPH_CREATED = 9,
    RESOURCE_GRAPH_DESTROY_STARTING = 10,
    RESOURCE_GRAPH_CLONED = 11,
    RESOURCE_GRAPHNODE_CREATED = 13,
    RESOURCE_GRAPHNODE_DESTROY_STARTING = 14,
    RESOURCE_GRAPHNODE_DEPENDENCY_CREATED = 15,
    RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING = 16,
    RESOURCE_GRAPHEXEC_CREATED = 18,
    RESOURCE_GRAPHEXEC_DESTROY_STARTING = 19,
    RESOURCE_GRAPHNODE_CLONED = 20,
};

/* Driver functions that launch, make a kernel node, or begin or end a capture. */
enum {
    DRIVER_cuGraphLaunch = 514,
    DRIVER_cuGraphLaunch_ptsz = 515,
    DRIVER_cuLaunchKernel = 307,
    DRIVER_cuLaunchKernel_ptsz = 442,
    DRIVER_cuLaunchCooperativeKernel = 477,
    DRIVER_cuLaunchCooperativeKernel_ptsz = 478,
    DRIVER_cuStreamBeginCapture = 495,
    DRIVER_cuStreamBeginCapture_ptsz = 496,
    DRIVER_cuStreamEndCapture = 497,
    DRIVER_cuStreamEndCapture_ptsz = 498,
    DRIVER_cuGraphAddKernelNode = 502,
    DRIVER_cuGraphAddChildGraphNode = 525,
    DRIVER_cuStreamBeginCapture_v2 = 539,
    DRIVER_cuStreamBeginCapture_v2_ptsz = 540,
    DRIVER_cuLaunchKernelEx = 652,
    DRIVER_cuLaunchKernelEx_ptsz = 653,
    DRIVER_cuGraphAddKernelNode_v2 = 689,
    DRIVER_cuGraphAddNode = 712,
    DRIVER_cuStreamBeginCaptureToGraph = 720,
    DRIVER_cuStreamBeginCaptureToGraph_ptsz = 721,
    DRIVER_cuGraphAddNode_v2 = 723,
    DRIVER_cuStreamBeginRecaptureToGraph = 846,
    DRIVER_cuStreamBeginRecaptureToGraph_ptsz = 847,
};

/* CUpti_CallbackData: the beginning of it. */
struct cupti_callback_data {
    uint32_t site;
    const char *function_name;
    const void *function_params;
    void *function_return_value;
    const char *symbol_name;
};

/* What a driver function returns that is left. */
static inline int callback_result(const struct cupti_callback_data *data) {
    int result = 0;
    if (data->function_return_value) memcpy(&result, data->function_return_value, sizeof result);
    return result;
}

struct cupti_resource_data {
    void *context;
    void *handle; /* of a stream */
    void *descriptor;
};

/* CUpti_GraphData: valid during the callback only. */
struct cupti_graph_data {
    void *graph;
    void *original_graph;
    void *node;
    void *original_node;
    int node_type;
    void *dependency;
    void *graph_exec;
};

/* cuptiSubscribe_v2's parameters as of 13.0; later ones append. */
struct cupti_subscriber_params {
    size_t size;
    const char *name;
    char *old_name;
    size_t old_name_size;
};

typedef void (*cupti_buffer_requested)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*cupti_buffer_completed)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                       size_t valid);

/* The functions of one libcupti. Those with a version may be NULL. */
struct cupti {
    CUptiResult (*GetVersion)(uint32_t *version);
    CUptiResult (*Subscribe)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *user);
    CUptiResult (*Subscribe_v2)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *user,
                                struct cupti_subscriber_params *); /* 13.0+ */
    CUptiResult (*Unsubscribe)(CUpti_SubscriberHandle);
    CUptiResult (*EnableCallback)(uint32_t enable, CUpti_SubscriberHandle, int domain, uint32_t cbid);
    CUptiResult (*ActivityRegisterCallbacks)(cupti_buffer_requested, cupti_buffer_completed);
    CUptiResult (*ActivityEnable)(int kind);
    CUptiResult (*ActivityDisable)(int kind);
    CUptiResult (*ActivityGetNextRecord)(uint8_t *buffer, size_t valid, void **record);
    CUptiResult (*ActivityGetNumDroppedRecords)(void *context, uint32_t stream, size_t *dropped);
    CUptiResult (*ActivityFlushAll)(uint32_t flag);
    CUptiResult (*ActivityGetAttribute)(int attribute, size_t *size, void *value);
    CUptiResult (*ActivitySetAttribute)(int attribute, size_t *size, void *value);
    CUptiResult (*ActivityEnableAllSyncRecords)(uint8_t enable); /* 12.8+ */
    CUptiResult (*GetGraphId)(void *graph, uint32_t *id);
    CUptiResult (*GetGraphExecId)(void *exec, uint32_t *id);     /* 12.3+ */
};

#endif
