/* The subscription: callbacks on the application's threads, and the calls that enable all of it. */
#include "subscription.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "../activity/overhead.h"
#include "../activity/symbols.h"
#include "../segment/segment.h"
#include "buffers.h"
#include "callbacks.h"
#include "graphs.h"
#include "launches.h"
#include "library.h"
#include "reasons.h"

#define OUR_NAME "service"
#define HOLDER_NAME_SIZE 64

struct cupti cupti;

static CUpti_SubscriberHandle subscriber;
static bool in_node_mode;
static _Atomic bool is_stopped;
static _Atomic bool has_context;

static const int KINDS[] = {
    CUPTI_KIND_CONTEXT, CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_KIND_MEMCPY,      CUPTI_KIND_MEMCPY2,
    CUPTI_KIND_MEMSET,  CUPTI_KIND_SYNCHRONIZATION,   CUPTI_KIND_GRAPH_TRACE, /* last: not in node mode */
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- Callbacks, on the application's threads ---- */

static void on_driver_api(uint32_t cbid, const struct cupti_callback_data *data) {
    if (callbacks_capture(cbid, data)) return;
    bool graph = cbid == DRIVER_cuGraphLaunch || cbid == DRIVER_cuGraphLaunch_ptsz;
    launches_api(data);
    if (!graph && !in_node_mode) graphs_api(cbid, data);
}

static void on_resource(uint32_t cbid, const struct cupti_resource_data *data) {
    if (cbid == RESOURCE_STREAM_DESTROY_STARTING) return callbacks_forget(data->handle);
    if (cbid == RESOURCE_MODULE_LOADED) {
        symbols_module_loaded();
        return;
    }
    if (cbid == RESOURCE_CONTEXT_CREATED) {
        atomic_store(&has_context, true);
        segment_ring();
        return;
    }
    uint64_t start_ns = monotonic_ns();
    if (cbid == RESOURCE_GRAPHNODE_CREATED) launches_made_node();
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
    else callbacks_begin(subscriber);
    return result == CUPTI_SUCCESS;
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
    callbacks_enable(in_node_mode);
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
    uint32_t version;
    bool may_decline = cupti.GetVersion(&version) == CUPTI_SUCCESS && version >= CUPTI_VERSION_12_9;
    if (!buffers_open(may_decline)) {
        snprintf(reason, size, "no memory for CUPTI's buffers");
        return false;
    }
    return subscription_renew(false, reason, size);
}

bool subscription_has_begun(void) {
    return atomic_load(&has_context) || buffers_activity() != 0;
}

/* ---- For the collector's thread ---- */

bool subscription_renew(bool alive, char *reason, size_t size) {
    if (!alive && !subscribe(reason, size)) return false;
    if (enable(reason, size)) return true;
    cupti.Unsubscribe(subscriber);
    return false;
}

bool subscription_per_thread_attribute(uint8_t *value) {
    return cupti.ActivityGetAttribute(CUPTI_ATTR_PER_THREAD_BUFFER, &(size_t){sizeof *value}, value) == CUPTI_SUCCESS;
}
