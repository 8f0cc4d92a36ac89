/* Fake of libcuda.so.1 without a device: a launch "runs" at the times that the test gives, and is reported to
 * CUPTI. */
#include <dlfcn.h>
#include <pthread.h>

#include "fake_cuda.h"

enum { DEVICES = 2, LAUNCH_KERNEL = 307, MEMCPY_H2D = 276, MEMSET_D8 = 249, STREAM_SYNC = 126 };
enum { CONTEXT_SYNC = 17 };
/* Time to create a context; a real driver takes longer. */
enum { CONTEXT_US = 20000 };

const struct fake_cupti *fake_cupti;

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static bool ready;
static _Atomic bool torn_down;
static pid_t owner;
static __thread int callback_depth;
static __thread uint32_t current_device;
static __thread struct {
    uint64_t start, end;
} next;

static int *depth(void) { return &callback_depth; }
static bool alive(void) { return !torn_down; }
static void attach(const struct fake_cupti *cupti) { fake_cupti = cupti; }

EXPORT const struct fake_driver fake_driver = {attach, depth, alive, graph_id, graph_exec_id};

int driver_refuses(const char *function) {
    if (callback_depth > 0) fake_violation("%s is called inside a callback", function);
    if (torn_down) return CUDA_ERROR_DEINITIALIZED;
    return __atomic_load_n(&ready, __ATOMIC_ACQUIRE) && getpid() == owner ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_NOT_INITIALIZED;
}

uint32_t driver_device(void) { return current_device; }
uint32_t driver_stream(const void *stream) { return (uint32_t)(uintptr_t)stream; }

void driver_interval(uint64_t *start, uint64_t *end) {
    *start = next.start;
    *end = next.end;
}

void driver_enter(uint32_t cbid, struct fake_call call) {
    if (fake_cupti != NULL) fake_cupti->api(cbid, true, &call);
}

void driver_exit(uint32_t cbid, struct fake_call call) {
    if (fake_cupti != NULL) fake_cupti->api(cbid, false, &call);
}

void driver_operation(struct fake_operation operation) {
    if (fake_cupti == NULL) return;
    operation.context = operation.device + 1;
    fake_cupti->operation(&operation);
}

/* ---- functions for tests ---- */

EXPORT void fake_next(uint64_t start, uint64_t end) {
    next.start = start;
    next.end = end;
}
EXPORT void fake_settle(void) {
    if (fake_cupti != NULL) fake_cupti->settle();
}
EXPORT void fake_gate(bool closed) {
    if (fake_cupti != NULL) fake_cupti->gate(closed);
}
EXPORT void fake_drop(size_t records) {
    if (fake_cupti != NULL) fake_cupti->drop(records);
}
EXPORT uint64_t fake_launch_callbacks(void) {
    return fake_cupti != NULL ? fake_cupti->launch_callbacks() : 0;
}
EXPORT bool fake_enabled(uint32_t kind) { return fake_cupti != NULL && fake_cupti->enabled(kind); }

/* ---- start and end ---- */

static void tear_down(void) { torn_down = true; }

static void *injection;

static void inject(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (path == NULL || *path == 0 || strcmp(path, "none") == 0) return;
    injection = dlopen(path, RTLD_NOW);
    if (injection == NULL) return;
    int (*initialize)(void);
    *(void **)&initialize = dlsym(injection, "InitializeInjection");
    if (initialize != NULL) initialize();
}

/* The driver unloads the tool. */
EXPORT void fake_close_injection(void) {
    if (injection != NULL) dlclose(injection);
    injection = NULL;
}

