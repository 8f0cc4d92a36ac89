/* Compares ffi/cuda/cupti.h with the real CUPTI headers on the include path, at compile time.
 * Compiled by tests/doubles/cuda/headers_test.ts. */
#include <cuda.h>
#include <cupti.h>
#include <stddef.h>

enum {
    THEIR_SUCCESS = CUPTI_SUCCESS,
    THEIR_LIMIT = CUPTI_ERROR_MAX_LIMIT_REACHED,
    THEIR_NOT_INITIALIZED = CUPTI_ERROR_NOT_INITIALIZED,
    THEIR_MULTIPLE = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
    THEIR_ENTER = CUPTI_API_ENTER,
    THEIR_EXIT = CUPTI_API_EXIT,
};
typedef CUptiResult their_result;
typedef CUpti_SubscriberHandle their_subscriber;
typedef CUpti_CallbackFunc their_callback;

#define CUPTI_SUCCESS OUR_SUCCESS
#define CUPTI_ERROR_MAX_LIMIT_REACHED OUR_LIMIT
#define CUPTI_ERROR_NOT_INITIALIZED OUR_NOT_INITIALIZED
#define CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED OUR_MULTIPLE
#define CUPTI_API_ENTER OUR_ENTER
#define CUPTI_API_EXIT OUR_EXIT
#define CUptiResult our_result
#define CUpti_SubscriberHandle our_subscriber
#define CUpti_CallbackFunc our_callback
#include "../../../ffi/cuda/cupti.h"

