/* Callbacks: the lists of them, and the streams that are captured. */
#include "callbacks.h"

#include <pthread.h>
#include <stddef.h>

#include "graphs.h"
#include "subscription.h"

/* Captures at once; those beyond are not followed. */
#define CAPTURES 64u
/* Handles up to this one are default streams: the only one that can be captured is that of the thread. */
#define STREAM_PER_THREAD 2u

enum { CUDA_SUCCESS = 0, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908 };

static const uint32_t LAUNCHES[] = {
    DRIVER_cuLaunchKernel,   DRIVER_cuLaunchKernel_ptsz,   DRIVER_cuLaunchCooperativeKernel,
    DRIVER_cuLaunchKernelEx, DRIVER_cuLaunchKernelEx_ptsz, DRIVER_cuLaunchCooperativeKernel_ptsz,
    DRIVER_cuGraphLaunch,    DRIVER_cuGraphLaunch_ptsz,
};
static const uint32_t GRAPH_CALLS[] = {
    DRIVER_cuGraphAddKernelNode,
    DRIVER_cuGraphAddKernelNode_v2,
    DRIVER_cuGraphAddChildGraphNode,
    DRIVER_cuGraphAddNode,
    DRIVER_cuGraphAddNode_v2,
    DRIVER_cuStreamBeginCapture,
    DRIVER_cuStreamBeginCapture_ptsz,
    DRIVER_cuStreamBeginCapture_v2,
    DRIVER_cuStreamBeginCapture_v2_ptsz,
    DRIVER_cuStreamBeginCaptureToGraph,
    DRIVER_cuStreamBeginCaptureToGraph_ptsz,
    DRIVER_cuStreamBeginRecaptureToGraph,
    DRIVER_cuStreamBeginRecaptureToGraph_ptsz,
    DRIVER_cuStreamEndCapture,
    DRIVER_cuStreamEndCapture_ptsz,
};
static const uint32_t EVENTS[] = {RESOURCE_CONTEXT_CREATED, RESOURCE_MODULE_LOADED, RESOURCE_GRAPHNODE_CREATED};
static const uint32_t GRAPH_EVENTS[] = {
    RESOURCE_STREAM_DESTROY_STARTING,
    RESOURCE_GRAPH_CREATED,
    RESOURCE_GRAPH_DESTROY_STARTING,
    RESOURCE_GRAPH_CLONED,
    RESOURCE_GRAPHNODE_DESTROY_STARTING,
    RESOURCE_GRAPHNODE_DEPENDENCY_CREATED,
    RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING,
    RESOURCE_GRAPHEXEC_CREATED,
    RESOURCE_GRAPHEXEC_DESTROY_STARTING,
    RESOURCE_GRAPHNODE_CLONED,
};

#define ALL(cbids) cbids, sizeof(cbids) / sizeof *(cbids)

/* Guards what follows, and is held while callbacks are enabled: CUPTI allows one thread at a time to do that. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUpti_SubscriberHandle subscriber;
static const void *captured[CAPTURES]; /* the streams */
static uint32_t captured_count;
static bool is_watched;
static bool has_launches; /* their callbacks are enabled */

/* Errors are ignored: an old CUPTI does not know them all. */
static void enable(bool on, int domain, const uint32_t *cbids, size_t count) {
    for (size_t i = 0; i < count; i++) cupti.EnableCallback(on, subscriber, domain, cbids[i]);
}

static bool needs_launches(void) { return captured_count > 0 || is_watched; }

static void enable_launches(bool on) {
    has_launches = on;
    enable(on, CUPTI_DOMAIN_DRIVER_API, ALL(LAUNCHES));
    if (!on) graphs_end_launches();
}

static void update_launches(void) {
    if (has_launches != needs_launches()) enable_launches(needs_launches());
}

void callbacks_begin(CUpti_SubscriberHandle begun) {
    pthread_mutex_lock(&lock);
    subscriber = begun;
    captured_count = 0;
    pthread_mutex_unlock(&lock);
}

void callbacks_enable(bool node_mode) {
    pthread_mutex_lock(&lock);
    enable(true, CUPTI_DOMAIN_RESOURCE, ALL(EVENTS));
    if (!node_mode) {
        enable(true, CUPTI_DOMAIN_DRIVER_API, ALL(GRAPH_CALLS));
        enable(true, CUPTI_DOMAIN_RESOURCE, ALL(GRAPH_EVENTS));
    }
    enable_launches(needs_launches());
    pthread_mutex_unlock(&lock);
}

bool callbacks_are_alive(void) {
    pthread_mutex_lock(&lock);
    CUptiResult result = cupti.EnableCallback(1, subscriber, CUPTI_DOMAIN_RESOURCE, EVENTS[0]);
    pthread_mutex_unlock(&lock);
    return result == CUPTI_SUCCESS;
}

void callbacks_watch(bool on) {
    pthread_mutex_lock(&lock);
    is_watched = on;
    update_launches();
    pthread_mutex_unlock(&lock);
}

/* ---- Captures ---- */

static const void *stream_of(const struct cupti_callback_data *data) {
    static _Thread_local const char of_this_thread;
    const void *stream = data->function_params ? *(void *const *)data->function_params : NULL;
    return (uintptr_t)stream > STREAM_PER_THREAD ? stream : &of_this_thread;
}

static void forget(const void *stream) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < captured_count; i++)
        if (captured[i] != stream) captured[kept++] = captured[i];
    captured_count = kept;
}

static void set_captured(const void *stream, bool on) {
    pthread_mutex_lock(&lock);
    forget(stream);
    if (on && captured_count < CAPTURES) captured[captured_count++] = stream;
    update_launches();
    pthread_mutex_unlock(&lock);
}

static void on_begin(const struct cupti_callback_data *data) {
    if (callback_result(data) == CUDA_SUCCESS) set_captured(stream_of(data), true);
}

/* Any other error ends a capture, too. */
static void on_end(const struct cupti_callback_data *data) {
    if (callback_result(data) != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) set_captured(stream_of(data), false);
}

bool callbacks_capture(uint32_t cbid, const struct cupti_callback_data *data) {
    switch (cbid) {
    case DRIVER_cuStreamBeginCapture:
    case DRIVER_cuStreamBeginCapture_ptsz:
    case DRIVER_cuStreamBeginCapture_v2:
    case DRIVER_cuStreamBeginCapture_v2_ptsz:
    case DRIVER_cuStreamBeginCaptureToGraph:
    case DRIVER_cuStreamBeginCaptureToGraph_ptsz:
    case DRIVER_cuStreamBeginRecaptureToGraph:
    case DRIVER_cuStreamBeginRecaptureToGraph_ptsz:
        if (data->site == CUPTI_API_EXIT) on_begin(data);
        return true;
    case DRIVER_cuStreamEndCapture:
    case DRIVER_cuStreamEndCapture_ptsz:
        if (data->site == CUPTI_API_EXIT) on_end(data);
        return true;
    default:
        return false;
    }
}

/* Enables and disables nothing: it is called in the callback of a resource. */
void callbacks_forget(const void *stream) {
    pthread_mutex_lock(&lock);
    forget(stream);
    pthread_mutex_unlock(&lock);
}
