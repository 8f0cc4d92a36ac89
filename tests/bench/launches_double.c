/* The driver and CUPTI, as far as a launch needs them: built as libcupti.so.13. */
#include <stdatomic.h>
#include <string.h>

#include "../../ffi/cuda/cupti.h"
#include "launches.h"

enum { DOMAINS = 8, CALLBACKS = 1024, RECORD = 216, VERSION = 130000 };

static CUpti_CallbackFunc subscriber;
static _Atomic uint8_t enabled[DOMAINS][CALLBACKS];
static uint8_t buffer_of_none[4096];

/* ---- CUPTI: without a profiler its records go nowhere ---- */

static void lend_none(uint8_t **buffer, size_t *size, size_t *records) {
    *buffer = buffer_of_none;
    *size = sizeof buffer_of_none;
    *records = 0;
}

static void take_none(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    (void)context, (void)stream, (void)buffer, (void)size, (void)valid;
}

static cupti_buffer_requested requested = lend_none;
static cupti_buffer_completed completed = take_none;

CUptiResult cuptiGetVersion(uint32_t *version) {
    *version = VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc function, void *user) {
    (void)user;
    *handle = &subscriber;
    subscriber = function;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) { return (void)handle, CUPTI_SUCCESS; }

CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle handle, int domain, uint32_t cbid) {
    (void)handle;
    atomic_store(&enabled[domain][cbid], on != 0);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(cupti_buffer_requested request, cupti_buffer_completed complete) {
    requested = request;
    completed = complete;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(int kind) { return (void)kind, CUPTI_SUCCESS; }

CUptiResult cuptiActivityDisable(int kind) { return (void)kind, CUPTI_SUCCESS; }

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record) {
    if (*record || valid < RECORD) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = buffer;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped) {
    (void)context, (void)stream;
    *dropped = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) { return (void)flag, CUPTI_SUCCESS; }

CUptiResult cuptiActivityGetAttribute(int which, size_t *size, void *value) {
    (void)which;
    memset(value, 0, *size);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(int which, size_t *size, void *value) {
    (void)which, (void)size, (void)value;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphId(void *graph, uint32_t *id) {
    (void)graph;
    *id = 1;
    return CUPTI_SUCCESS;
}

bool double_is_profiled(void) { return requested != lend_none; }

/* ---- The driver ---- */

static inline void call_back(uint32_t site, const void *params) {
    if (!atomic_load_explicit(&enabled[CUPTI_DOMAIN_DRIVER_API][DRIVER_cuLaunchKernel], memory_order_relaxed)) return;
    struct cupti_callback_data data = {site, "cuLaunchKernel", params, NULL, "kernel"};
    subscriber(NULL, CUPTI_DOMAIN_DRIVER_API, DRIVER_cuLaunchKernel, &data);
}

void double_launch(volatile uint64_t queue[8], uint64_t number) {
    call_back(CUPTI_API_ENTER, (const void *)queue);
    for (uint64_t i = 0; i < 8; i++) queue[i] = number + i;
    call_back(CUPTI_API_EXIT, (const void *)queue);
}

void double_record(void) {
    uint8_t *buffer;
    size_t size, records;
    requested(&buffer, &size, &records);
    memset(buffer, 0, RECORD);
    buffer[RECORD_KIND] = CUPTI_KIND_CONCURRENT_KERNEL;
    completed(NULL, 0, buffer, size, RECORD);
}
