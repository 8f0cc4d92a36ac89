/* Strict driver: start, devices, contexts and streams. */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_DEVICES = 16 };

_Atomic(struct strict_hooks *) strict_hooks;
_Thread_local enum strict_inside strict_inside;

static _Thread_local struct strict_context *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct strict_context *primary[MAX_DEVICES];
static uint32_t last_context, last_stream = 6;
static uint32_t devices = 1;
static bool initialized;
static uint64_t clock_every = 1;

static enum strict_inside *inside_of_thread(void)
{
    return &strict_inside;
}

struct strict_context *strict_current(void)
{
    return current;
}

STRICT_API const struct strict_driver *strict_install(struct strict_hooks *hooks)
{
    static const struct strict_driver driver = {
        inside_of_thread, strict_current, strict_node_id, strict_graph_id, strict_exec_id,
        strict_check_locks,
    };
    atomic_store_explicit(&strict_hooks, hooks, memory_order_release);
    return &driver;
}

/* Records that had no room, since the start. */
STRICT_API uint64_t strictGetDropped(void)
{
    struct strict_hooks *hooks = atomic_load(&strict_hooks);
    return hooks ? hooks->dropped() : 0;
}

/* Records that the profiler read, since the start. */
STRICT_API uint64_t strictGetRead(void)
{
    struct strict_hooks *hooks = atomic_load(&strict_hooks);
    return hooks ? hooks->read() : 0;
}

/* Identifiers in blocks: no line of memory that all launching threads write. */
uint32_t next_correlation(void)
{
    enum { BLOCK = 1024 };
    static _Atomic uint32_t blocks;
    static _Thread_local uint32_t next, last;
    if (next == last) {
        next = atomic_fetch_add_explicit(&blocks, BLOCK, memory_order_relaxed);
        last = next + BLOCK;
    }
    return ++next;
}