#define EQUAL(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours)
#define FIELD(place, type, field, size)                                                                      \
    _Static_assert(offsetof(type, field) == (place), #type "." #field);                                      \
    _Static_assert(sizeof(((type *)0)->field) == (size), #type "." #field)
#define SAME(ours, our_field, theirs, their_field)                                                           \
    FIELD(offsetof(struct ours, our_field), theirs, their_field, sizeof(((struct ours *)0)->our_field))
#define FUNCTION(name, ...)                                                                                  \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&cupti##name), their_result (*)(__VA_ARGS__)),    \
                   #name)

/* The newest record of each kind: the one that a CUPTI of that version writes. */
#if CUPTI_API_VERSION >= 130400
typedef CUpti_ActivityKernel13 kernel;
#elif CUPTI_API_VERSION >= 130300
typedef CUpti_ActivityKernel12 kernel;
#elif CUPTI_API_VERSION >= 130100
typedef CUpti_ActivityKernel11 kernel;
#elif CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 kernel;
#elif CUPTI_API_VERSION >= 20
typedef CUpti_ActivityKernel9 kernel;
#else
typedef CUpti_ActivityKernel8 kernel; /* 12.0 and 12.1 return the version of 11.8 */
#endif

#if CUPTI_API_VERSION >= 130500
typedef CUpti_ActivityMemcpy7 memcpy_record;
typedef CUpti_ActivityMemset5 memset_record;
typedef CUpti_ActivityContext4 context;
#elif CUPTI_API_VERSION >= 26
typedef CUpti_ActivityMemcpy6 memcpy_record;
typedef CUpti_ActivityMemset4 memset_record;
typedef CUpti_ActivityContext3 context;
#else
typedef CUpti_ActivityMemcpy5 memcpy_record;
typedef CUpti_ActivityMemset4 memset_record;
#if CUPTI_API_VERSION >= 22
typedef CUpti_ActivityContext2 context;
#else
typedef CUpti_ActivityContext context;
#endif
#endif

#if CUPTI_API_VERSION >= 26
typedef CUpti_ActivitySynchronization2 synchronization;
#else
typedef CUpti_ActivitySynchronization synchronization;
#endif

#if CUPTI_API_VERSION >= 21
typedef CUpti_ActivityGraphTrace2 graph_trace;
#else
typedef CUpti_ActivityGraphTrace graph_trace;
#endif

/* Records. A libcupti from 13.5 on does not walk them without a driver: the header alone tells their sizes. */
#if CUPTI_API_VERSION >= 130500 && CUPTI_API_VERSION < 130600
_Static_assert(sizeof(kernel) == 248 && sizeof(memcpy_record) == 112 && sizeof(memset_record) == 104 &&
                   sizeof(context) == 40 && sizeof(synchronization) == 56 && sizeof(graph_trace) == 56,
               "the fake's records of 13.5");
#endif
FIELD(RECORD_KIND, CUpti_Activity, kind, 4);

FIELD(RECORD_KIND, kernel, kind, 4);
FIELD(KERNEL_START, kernel, start, 8);
FIELD(KERNEL_END, kernel, end, 8);
FIELD(KERNEL_DEVICE, kernel, deviceId, 4);
FIELD(KERNEL_CONTEXT, kernel, contextId, 4);
FIELD(KERNEL_NAME, kernel, name, sizeof(const char *));

FIELD(MEMCPY_COPY_KIND, memcpy_record, copyKind, 1);
FIELD(MEMCPY_BYTES, memcpy_record, bytes, 8);
FIELD(MEMCPY_START, memcpy_record, start, 8);
FIELD(MEMCPY_END, memcpy_record, end, 8);
FIELD(MEMCPY_DEVICE, memcpy_record, deviceId, 4);
FIELD(MEMCPY_CONTEXT, memcpy_record, contextId, 4);

FIELD(MEMCPY_COPY_KIND, CUpti_ActivityMemcpyPtoP4, copyKind, 1);
FIELD(MEMCPY_BYTES, CUpti_ActivityMemcpyPtoP4, bytes, 8);
FIELD(MEMCPY_START, CUpti_ActivityMemcpyPtoP4, start, 8);
FIELD(MEMCPY_END, CUpti_ActivityMemcpyPtoP4, end, 8);
FIELD(MEMCPY_DEVICE, CUpti_ActivityMemcpyPtoP4, deviceId, 4);
FIELD(MEMCPY_CONTEXT, CUpti_ActivityMemcpyPtoP4, contextId, 4);

FIELD(MEMSET_BYTES, memset_record, bytes, 8);
FIELD(MEMSET_START, memset_record, start, 8);
FIELD(MEMSET_END, memset_record, end, 8);
FIELD(MEMSET_DEVICE, memset_record, deviceId, 4);
FIELD(MEMSET_CONTEXT, memset_record, contextId, 4);
FIELD(MEMSET_MEMORY_KIND, memset_record, memoryKind, 2);

FIELD(GRAPH_TRACE_START, graph_trace, start, 8);
FIELD(GRAPH_TRACE_END, graph_trace, end, 8);
FIELD(GRAPH_TRACE_DEVICE, graph_trace, deviceId, 4);
FIELD(GRAPH_TRACE_GRAPH, graph_trace, graphId, 4);

FIELD(SYNC_TYPE, synchronization, type, 4);
FIELD(SYNC_START, synchronization, start, 8);
FIELD(SYNC_END, synchronization, end, 8);
FIELD(SYNC_CONTEXT, synchronization, contextId, 4);

FIELD(CONTEXT_ID, context, contextId, 4);
FIELD(CONTEXT_DEVICE, context, deviceId, 4);

/* Callback data. */
SAME(cupti_callback_data, site, CUpti_CallbackData, callbackSite);
SAME(cupti_callback_data, function_name, CUpti_CallbackData, functionName);
SAME(cupti_callback_data, function_params, CUpti_CallbackData, functionParams);
SAME(cupti_callback_data, function_return_value, CUpti_CallbackData, functionReturnValue);
SAME(cupti_callback_data, symbol_name, CUpti_CallbackData, symbolName);

SAME(cupti_resource_data, context, CUpti_ResourceData, context);
SAME(cupti_resource_data, handle, CUpti_ResourceData, resourceHandle);
SAME(cupti_resource_data, descriptor, CUpti_ResourceData, resourceDescriptor);

SAME(cupti_graph_data, graph, CUpti_GraphData, graph);
SAME(cupti_graph_data, original_graph, CUpti_GraphData, originalGraph);
SAME(cupti_graph_data, node, CUpti_GraphData, node);
SAME(cupti_graph_data, original_node, CUpti_GraphData, originalNode);
SAME(cupti_graph_data, node_type, CUpti_GraphData, nodeType);
SAME(cupti_graph_data, dependency, CUpti_GraphData, dependency);
SAME(cupti_graph_data, graph_exec, CUpti_GraphData, graphExec);

#if CUPTI_API_VERSION >= 130000
SAME(cupti_subscriber_params, size, CUpti_SubscriberParams, structSize);
SAME(cupti_subscriber_params, name, CUpti_SubscriberParams, subscriberName);
SAME(cupti_subscriber_params, old_name, CUpti_SubscriberParams, oldSubscriberName);
SAME(cupti_subscriber_params, old_name_size, CUpti_SubscriberParams, oldSubscriberSize);
#endif

/* Enumerators. */
EQUAL(OUR_SUCCESS, THEIR_SUCCESS);
EQUAL(OUR_LIMIT, THEIR_LIMIT);
EQUAL(OUR_NOT_INITIALIZED, THEIR_NOT_INITIALIZED);
EQUAL(OUR_MULTIPLE, THEIR_MULTIPLE);
EQUAL(RESULT_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
EQUAL(RESULT_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
EQUAL(RESULT_DISABLED, CUPTI_ERROR_DISABLED);
EQUAL(RESULT_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
EQUAL(RESULT_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
EQUAL(RESULT_VIRTUALIZED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
EQUAL(RESULT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
EQUAL(RESULT_HYPERVISOR, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
EQUAL(RESULT_UNKNOWN, CUPTI_ERROR_UNKNOWN);
#if CUPTI_API_VERSION >= 130000
EQUAL(RESULT_CONFIDENTIAL, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
EQUAL(RESULT_MINING, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
EQUAL(RESULT_MIG, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
EQUAL(RESULT_SLI, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
EQUAL(RESULT_WSL, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
#endif
EQUAL(OUR_ENTER, THEIR_ENTER);
EQUAL(OUR_EXIT, THEIR_EXIT);

EQUAL(CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
EQUAL(CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
EQUAL(CUPTI_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
EQUAL(CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
EQUAL(CUPTI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
EQUAL(CUPTI_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
EQUAL(CUPTI_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);

EQUAL(CUPTI_ATTR_ZEROED_OUT_BUFFER, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
#if CUPTI_API_VERSION >= 21
EQUAL(CUPTI_ATTR_PER_THREAD_BUFFER, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
#endif
EQUAL(CUPTI_FLUSH_COMPLETE, 0);
EQUAL(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);

EQUAL(CUPTI_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_DRIVER_API);
EQUAL(CUPTI_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RUNTIME_API);
EQUAL(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);

#define RESOURCE(name) EQUAL(RESOURCE_##name, CUPTI_CBID_RESOURCE_##name)
RESOURCE(CONTEXT_CREATED);
RESOURCE(MODULE_LOADED);
RESOURCE(STREAM_DESTROY_STARTING);
RESOURCE(GRAPH_CREATED);
RESOURCE(GRAPH_DESTROY_STARTING);
RESOURCE(GRAPH_CLONED);
RESOURCE(GRAPHNODE_CREATED);
RESOURCE(GRAPHNODE_DESTROY_STARTING);
RESOURCE(GRAPHNODE_DEPENDENCY_CREATED);
RESOURCE(GRAPHNODE_DEPENDENCY_DESTROY_STARTING);
RESOURCE(GRAPHEXEC_CREATED);
RESOURCE(GRAPHEXEC_DESTROY_STARTING);
RESOURCE(GRAPHNODE_CLONED);

#define DRIVER(name) EQUAL(DRIVER_##name, CUPTI_DRIVER_TRACE_CBID_##name)
DRIVER(cuLaunchKernel);
DRIVER(cuLaunchKernel_ptsz);
DRIVER(cuGraphLaunch);
DRIVER(cuGraphLaunch_ptsz);
DRIVER(cuLaunchCooperativeKernel);
DRIVER(cuLaunchCooperativeKernel_ptsz);
DRIVER(cuStreamBeginCapture);
DRIVER(cuStreamBeginCapture_ptsz);
DRIVER(cuStreamBeginCapture_v2);
DRIVER(cuStreamBeginCapture_v2_ptsz);
DRIVER(cuStreamEndCapture);
DRIVER(cuStreamEndCapture_ptsz);
DRIVER(cuGraphAddKernelNode);
DRIVER(cuGraphAddChildGraphNode);
DRIVER(cuLaunchKernelEx);
DRIVER(cuLaunchKernelEx_ptsz);
#if CUPTI_API_VERSION >= 20
DRIVER(cuGraphAddKernelNode_v2);
DRIVER(cuGraphAddNode);
DRIVER(cuGraphAddNode_v2);
#endif
#if CUPTI_API_VERSION >= 21
DRIVER(cuStreamBeginCaptureToGraph);
DRIVER(cuStreamBeginCaptureToGraph_ptsz);
#endif
#if CUPTI_API_VERSION >= 130500
DRIVER(cuStreamBeginRecaptureToGraph);
DRIVER(cuStreamBeginRecaptureToGraph_ptsz);
#endif

/* Parameters of calls that ffi/cuda/graphs.c and ffi/cuda/callbacks.c read. */
FIELD(0, cuStreamBeginCapture_params, hStream, 8);
FIELD(0, cuStreamBeginCapture_v2_params, hStream, 8);
FIELD(0, cuStreamEndCapture_params, hStream, 8);
EQUAL(908, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
EQUAL(2, (intptr_t)CU_STREAM_PER_THREAD);
FIELD(32, cuGraphAddChildGraphNode_params, childGraph, 8);
#if CUPTI_API_VERSION >= 22
FIELD(32, cuGraphAddNode_params, nodeParams, 8);
FIELD(40, cuGraphAddNode_v2_params, nodeParams, 8);
FIELD(16, CUgraphNodeParams, graph.graph, 8);
#endif
EQUAL(0, CU_GRAPH_NODE_TYPE_KERNEL);
EQUAL(4, CU_GRAPH_NODE_TYPE_GRAPH);

/* Functions, with their enumerations in place of our integers. */
_Static_assert(sizeof(CUpti_ActivityKind) == sizeof(int) && sizeof(their_result) == sizeof(int) &&
                   sizeof(CUpti_CallbackDomain) == sizeof(int) && sizeof(CUpti_ActivityAttribute) == sizeof(int) &&
                   sizeof(CUgraphNodeType) == sizeof(int) && sizeof(their_subscriber) == sizeof(void *),
               "enumerations are integers, handles are pointers");
_Static_assert(__builtin_types_compatible_p(their_callback, void (*)(void *, CUpti_CallbackDomain, CUpti_CallbackId,
                                                                      const void *)),
               "callback");
_Static_assert(sizeof(CUpti_CallbackId) == 4 && sizeof(CUcontext) == sizeof(void *), "callback's arguments");
FUNCTION(GetVersion, uint32_t *);
FUNCTION(Subscribe, their_subscriber *, their_callback, void *);
#if CUPTI_API_VERSION >= 130000
FUNCTION(Subscribe_v2, their_subscriber *, their_callback, void *, CUpti_SubscriberParams *);
#endif
FUNCTION(Unsubscribe, their_subscriber);
FUNCTION(EnableCallback, uint32_t, their_subscriber, CUpti_CallbackDomain, CUpti_CallbackId);
FUNCTION(ActivityRegisterCallbacks, CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc);
_Static_assert(__builtin_types_compatible_p(CUpti_BuffersCallbackRequestFunc, cupti_buffer_requested), "requested");
_Static_assert(__builtin_types_compatible_p(CUpti_BuffersCallbackCompleteFunc,
                                            void (*)(CUcontext, uint32_t, uint8_t *, size_t, size_t)),
               "completed");
FUNCTION(ActivityEnable, CUpti_ActivityKind);
FUNCTION(ActivityDisable, CUpti_ActivityKind);
FUNCTION(ActivityGetNextRecord, uint8_t *, size_t, CUpti_Activity **);
FUNCTION(ActivityGetNumDroppedRecords, CUcontext, uint32_t, size_t *);
FUNCTION(ActivityFlushAll, uint32_t);
FUNCTION(ActivityGetAttribute, CUpti_ActivityAttribute, size_t *, void *);
FUNCTION(ActivitySetAttribute, CUpti_ActivityAttribute, size_t *, void *);
#if CUPTI_API_VERSION >= 26
FUNCTION(ActivityEnableAllSyncRecords, uint8_t);
#endif
FUNCTION(GetGraphId, CUgraph, uint32_t *);
#if CUPTI_API_VERSION >= 21
FUNCTION(GetGraphExecId, CUgraphExec, uint32_t *);
#endif
