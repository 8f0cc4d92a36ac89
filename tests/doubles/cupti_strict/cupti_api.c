/* Strict CUPTI: the activity interface, and what it refuses. */
#include "cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ATTRIBUTE_ZEROED = 5, ATTRIBUTE_PER_THREAD = 9, ATTRIBUTES = 25 };

const struct strict_driver *cupti_driver;
_Atomic uint8_t cupti_kinds[KINDS], cupti_calls[CBIDS], cupti_resources[RESOURCES];
_Atomic uint8_t cupti_zeroed, cupti_per_thread = STRICT_CUPTI >= 1300;

int cupti_subscribers(void);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local enum strict_inside alone;
static _Atomic(uint64_t (*)(void)) timestamp;
static pid_t process;
static bool skewed;
static _Atomic bool gone;
static size_t sizes[ATTRIBUTES];

static uint64_t cupti_records_read(void);

static struct strict_hooks hooks = {
    cupti_now, cupti_kinds, cupti_calls, cupti_resources,
    cupti_record, cupti_tell_call, cupti_tell_resource, cupti_dropped,
    cupti_records_read,
};

uint64_t cupti_now(void)
{
    uint64_t (*callback)(void) = timestamp;
    if (callback)
        return callback();
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static enum strict_inside *inside(void)
{
    return cupti_driver ? cupti_driver->inside() : &alone;
}

enum strict_inside cupti_inside(void)
{
    return *inside();
}

enum strict_inside cupti_set_inside(enum strict_inside now)
{
    enum strict_inside *at = inside(), before = *at;
    *at = now;
    return before;
}

__attribute__((destructor)) static void leave(void)
{
    gone = true;
}

static void start(void)
{
    process = getpid();
    strict_checks = strict_number("STRICT_CHECKS", 1);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver)
        return;
    int version = 0;
    ((int (*)(int *))dlsym(driver, "cuDriverGetVersion"))(&version);
    /* A newer minor version works on the driver of its major version. */
    skewed = version / 1000 < STRICT_CUPTI / 100;
    cupti_driver = ((strict_install_function *)dlsym(driver, "strict_install"))(&hooks);
    cupti_start_workers();
    cupti_start_delivery();
}

/* Error that STRICT_FAIL names for the function, or for it with this argument. */
static CUptiResult asked_failure(const char *function, int argument)
{
    const char *list = getenv("STRICT_FAIL");
    for (const char *at = list; at && (at = strstr(at, function)); at++) {
        const char *after = at + strlen(function);
        if (*after == ':') {
            char *end;
            if (strtol(after + 1, &end, 10) != argument)
                continue;
            after = end;
        }
        if (*after == '=')
            return atoi(after + 1);
    }
    return CUPTI_SUCCESS;
}

CUptiResult cupti_enter(const char *function, int argument)
{
    pthread_once(&once, start);
    if (process != getpid())
        strict_misuse("%s called in the child of a fork", function);
    if (gone)
        strict_misuse("%s called after CUPTI's end", function);
    CUptiResult failure = asked_failure(function, argument);
    if (failure)
        return failure;
    if (!cupti_driver)
        return CUPTI_ERROR_UNKNOWN;
    if (strict_checks)
        cupti_driver->check_locks(function);
    return skewed ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_SUCCESS;
}

bool cupti_any_enabled(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (cupti_kinds[kind])
            return true;
    }
    return false;
}

