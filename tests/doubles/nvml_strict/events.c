/* Sets of events. A queue holds few: what comes when it is full is lost. */

#include "double.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SETS = 16 };

struct nvmlEventSet_st {
    unsigned epoch;
    bool open;
    int waiters, head, count;
    uint64_t types[GPUS];
    struct {
        int gpu;
        uint64_t type, data;
        unsigned gi, ci;
    } queue[EVENTS];
};

static struct nvmlEventSet_st sets[SETS];
static int set_count;

int open_event_sets(void) {
    int open = 0;
    for (int set = 0; set < set_count; set++) open += sets[set].open && sets[set].epoch == machine.epoch;
    return open;
}

/* Waiters look each few milliseconds: see nvmlEventSetWait_v2. */
void wake_waiters(void) {}

void add_event(int gpu, uint64_t type, uint64_t data, unsigned gi, unsigned ci) {
    for (int index = 0; index < set_count; index++) {
        struct nvmlEventSet_st *set = &sets[index];
        if (!set->open || set->epoch != machine.epoch || !(set->types[gpu] & type) || set->count == EVENTS) continue;
        int at = (set->head + set->count++) % EVENTS;
        set->queue[at].gpu = gpu;
        set->queue[at].type = type;
        set->queue[at].data = data;
        set->queue[at].gi = gi;
        set->queue[at].ci = ci;
    }
}

static void check_set(nvmlEventSet_t set, const char *function) {
    if (set < sets || set >= sets + set_count) fatal("%s with a pointer that is no event set", function);
    if (set->epoch != machine.epoch) fatal("%s with an event set of an earlier initialization", function);
    if (!set->open) fatal("%s with an event set that was freed", function);
}

EXPORT nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set) {
    CALL(call);
    if (!set) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (set_count == SETS) fatal("more than %d event sets", SETS);
    *set = &sets[set_count++];
    (*set)->epoch = machine.epoch;
    (*set)->open = true;
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
    CALL(call);
    if (!set) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    check_set(set, __func__);
    if (set->waiters > 0) fatal("nvmlEventSetFree while a thread waits");
    set->open = false;
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *types) {
    DEVICE_CALL(call, device);
    if (!types) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    *types = call.instance < 0 ? value_or(call.subject, "events", 0) : 0;
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, nvmlEventSet_t set) {
    DEVICE_CALL(call, device);
    if (!set || types == 0) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    check_set(set, __func__);
    // One type that is not supported: none is registered.
    if (call.instance >= 0 || (types & ~value_or(call.subject, "events", 0))) {
        return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    }
    set->types[call.gpu - machine.gpus] |= types;
    return leave(&call, NVML_SUCCESS);
}

static bool has_lost_gpu(nvmlEventSet_t set) {
    for (int gpu = 0; gpu < machine.gpu_count; gpu++) {
        if (set->types[gpu] && machine.gpus[gpu].failure == NVML_ERROR_GPU_IS_LOST) return true;
    }
    return false;
}

static nvmlReturn_t wait(struct call *call, nvmlEventSet_t set, nvmlEventData_t *data, unsigned timeout_ms) {
    const int64_t step_ns = 2000000;
    if (!set || !data) return leave(call, NVML_ERROR_INVALID_ARGUMENT);
    check_set(set, call->function);
    fill_with_noise(data, sizeof *data);
    int64_t deadline_ns = now_ns() + timeout_ms * INT64_C(1000000);
    if (machine.early_waits > 0) machine.early_waits--, deadline_ns = now_ns();
    set->waiters++;
    while (set->count == 0) {
        unsigned result = machine.driver_down ? machine.driver_down : has_lost_gpu(set) ? NVML_ERROR_GPU_IS_LOST : 0;
        int64_t left_ns = deadline_ns - now_ns();
        if (result == 0 && left_ns <= 0) result = NVML_ERROR_TIMEOUT;
        if (result == 0 && !pause_call(call, left_ns < step_ns ? left_ns : step_ns)) result = NVML_ERROR_UNINITIALIZED;
        if (result == 0) continue;
        set->waiters--;
        return leave(call, result);
    }
    set->waiters--;
    int at = set->head;
    set->head = (at + 1) % EVENTS;
    set->count--;
    data->device = handle_of(set->queue[at].gpu, -1);
    data->eventType = set->queue[at].type;
    data->eventData = set->queue[at].data;
    data->gpuInstanceId = set->queue[at].gi;
    data->computeInstanceId = set->queue[at].ci;
    return leave(call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeout_ms) {
    CALL(call);
    return wait(&call, set, data, timeout_ms);
}