EXPORT int cuInit(unsigned flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (callback_depth > 0) fake_violation("cuInit is called inside a callback");
    if (torn_down) return CUDA_ERROR_DEINITIALIZED;
    pthread_mutex_lock(&init_lock);
    if (!ready) {
        const char *order = getenv("FAKE_TEARDOWN");
        bool first = order != NULL && strcmp(order, "first") == 0;
        owner = getpid();
        if (!first) atexit(tear_down);
        inject();
        if (first) atexit(tear_down);
        __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&init_lock);
    return getpid() == owner ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

/* ---- devices ---- */

EXPORT int cuDriverGetVersion(int *version) {
    const char *given = getenv("FAKE_DRIVER");
    *version = given == NULL ? 13000 : atoi(given);
    return CUDA_SUCCESS;
}

EXPORT int cuDeviceGetCount(int *count) {
    int refused = driver_refuses("cuDeviceGetCount");
    if (refused == 0) *count = DEVICES;
    return refused;
}

EXPORT int cuDeviceGet(int *device, int ordinal) {
    int refused = driver_refuses("cuDeviceGet");
    if (refused) return refused;
    if (ordinal < 0 || ordinal >= DEVICES) return 101;
    *device = ordinal;
    return CUDA_SUCCESS;
}

static int uuid_of(const char *function, unsigned char uuid[16], int device, unsigned char part) {
    int refused = driver_refuses(function);
    if (refused) return refused;
    if (device < 0 || device >= DEVICES) return 101;
    for (int i = 0; i < 16; i++) uuid[i] = (unsigned char)(0x11 * i);
    uuid[15] = (unsigned char)device;
    uuid[0] = part;
    return CUDA_SUCCESS;
}

EXPORT int cuDeviceGetUuid(unsigned char uuid[16], int device) {
    return uuid_of("cuDeviceGetUuid", uuid, device, 0xf0);
}

EXPORT int cuDeviceGetUuid_v2(unsigned char uuid[16], int device) {
    return uuid_of("cuDeviceGetUuid_v2", uuid, device, getenv("FAKE_MIG") ? 0x0f : 0xf0);
}

EXPORT int cuDeviceGetName(char *name, int length, int device) {
    int refused = driver_refuses("cuDeviceGetName");
    if (refused == 0) snprintf(name, (size_t)length, "Fake %d", device);
    return refused;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)attribute, (void)device;
    int refused = driver_refuses("cuDeviceGetAttribute");
    if (refused == 0) *value = 1;
    return refused;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
    static bool made[DEVICES];
    int refused = driver_refuses("cuDevicePrimaryCtxRetain");
    if (refused) return refused;
    *context = (void *)(uintptr_t)(device + 1);
    if (__atomic_exchange_n(&made[device], true, __ATOMIC_RELAXED)) return CUDA_SUCCESS;
    driver_operation((struct fake_operation){.kind = KIND_CONTEXT, .device = (uint32_t)device});
    if (fake_cupti != NULL) fake_cupti->context(*context);
    usleep(CONTEXT_US);
    return CUDA_SUCCESS;
}

EXPORT int cuCtxSetCurrent(void *context) {
    int refused = driver_refuses("cuCtxSetCurrent");
    if (refused == 0) current_device = (uint32_t)(uintptr_t)context - 1;
    return refused;
}

/* ---- modules: a list of functions; the memory of names is reused, the latest first ---- */

struct name_memory {
    char *text;
    size_t capacity;
    struct name_memory *next;
};
static struct name_memory *free_names;
static pthread_mutex_t name_lock = PTHREAD_MUTEX_INITIALIZER;

/* NULL: a kernel without a name. */
static char *name_new(const char *symbol) {
    if (symbol == NULL) return NULL;
    size_t length = strlen(symbol) + 1;
    pthread_mutex_lock(&name_lock);
    char *text = NULL;
    for (struct name_memory **at = &free_names; *at != NULL; at = &(*at)->next) {
        if ((*at)->capacity < length) continue;
        struct name_memory *taken = *at;
        *at = taken->next;
        text = taken->text;
        free(taken);
        break;
    }
    pthread_mutex_unlock(&name_lock);
    if (text == NULL) text = malloc(length);
    return memcpy(text, symbol, length);
}

static void name_free(char *text) {
    if (text == NULL) return;
    struct name_memory *memory = malloc(sizeof *memory);
    pthread_mutex_lock(&name_lock);
    *memory = (struct name_memory){text, strlen(text) + 1, free_names};
    memset(text, '?', memory->capacity - 1);
    free_names = memory;
    pthread_mutex_unlock(&name_lock);
}

struct module {
    struct function *functions;
};

EXPORT int cuModuleLoadData(void **module, const void *image) {
    (void)image;
    int refused = driver_refuses("cuModuleLoadData");
    if (refused) return refused;
    *module = calloc(1, sizeof(struct module));
    if (fake_cupti != NULL) fake_cupti->module();
    return CUDA_SUCCESS;
}

EXPORT int cuModuleGetFunction(void **function, void *module, const char *symbol) {
    int refused = driver_refuses("cuModuleGetFunction");
    if (refused) return refused;
    struct function *made = malloc(sizeof *made);
    struct module *of = module;
    *made = (struct function){name_new(symbol), of->functions};
    *function = of->functions = made;
    return CUDA_SUCCESS;
}