STRICT_API CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = STRICT_CUPTI == 1208 ? 26 : STRICT_CUPTI == 1209 ? 28
               : (uint32_t)(STRICT_CUPTI / 100 * 10000 + STRICT_CUPTI % 100 * 100);
    return CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiGetTimestamp(uint64_t *now_ns)
{
    *now_ns = cupti_now();
    return CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    static const struct {
        CUptiResult result;
        const char *text;
    } names[] = {
        {0, "CUPTI_SUCCESS"},
        {1, "CUPTI_ERROR_INVALID_PARAMETER"},
        {7, "CUPTI_ERROR_INVALID_OPERATION"},
        {12, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
        {15, "CUPTI_ERROR_NOT_INITIALIZED"},
        {21, "CUPTI_ERROR_INVALID_KIND"},
        {27, "CUPTI_ERROR_NOT_SUPPORTED"},
        {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
        {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
        {999, "CUPTI_ERROR_UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].result == result) {
            *text = names[i].text;
            return CUPTI_SUCCESS;
        }
    }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

STRICT_API CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **text)
{
    return cuptiGetResultString(result, text);
}

STRICT_API CUptiResult cuptiActivityRegisterCallbacks(request_function *request,
                                                      complete_function *complete)
{
    CUptiResult error = cupti_enter("cuptiActivityRegisterCallbacks", -1);
    if (error && (error != CUPTI_ERROR_UNKNOWN || cupti_driver))
        return error;
    if (!request || !complete)
        return CUPTI_ERROR_INVALID_PARAMETER;
    cupti_register(request, complete);
    return CUPTI_SUCCESS;
}

static CUptiResult set_kind(const char *function, uint32_t kind, uint8_t on)
{
    CUptiResult error = cupti_enter(function, (int)kind);
    if (error)
        return error;
    if (!kind || kind >= KINDS)
        return CUPTI_ERROR_INVALID_KIND;
    cupti_kinds[kind] = on;
    return CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiActivityEnable(uint32_t kind)
{
    return set_kind("cuptiActivityEnable", kind, 1);
}

STRICT_API CUptiResult cuptiActivityDisable(uint32_t kind)
{
    return set_kind("cuptiActivityDisable", kind, 0);
}

STRICT_API CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    CUptiResult error = cupti_enter("cuptiActivityFlushAll", (int)flag);
    if (error)
        return error;
    enum strict_inside within = cupti_inside();
    if (within == INSIDE_REQUEST || within == INSIDE_COMPLETE || within == INSIDE_RESOURCE)
        strict_fatal("cuptiActivityFlushAll called inside a callback that may not call it");
    if (!cupti_is_registered())
        return CUPTI_ERROR_INVALID_OPERATION;
    cupti_close_lanes(flag == 1);
    if (cupti_delivers_inline())
        cupti_deliver_queued();
    else if (!cupti_delivers_late())
        cupti_wait_for_delivery();
    return CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiActivityFlushPeriod(uint32_t period_ms)
{
    return cupti_enter("cuptiActivityFlushPeriod", (int)period_ms);
}

STRICT_API CUptiResult cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream,
                                                         size_t *count)
{
    (void)context, (void)stream;
    CUptiResult error = cupti_enter("cuptiActivityGetNumDroppedRecords", -1);
    if (error && (error != CUPTI_ERROR_UNKNOWN || cupti_driver))
        return error;
    bool completes = cupti_inside() == INSIDE_COMPLETE;
    if (!completes)
        cupti_lock_delivery();
    uint64_t dropped = cupti_take_dropped();
    if (!completes)
        cupti_unlock_delivery();
    /* Graphsignal asks with NULL. */
    if (!count)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *count = dropped;
    return CUPTI_SUCCESS;
}

static _Atomic uint64_t records_read;

static uint64_t cupti_records_read(void)
{
    return records_read;
}

/* The record that the thread was given last: the only one it may go on from. */
static _Thread_local struct {
    const uint8_t *buffer, *record;
} read_last;

STRICT_API CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record)
{
    if (!buffer || !record)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (strict_checks) {
        if (!*record && cupti_owns(buffer))
            strict_misuse("cuptiActivityGetNextRecord of a buffer that CUPTI has");
        if (*record && (read_last.buffer != buffer || read_last.record != *record))
            strict_misuse("cuptiActivityGetNextRecord after a record that it did not give");
    }
    uint8_t *next = *record ? *record + cupti_record_size(*(uint32_t *)*record) : buffer;
    if (next >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    if (!cupti_record_size(*(uint32_t *)next))
        return CUPTI_ERROR_INVALID_KIND;
    *record = next;
    /* One thread reads at a time: no need of a locked addition. */
    atomic_store_explicit(&records_read, records_read + 1, memory_order_relaxed);
    if (strict_checks) {
        read_last.buffer = buffer;
        read_last.record = next;
    }
    return CUPTI_SUCCESS;
}

static size_t attribute_size(uint32_t attribute)
{
    return attribute == ATTRIBUTE_ZEROED || attribute == ATTRIBUTE_PER_THREAD || attribute == 8
               ? 1 : sizeof(size_t);
}

STRICT_API CUptiResult cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
    CUptiResult error = cupti_enter("cuptiActivitySetAttribute", (int)attribute);
    if (error)
        return error;
    if (!size || !value || attribute >= ATTRIBUTES)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (*size < attribute_size(attribute))
        return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    if (attribute == ATTRIBUTE_ZEROED)
        cupti_zeroed = *(uint8_t *)value;
    else if (attribute == ATTRIBUTE_PER_THREAD) {
        if (cupti_is_registered() || cupti_any_enabled())
            strict_misuse("buffers per thread chosen after callbacks were registered");
        cupti_per_thread = *(uint8_t *)value;
    } else {
        memcpy(&sizes[attribute], value, attribute_size(attribute));
    }
    return CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiActivityGetAttribute(uint32_t attribute, size_t *size, void *value)
{
    CUptiResult error = cupti_enter("cuptiActivityGetAttribute", (int)attribute);
    if (error)
        return error;
    if (!size || !value || attribute >= ATTRIBUTES)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (*size < attribute_size(attribute))
        return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    *size = attribute_size(attribute);
    if (attribute == ATTRIBUTE_ZEROED)
        *(uint8_t *)value = cupti_zeroed;
    else if (attribute == ATTRIBUTE_PER_THREAD)
        *(uint8_t *)value = cupti_per_thread;
    else
        memcpy(value, &sizes[attribute], *size);
    return CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiActivityRegisterTimestampCallback(uint64_t (*callback)(void))
{
    CUptiResult error = cupti_enter("cuptiActivityRegisterTimestampCallback", -1);
    if (error)
        return error;
    if (!callback)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (cupti_any_enabled())
        strict_misuse("timestamp callback registered after kinds were enabled");
    timestamp = callback;
    return CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t on)
{
    return cupti_enter("cuptiActivityEnableAllSyncRecords", on);
}

STRICT_API CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t on)
{
    return cupti_enter("cuptiActivityEnableLatencyTimestamps", on);
}

STRICT_API CUptiResult cuptiGetContextId(struct strict_context *context, uint32_t *id)
{
    *id = context ? context->id : 0;
    return context ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

STRICT_API CUptiResult cuptiGetDeviceId(struct strict_context *context, uint32_t *id)
{
    *id = context ? context->device : 0;
    return context ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

STRICT_API CUptiResult cuptiGetGraphId(const struct strict_graph *graph, uint32_t *id)
{
    *id = cupti_driver->graph_id(graph);
    return CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiGetGraphExecId(const struct strict_exec *exec, uint32_t *id)
{
    *id = cupti_driver->exec_id(exec);
    return CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiGetGraphNodeId(const struct strict_node *node, uint64_t *id)
{
    *id = cupti_driver->node_id(node);
    return CUPTI_SUCCESS;
}

/* Waits for all devices and stops everything: safe only where a call of the driver ends. */
STRICT_API CUptiResult cuptiFinalize(void)
{
    CUptiResult error = cupti_enter("cuptiFinalize", -1);
    if (error && (error != CUPTI_ERROR_UNKNOWN || cupti_driver))
        return error;
    if (cupti_driver && cupti_inside() != INSIDE_API_EXIT)
        strict_misuse("cuptiFinalize called outside the exit callback of a call");
    if (cupti_subscribers() > 1)
        return CUPTI_SUCCESS;
    for (int kind = 0; kind < KINDS; kind++)
        cupti_kinds[kind] = 0;
    for (int cbid = 0; cbid < CBIDS; cbid++)
        cupti_calls[cbid] = 0;
    for (int cbid = 0; cbid < RESOURCES; cbid++)
        cupti_resources[cbid] = 0;
    return CUPTI_SUCCESS;
}
