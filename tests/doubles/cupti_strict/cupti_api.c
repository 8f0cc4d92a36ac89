/* Strict CUPTI: its start, its errors, its clock, and identifiers. */
#include "cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const struct strict_driver *cupti_driver;
_Atomic uint8_t cupti_kinds[KINDS], cupti_calls[CBIDS], cupti_resources[RESOURCES];
_Atomic uint8_t cupti_zeroed, cupti_per_thread = STRICT_CUPTI >= 1300;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local enum strict_inside alone;
static _Atomic(uint64_t (*)(void)) timestamp;
static pid_t process;
static bool skewed;
static _Atomic bool gone;

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