EXPORT int cuModuleUnload(void *module) {
    int refused = driver_refuses("cuModuleUnload");
    if (refused) return refused;
    struct function *function = ((struct module *)module)->functions;
    while (function != NULL) {
        struct function *after = function->next;
        name_free(function->name);
        free(function);
        function = after;
    }
    free(module);
    return CUDA_SUCCESS;
}

/* ---- work ---- */

static struct fake_operation operation(uint32_t kind, const void *stream) {
    struct fake_operation made = {
        .kind = kind, .device = current_device, .stream = driver_stream(stream)};
    driver_interval(&made.start, &made.end);
    return made;
}

EXPORT int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, void *stream, void **params, void **extra) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)params, (void)extra;
    int refused = driver_refuses("cuLaunchKernel");
    if (refused) return refused;
    const struct function *function = f;
    struct fake_call call = {.function = "cuLaunchKernel", .symbol = function->name, .params = &f};
    driver_enter(LAUNCH_KERNEL, call);
    if (!graph_captures(stream, function)) {
        struct fake_operation made = operation(KIND_KERNEL, stream);
        made.name = function->name;
        driver_operation(made);
    }
    driver_exit(LAUNCH_KERNEL, call);
    return CUDA_SUCCESS;
}

/* Function of the fake alone: a copy of any kind; `kind` 10 is between devices. */
EXPORT int fake_copy(uint32_t kind, size_t bytes, void *stream) {
    int refused = driver_refuses("fake_copy");
    if (refused) return refused;
    struct fake_operation made = operation(kind == 10 ? KIND_PEER_COPY : KIND_MEMCPY, stream);
    made.detail = kind;
    made.bytes = bytes;
    driver_operation(made);
    return CUDA_SUCCESS;
}

EXPORT int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
    (void)to, (void)from;
    driver_enter(MEMCPY_H2D, (struct fake_call){.function = "cuMemcpyHtoD_v2"});
    int result = fake_copy(1, bytes, NULL);
    driver_exit(MEMCPY_H2D, (struct fake_call){.function = "cuMemcpyHtoD_v2"});
    return result;
}

EXPORT int fake_set(uint32_t memory_kind, size_t bytes, void *stream) {
    int refused = driver_refuses("fake_set");
    if (refused) return refused;
    struct fake_operation made = operation(KIND_MEMSET, stream);
    made.detail = memory_kind;
    made.bytes = bytes;
    driver_operation(made);
    return CUDA_SUCCESS;
}

EXPORT int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes) {
    (void)to, (void)value;
    driver_enter(MEMSET_D8, (struct fake_call){.function = "cuMemsetD8_v2"});
    int result = fake_set(3, bytes, NULL);
    driver_exit(MEMSET_D8, (struct fake_call){.function = "cuMemsetD8_v2"});
    return result;
}

/* `type` is 1 event, 2 a stream waits for an event, 3 stream, 4 context. */
EXPORT int fake_wait(uint32_t type, void *stream) {
    int refused = driver_refuses("fake_wait");
    if (refused) return refused;
    struct fake_operation made = operation(KIND_SYNC, stream);
    made.detail = type;
    driver_operation(made);
    return CUDA_SUCCESS;
}

/* Asks without blocking whether a stream is done. */
EXPORT int fake_poll(void *stream) {
    int refused = driver_refuses("fake_poll");
    if (refused) return refused;
    struct fake_operation made = operation(KIND_SYNC, stream);
    made.detail = 3;
    made.polls = true;
    driver_operation(made);
    return CUDA_SUCCESS;
}

EXPORT int cuStreamSynchronize(void *stream) {
    driver_enter(STREAM_SYNC, (struct fake_call){.function = "cuStreamSynchronize"});
    int result = fake_wait(3, stream);
    driver_exit(STREAM_SYNC, (struct fake_call){.function = "cuStreamSynchronize"});
    return result;
}

EXPORT int cuCtxSynchronize(void) {
    driver_enter(CONTEXT_SYNC, (struct fake_call){.function = "cuCtxSynchronize"});
    int result = fake_wait(4, NULL);
    driver_exit(CONTEXT_SYNC, (struct fake_call){.function = "cuCtxSynchronize"});
    return result;
}