STRICT_API CUresult cuInit(unsigned int flags)
{
    (void)flags;
    pthread_mutex_lock(&lock);
    bool first = !initialized;
    initialized = true;
    pthread_mutex_unlock(&lock);
    if (!first)
        return CUDA_SUCCESS;
    strict_checks = strict_number("STRICT_CHECKS", 1);
    devices = (uint32_t)strict_number("STRICT_DEVICES", 1);
    clock_every = strict_number("STRICT_CLOCK_EVERY", 1);
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (path && *path) {
        void *tool = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        int (*start)(void) = tool ? (int (*)(void))dlsym(tool, "InitializeInjection") : NULL;
        if (!start)
            fprintf(stderr, "strict driver: %s\n", dlerror());
        else
            start();
    }
    tell_resource(RESOURCE_CU_INIT_FINISHED, NULL, NULL);
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuDriverGetVersion(int *version)
{
    *version = (int)strict_number("STRICT_DRIVER", 13050);
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuDeviceGetCount(int *count)
{
    *count = (int)devices;
    return initialized ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

STRICT_API CUresult cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal >= 0 && ordinal < (int)devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

STRICT_API CUresult cuDeviceGetName(char *name, int size, int device)
{
    forbid_inside("cuDeviceGetName");
    snprintf(name, (size_t)size, "Strict GPU %d", device);
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
    forbid_inside("cuDeviceGetUuid_v2");
    for (int i = 0; i < 16; i++)
        uuid[i] = (unsigned char)(0x50 + i);
    uuid[15] = (unsigned char)device;
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuDeviceGetUuid(unsigned char uuid[16], int device)
{
    return cuDeviceGetUuid_v2(uuid, device);
}

STRICT_API CUresult cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 39 ? 2048 : attribute == 75 ? 9 : attribute == 76 ? 0 : 65536;
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuDeviceGetPCIBusId(char *id, int size, int device)
{
    snprintf(id, (size_t)size, "0000:%02x:00.0", device + 1);
    return CUDA_SUCCESS;
}

static struct strict_stream *new_stream(struct strict_context *context)
{
    struct strict_stream *stream = calloc(1, sizeof *stream);
    pthread_mutex_lock(&lock);
    stream->id = ++last_stream;
    pthread_mutex_unlock(&lock);
    stream->context = context;
    return stream;
}

STRICT_API CUresult cuDevicePrimaryCtxRetain(void **context, int device)
{
    forbid_inside("cuDevicePrimaryCtxRetain");
    if (device < 0 || device >= (int)devices)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    struct strict_context *made = primary[device];
    bool is_new = !made;
    if (is_new) {
        made = primary[device] = calloc(1, sizeof *made);
        made->id = ++last_context;
        made->device = (uint32_t)device;
    }
    pthread_mutex_unlock(&lock);
    if (is_new) {
        made->legacy = new_stream(made);
        struct strict_context *before = current;
        current = made;
        tell_resource(RESOURCE_CONTEXT_CREATED, NULL, NULL);
        struct strict_hooks *hooks = atomic_load(&strict_hooks);
        struct strict_operation record = {.kind = KIND_CONTEXT, .context = made->id,
                                          .device = made->device, .stream = made->legacy->id};
        if (hooks)
            hooks->record(&record);
        current = before;
    }
    *context = made;
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuDevicePrimaryCtxGetState(int device, unsigned int *flags, int *active)
{
    forbid_inside("cuDevicePrimaryCtxGetState");
    pthread_mutex_lock(&lock);
    *flags = 0;
    *active = primary[device] != NULL;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuCtxSetCurrent(void *context)
{
    forbid_inside("cuCtxSetCurrent");
    current = context;
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuCtxGetCurrent(void **context)
{
    forbid_inside("cuCtxGetCurrent");
    *context = current;
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuCtxPushCurrent_v2(void *context)
{
    return cuCtxSetCurrent(context);
}

STRICT_API CUresult cuCtxPopCurrent_v2(void **context)
{
    if (context)
        *context = current;
    return cuCtxSetCurrent(NULL);
}

STRICT_API CUresult cuCtxGetDevice(int *device)
{
    forbid_inside("cuCtxGetDevice");
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = (int)current->device;
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuStreamCreate(void **stream, unsigned int flags)
{
    (void)flags;
    forbid_inside("cuStreamCreate");
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    *stream = new_stream(current);
    tell_resource(RESOURCE_STREAM_CREATED, *stream, NULL);
    return CUDA_SUCCESS;
}

/* Work on the stream starts at least so long after its launch: disorder between streams. */
STRICT_API CUresult strictStreamSetLag(void *stream, uint64_t lag_ns)
{
    ((struct strict_stream *)stream)->lag_ns = lag_ns;
    return CUDA_SUCCESS;
}

struct strict_stream *stream_of(void *stream)
{
    return stream ? stream : current->legacy;
}

/* Time of the device, as seen by a launching thread: looked up once in `clock_every` launches. */
static uint64_t device_now(struct strict_hooks *hooks)
{
    static _Thread_local uint64_t now_ns, launches;
    if (launches++ % clock_every == 0)
        now_ns = hooks->now();
    return now_ns;
}

bool execute(struct strict_stream *stream, struct strict_operation *operation,
             struct strict_function *function)
{
    struct strict_hooks *hooks = atomic_load_explicit(&strict_hooks, memory_order_acquire);
    if (!hooks)
        return false;
    uint64_t start_ns = device_now(hooks) + stream->lag_ns;
    if (start_ns < stream->tail_ns)
        start_ns = stream->tail_ns;
    stream->tail_ns = start_ns + operation->duration_ns;
    operation->start_ns = start_ns;
    operation->device = stream->context->device;
    operation->context = stream->context->id;
    operation->stream = stream->id;
    if (!hooks->record(operation))
        return false;
    if (function && strict_checks) {
        atomic_fetch_add_explicit(&function->recorded, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&function->recorded_ns, operation->duration_ns,
                                  memory_order_relaxed);
    }
    return true;
}
