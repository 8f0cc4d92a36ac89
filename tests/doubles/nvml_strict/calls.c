/* The path that all calls take: initialization, handle, failures, latency, hangs, ledger. */

#include "double.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The CUDA that each generation came with. */
enum { CUDA = DRIVER >= 615   ? 13050 : DRIVER >= 580 ? 13000 : DRIVER >= 575 ? 12090
              : DRIVER >= 550 ? 12040 : DRIVER >= 535 ? 12020 : 11040 };

struct machine machine = { .gpm_refresh_ms = 100, .cuda_version = CUDA };

static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
/* What the driver locks while it answers: a slow call delays those of other threads. */
static pthread_mutex_t driver = PTHREAD_MUTEX_INITIALIZER;
static pid_t owner;
static int in_flight;

void lock_state(void) { pthread_mutex_lock(&state); }
void unlock_state(void) { pthread_mutex_unlock(&state); }

int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

uint32_t noise(void) {
    static uint32_t seed = 2463534242;
    seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
    return seed;
}

void fill_with_noise(void *at, size_t size) {
    for (size_t index = 0; index < size; index++) ((unsigned char *)at)[index] = 0x80 | noise();
}

static void sleep_ns(int64_t duration_ns) {
    if (duration_ns <= 0) return;
    struct timespec time = { duration_ns / 1000000000, duration_ns % 1000000000 };
    nanosleep(&time, NULL);
}

static void begin(struct call *call, const char *function) {
    *call = (struct call){ .function = function, .start_ns = now_ns(), .instance = -1 };
    lock_state();
    in_flight++;
    read_script();
    if (machine.initialized == 0) owner = getpid();
    if (owner != getpid()) fatal("%s in the child of a fork", function);
}

/* Takes the time that the script gives the call; false: it fails. */
static bool spend(struct call *call) {
    int gpu = call->gpu ? (int)(call->gpu - machine.gpus) : -1;
    bool locked = false, hanging = hangs(gpu, call->function, &locked);
    int64_t latency = latency_ns(call->function);
    if (!hanging && latency == 0) return true;
    if (hanging) book("hanging", "%s %d", call->function, gpu);
    unsigned epoch = machine.epoch;
    unlock_state();
    // A hang holds the lock only if the script says so: then it stops all other calls too.
    bool holding = !hanging || locked;
    if (holding) pthread_mutex_lock(&driver);
    sleep_ns(latency);
    while (hanging) {
        sleep_ns(5000000);
        lock_state();
        read_script();
        hanging = hangs(gpu, call->function, &locked);
        unlock_state();
    }
    if (holding) pthread_mutex_unlock(&driver);
    lock_state();
    if (epoch == machine.epoch || machine.initialized == 0) return true;
    call->result = NVML_ERROR_UNINITIALIZED;
    return false;
}

static bool is_ready(struct call *call) {
    if (machine.initialized == 0) {
        misuse("%s before nvmlInit or after nvmlShutdown", call->function);
        call->result = NVML_ERROR_UNINITIALIZED;
    } else if (machine.driver_down && !strstr(call->function, "Free")) {
        // What is freed is the library's own.
        call->result = machine.driver_down;
    }
    return call->result == NVML_SUCCESS;
}

bool enter_uninitialized(struct call *call, const char *function) {
    begin(call, function);
    if (!spend(call)) return false;
    call->result = failure_of(-1, -1, function);
    return call->result == NVML_SUCCESS;
}

bool enter(struct call *call, const char *function) {
    begin(call, function);
    if (!is_ready(call) || !spend(call)) return false;
    call->result = failure_of(-1, -1, function);
    return call->result == NVML_SUCCESS;
}

bool enter_device(struct call *call, const char *function, nvmlDevice_t handle) {
    begin(call, function);
    if (!is_ready(call)) return false;
    if (!handle) {
        misuse("%s without a device", function);
        call->result = NVML_ERROR_INVALID_ARGUMENT;
        return false;
    }
    struct nvmlDevice_st *device = check_handle(handle, function);
    call->gpu = &machine.gpus[device->gpu];
    call->instance = device->instance;
    call->subject =
        device->instance < 0 ? &call->gpu->self : &call->gpu->instances[device->instance];
    if (!spend(call)) return false;
    call->result = machine.driver_down ? machine.driver_down : call->gpu->failure;
    // The instances changed: the handle of one that was there before means nothing now.
    if (call->result == 0 && device->instance >= 0 && device->partition != call->gpu->partition) {
        call->result = NVML_ERROR_INVALID_ARGUMENT;
    }
    if (call->result == 0) call->result = failure_of(device->gpu, device->instance, function);
    return call->result == NVML_SUCCESS;
}

bool pause_call(struct call *call, int64_t duration_ns) {
    unsigned epoch = machine.epoch;
    unlock_state();
    sleep_ns(duration_ns);
    lock_state();
    read_script();
    if (epoch == machine.epoch && machine.initialized > 0) return true;
    misuse("nvmlShutdown during %s", call->function);
    return false;
}

nvmlReturn_t leave(struct call *call, unsigned result) {
    in_flight--;
    call->result = result;
    if (strcmp(call->function, "nvmlShutdown") == 0 && machine.initialized == 0 && in_flight > 0) {
        misuse("nvmlShutdown during %d other calls", in_flight);
    }
    book_call(call, now_ns());
    unlock_state();
    return result;
}
