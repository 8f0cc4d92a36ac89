#define _GNU_SOURCE
#include "subscription.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "../activity/overhead.h"
#include "../segment/segment.h"
#include "buffers.h"
#include "cupti.h"
#include "graphs.h"
#include "library.h"
#include "records.h"

/* Checks with launches but no buffer asked for or returned. */
#define SILENT_CHECKS 3u
/* What CUPTI still has of ours comes back with the flushes until then, or it went to the other client. */
#define RECLAIM_CHECKS 10u
/* The bell rings after so many launches, if it is to ring at all. */
#define GLANCE_LAUNCHES 64u
#define NEVER UINT64_MAX
#define USURPED "another CUPTI client took over the activity buffers (torch.profiler does)"
#define OURS "service"
#define OLD_NAME_SIZE 64

static struct cupti cupti;
static CUpti_SubscriberHandle subscriber;
static bool in_node_mode;
static _Atomic bool inert;
static _Atomic bool begun;
static _Atomic uint64_t launches; /* but for captured ones; nearly */
static _Atomic uint64_t ring_at;

/* Another client, and what was seen at the last check. */
static struct {
    bool interrupted;
    bool theirs; /* its session is certainly under way: it has set the attribute */
    uint32_t silent;
    uint32_t reclaim_in; /* checks */
    uint64_t activity, launches;
} other;

static const int KINDS[] = {
    CUPTI_KIND_CONTEXT, CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_KIND_MEMCPY,
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

/* This thread is in a call that was counted as a launch. */
static _Thread_local bool in_counted_call;

/* Not a read-modify-write: a launch that is not counted matters less than a cache line fought for. */
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
        atomic_store(&begun, true);
        segment_ring();
        return;
    }
    uint64_t start = spent_now();
    /* It made a node, and leaves no record. */
    if (cbid == RESOURCE_GRAPHNODE_CREATED && in_counted_call) count_launches(-(uint64_t)1);
    if (cbid == RESOURCE_GRAPHNODE_CREATED) in_counted_call = false;
    if (data->descriptor && !in_node_mode) graphs_resource(&cupti, cbid, data->descriptor);
    spent_since(start);
}

static void on_callback(void *user, int domain, uint32_t cbid, const void *data) {
    (void)user;
    if (!data || atomic_load_explicit(&inert, memory_order_relaxed)) return;
    int error = errno;
    if (domain == CUPTI_DOMAIN_DRIVER_API) on_driver_api(cbid, data);
    if (domain == CUPTI_DOMAIN_RESOURCE) on_resource(cbid, data);
    errno = error;
}

void capture_stop(void) {
    atomic_store(&inert, true);
    buffers_end();
}

/* ---- Start ---- */

static void explain(char *reason, size_t size, const char *function, int kind, CUptiResult result) {
    int used = snprintf(reason, size, "%s", function);
    if (kind != 0) used += snprintf(reason + used, size - (size_t)used, "(%d)", kind);
    snprintf(reason + used, size - (size_t)used, " failed: CUPTI error %d%s", result,
             result == CUPTI_ERROR_NOT_INITIALIZED ? ": this libcupti is newer than the driver" : "");
}

/* Who has what we cannot have. */
static void name_holder(char *reason, size_t size) {
    static char holder[16 << 10]; /* were the size we tell not heeded */
    struct cupti_subscriber_params params = {sizeof params, OURS, holder, OLD_NAME_SIZE};
    CUpti_SubscriberHandle none;
    holder[0] = '\0';
    if (cupti.Subscribe_v2 && cupti.Subscribe_v2(&none, on_callback, NULL, &params) == CUPTI_SUCCESS)
        cupti.Unsubscribe(none);
    holder[OLD_NAME_SIZE] = '\0';
    snprintf(reason, size, "CUPTI is held by another tool%s%s", holder[0] ? ": " : "", holder);
}

/* The first version of the function: from 13.2 on the second one is for those who use no first ones. */
static bool subscribe(char *reason, size_t size) {
    CUptiResult result = cupti.Subscribe(&subscriber, on_callback, NULL);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) name_holder(reason, size);
    else if (result != CUPTI_SUCCESS) explain(reason, size, "cuptiSubscribe", 0, result);
    return result == CUPTI_SUCCESS;
}

