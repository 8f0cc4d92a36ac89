/* The subscription: callbacks on the application's threads, and the calls that enable all of it. */
#include "subscription.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "../activity/overhead.h"
#include "../segment/segment.h"
#include "buffers.h"
#include "graphs.h"
#include "library.h"
#include "reasons.h"

#define NEVER UINT64_MAX
#define OUR_NAME "service"
#define HOLDER_NAME_SIZE 64

struct cupti cupti;

static CUpti_SubscriberHandle subscriber;
static bool in_node_mode;
static _Atomic bool is_stopped;
static _Atomic bool has_context;
static _Atomic uint64_t launches;
static _Atomic uint64_t ring_at; /* launches */

static const int KINDS[] = {
    CUPTI_KIND_CONTEXT, CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_KIND_MEMCPY,      CUPTI_KIND_MEMCPY2,
    CUPTI_KIND_MEMSET,  CUPTI_KIND_SYNCHRONIZATION,   CUPTI_KIND_GRAPH_TRACE, /* last: not in node mode */
};
static const uint32_t LAUNCHES[] = {
    DRIVER_cuLaunchKernel,   DRIVER_cuLaunchKernel_ptsz,   DRIVER_cuLaunchCooperativeKernel,
    DRIVER_cuLaunchKernelEx, DRIVER_cuLaunchKernelEx_ptsz, DRIVER_cuLaunchCooperativeKernel_ptsz,
    DRIVER_cuGraphLaunch,    DRIVER_cuGraphLaunch_ptsz,
};
static const uint32_t NODE_MAKERS[] = {
    DRIVER_cuGraphAddKernelNode, DRIVER_cuGraphAddKernelNode_v2, DRIVER_cuGraphAddChildGraphNode,
    DRIVER_cuGraphAddNode,       DRIVER_cuGraphAddNode_v2,
};
static const uint32_t EVENTS[] = {RESOURCE_CONTEXT_CREATED, RESOURCE_GRAPHNODE_CREATED};
static const uint32_t GRAPH_EVENTS[] = {
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

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- Callbacks, on the application's threads ---- */

/* Whether this thread is in a call that was counted as a launch. */
static _Thread_local bool in_counted_call;

/* Not a read-modify-write: a missed launch costs less than threads that compete for a cache line. */
static void count_launches(uint64_t change) {
    uint64_t count = atomic_load_explicit(&launches, memory_order_relaxed) + change;
    atomic_store_explicit(&launches, count, memory_order_relaxed);
    if (count < atomic_load_explicit(&ring_at, memory_order_relaxed)) return;
    atomic_store_explicit(&ring_at, NEVER, memory_order_relaxed);
    segment_ring();
}

static void on_driver_api(uint32_t cbid, const struct cupti_callback_data *data) {
    bool graph = cbid == DRIVER_cuGraphLaunch || cbid == DRIVER_cuGraphLaunch_ptsz;
    in_counted_call = data->site == CUPTI_API_ENTER;
    if (in_counted_call) count_launches(1);
    if (!graph && !in_node_mode) graphs_api(cbid, data);
}

static void on_resource(uint32_t cbid, const struct cupti_resource_data *data) {
    if (cbid == RESOURCE_CONTEXT_CREATED) {
        atomic_store(&has_context, true);
        segment_ring();
        return;
    }
    uint64_t start_ns = monotonic_ns();
    /* The call made a node of a graph, and leaves no record. */
    if (cbid == RESOURCE_GRAPHNODE_CREATED && in_counted_call) count_launches(-(uint64_t)1);
    if (cbid == RESOURCE_GRAPHNODE_CREATED) in_counted_call = false;
    if (data->descriptor && !in_node_mode) graphs_resource(&cupti, cbid, data->descriptor);
    overhead_add_since(start_ns);
}

static void on_callback(void *user, int domain, uint32_t cbid, const void *data) {
    (void)user;
    if (!data || atomic_load_explicit(&is_stopped, memory_order_relaxed)) return;
    int error = errno;
    if (domain == CUPTI_DOMAIN_DRIVER_API) on_driver_api(cbid, data);
    if (domain == CUPTI_DOMAIN_RESOURCE) on_resource(cbid, data);
    errno = error;
}

void subscription_stop(void) {
    atomic_store(&is_stopped, true);
    buffers_end();
}

bool subscription_is_stopped(void) { return atomic_load(&is_stopped); }

/* ---- Start ---- */

/* Gets the name of the tool that holds CUPTI, which a second subscription returns. */
static void name_holder(char *reason, size_t size) {
    static char holder[16 << 10]; /* in case the given size is ignored */
    struct cupti_subscriber_params params = {sizeof params, OUR_NAME, holder, HOLDER_NAME_SIZE};
    CUpti_SubscriberHandle second;
    holder[0] = '\0';
    if (cupti.Subscribe_v2 && cupti.Subscribe_v2(&second, on_callback, NULL, &params) == CUPTI_SUCCESS)
        cupti.Unsubscribe(second);
    holder[HOLDER_NAME_SIZE] = '\0';
    snprintf(reason, size, "CUPTI is held by another tool%s%s", holder[0] ? ": " : "", holder);
}

/* By the first version of the function: from 13.2 on its second version cannot be mixed with other first ones. */
static bool subscribe(char *reason, size_t size) {
    CUptiResult result = cupti.Subscribe(&subscriber, on_callback, NULL);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) name_holder(reason, size);
    else if (result != CUPTI_SUCCESS) reasons_explain(reason, size, "cuptiSubscribe", result);
    return result == CUPTI_SUCCESS;
}