static void enable_callbacks(int domain, const uint32_t *cbids, size_t count) {
    /* An old CUPTI does not know them all. */
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
        explain(reason, size, "cuptiActivityEnable", KINDS[i], result);
        while (i-- > 0) cupti.ActivityDisable(KINDS[i]);
        return false;
    }
    if (cupti.ActivityEnableAllSyncRecords) cupti.ActivityEnableAllSyncRecords(0);
    return true;
}

/* All that another client, or the end of its session, may have undone but for the subscription. */
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
    explain(reason, size, "cuptiActivityRegisterCallbacks", 0, result);
    return false;
}

static uint8_t per_thread_attribute(void);
static uint8_t per_thread_before;

bool capture_start(bool node_mode, char *reason, size_t size) {
    in_node_mode = node_mode;
    if (!cupti_library_open(&cupti, reason, size)) return false;
    if (!buffers_open()) {
        snprintf(reason, size, "no memory for CUPTI's buffers");
        return false;
    }
    if (!subscribe(reason, size)) return false;
    if (!enable(reason, size)) {
        cupti.Unsubscribe(subscriber);
        return false;
    }
    per_thread_before = per_thread_attribute();
    return true;
}

bool capture_has_begun(void) {
    return atomic_load(&begun) || atomic_load(&launches) != 0 || buffers_activity() != 0;
}

/* ---- Gathering ---- */

bool capture_read(void) {
    struct buffer buffer;
    if (!buffers_take(&buffer)) return false;
    records_read(&cupti, buffer);
    buffers_recycle(buffer);
    return true;
}

void capture_abandon(void) {
    struct buffer buffer;
    while (buffers_take(&buffer)) records_lost(buffer.valid / BUFFER_RECORD);
}

void capture_flush(bool all) {
    /* Its records are not ours to cut. */
    if (other.interrupted) all = false;
    cupti.ActivityFlushAll(all ? CUPTI_FLUSH_FORCED : CUPTI_FLUSH_COMPLETE);
    size_t dropped = 0;
    if (cupti.ActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS) records_lost(dropped);
}

/* ---- Another client ---- */

/* 0 where it cannot be known. */
static uint8_t per_thread_attribute(void) {
    uint8_t value = 0;
    CUptiResult result = cupti.ActivityGetAttribute(CUPTI_ATTR_PER_THREAD_BUFFER, &(size_t){sizeof value}, &value);
    return result == CUPTI_SUCCESS ? value : 0;
}

static void interrupt(void) {
    if (other.interrupted) return;
    other.interrupted = true;
    other.reclaim_in = 0;
    buffers_lose();
    segment_state(SEGMENT_INTERRUPTED, USURPED);
}

static void go_on(void) {
    memset(&other, 0, sizeof other);
    other.activity = buffers_activity();
    other.launches = atomic_load(&launches);
    segment_state(SEGMENT_CAPTURING, NULL);
}

static void resume(bool subscribed) {
    char reason[512];
    if (!subscribed && !subscribe(reason, sizeof reason)) return segment_state(SEGMENT_INTERRUPTED, reason);
    if (enable(reason, sizeof reason)) {
        go_on();
        other.reclaim_in = RECLAIM_CHECKS;
        return;
    }
    cupti.Unsubscribe(subscriber);
    segment_state(SEGMENT_INTERRUPTED, reason);
}

void capture_glance(void) {
    bool set = per_thread_attribute() != per_thread_before;
    if (set) {
        other.theirs = true;
        interrupt();
    } else if (other.theirs) {
        resume(true);
    }
    atomic_store(&ring_at, atomic_load(&launches) + GLANCE_LAUNCHES);
}

static bool is_subscribed(void) {
    return cupti.EnableCallback(1, subscriber, CUPTI_DOMAIN_DRIVER_API, DRIVER_cuLaunchKernel) == CUPTI_SUCCESS;
}

static void look_for_silence(void) {
    uint64_t activity = buffers_activity(), launched = atomic_load(&launches);
    bool silent = activity == other.activity;
    bool launching = launched != other.launches;
    other.activity = activity;
    other.launches = launched;
    if (!silent && other.interrupted) return go_on();
    if (!silent) other.silent = 0;
    else if (launching && ++other.silent >= SILENT_CHECKS) interrupt();
}

void capture_check(void) {
    capture_glance();
    if (other.theirs) return;
    if (other.reclaim_in > 0 && --other.reclaim_in == 0) buffers_reclaim();
    bool silent = buffers_activity() == other.activity;
    if (silent && !is_subscribed()) {
        interrupt();
        return resume(false);
    }
    look_for_silence();
}