static void enable_callbacks(int domain, const uint32_t *cbids, size_t count) {
    /* Errors are ignored: an old CUPTI does not know them all. */
    for (size_t i = 0; i < count; i++) cupti.EnableCallback(1, subscriber, domain, cbids[i]);
}

static void set_attributes(void) {
    uint8_t on = 1, off = 0;
    cupti.ActivitySetAttribute(CUPTI_ATTR_ZEROED_OUT_BUFFER, &(size_t){sizeof on}, &on);
    cupti.ActivitySetAttribute(CUPTI_ATTR_PER_THREAD_BUFFER, &(size_t){sizeof off}, &off);
}

static bool enable_kinds(char *reason, size_t size) {
    size_t count = LENGTH(KINDS) - in_node_mode;
    for (size_t i = 0; i < count; i++) {
        CUptiResult result = cupti.ActivityEnable(KINDS[i]);
        if (result == CUPTI_SUCCESS) continue;
        char call[64];
        snprintf(call, sizeof call, "cuptiActivityEnable(%d)", KINDS[i]);
        reasons_explain(reason, size, call, result);
        while (i-- > 0) cupti.ActivityDisable(KINDS[i]);
        return false;
    }
    if (cupti.ActivityEnableAllSyncRecords) cupti.ActivityEnableAllSyncRecords(0);
    return true;
}

/* Enables all but the subscription: another client, or the end of its session, may have disabled it. */
static bool enable(char *reason, size_t size) {
    enable_callbacks(CUPTI_DOMAIN_RESOURCE, EVENTS, LENGTH(EVENTS));
    enable_callbacks(CUPTI_DOMAIN_DRIVER_API, LAUNCHES, LENGTH(LAUNCHES));
    if (!in_node_mode) {
        enable_callbacks(CUPTI_DOMAIN_DRIVER_API, NODE_MAKERS, LENGTH(NODE_MAKERS));
        enable_callbacks(CUPTI_DOMAIN_RESOURCE, GRAPH_EVENTS, LENGTH(GRAPH_EVENTS));
    }
    set_attributes();
    CUptiResult result = cupti.ActivityRegisterCallbacks(buffers_request, buffers_complete);
    if (result == CUPTI_SUCCESS) return enable_kinds(reason, size);
    reasons_explain(reason, size, "cuptiActivityRegisterCallbacks", result);
    return false;
}

/* A process may fork while another thread is in a callback that holds the lock of graphs. */
static bool follow_forks(char *reason, size_t size) {
    if (pthread_atfork(NULL, NULL, graphs_forget) == 0) return true;
    snprintf(reason, size, "no memory to follow forks");
    return false;
}

bool subscription_start(bool node_mode, char *reason, size_t size) {
    in_node_mode = node_mode;
    if (!cupti_library_open(&cupti, reason, size) || !follow_forks(reason, size)) return false;
    if (!buffers_open()) {
        snprintf(reason, size, "no memory for CUPTI's buffers");
        return false;
    }
    return subscription_renew(false, reason, size);
}

bool subscription_has_begun(void) {
    return atomic_load(&has_context) || atomic_load(&launches) != 0 || buffers_activity() != 0;
}

/* ---- For the collector's thread ---- */

uint64_t subscription_launches(void) { return atomic_load(&launches); }

void subscription_ring_after(uint64_t more) { atomic_store(&ring_at, atomic_load(&launches) + more); }

bool subscription_is_alive(void) {
    return cupti.EnableCallback(1, subscriber, CUPTI_DOMAIN_DRIVER_API, DRIVER_cuLaunchKernel) == CUPTI_SUCCESS;
}

bool subscription_renew(bool alive, char *reason, size_t size) {
    if (!alive && !subscribe(reason, size)) return false;
    if (enable(reason, size)) return true;
    cupti.Unsubscribe(subscriber);
    return false;
}

uint8_t subscription_per_thread_attribute(void) {
    uint8_t value = 0;
    CUptiResult result = cupti.ActivityGetAttribute(CUPTI_ATTR_PER_THREAD_BUFFER, &(size_t){sizeof value}, &value);
    return result == CUPTI_SUCCESS ? value : 0;
}
