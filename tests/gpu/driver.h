/* The driver functions that workload.c uses, found in libcuda.so.1: no toolkit is needed. */
#ifndef TESTS_GPU_DRIVER_H
#define TESTS_GPU_DRIVER_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *handle;
typedef uint64_t device_pointer;

#define DRIVER_FUNCTIONS(FUNCTION)                                                                           \
    FUNCTION(cuInit, unsigned)                                                                               \
    FUNCTION(cuDriverGetVersion, int *)                                                                      \
    FUNCTION(cuDeviceGet, int *, int)                                                                        \
    FUNCTION(cuDeviceGetName, char *, int, int)                                                              \
    FUNCTION(cuDevicePrimaryCtxRetain, handle *, int)                                                        \
    FUNCTION(cuCtxSetCurrent, handle)                                                                        \
    FUNCTION(cuCtxSynchronize, void)                                                                         \
    FUNCTION(cuModuleLoadData, handle *, const char *)                                                       \
    FUNCTION(cuModuleGetFunction, handle *, handle, const char *)                                            \
    FUNCTION(cuMemAlloc_v2, device_pointer *, size_t)                                                        \
    FUNCTION(cuMemHostAlloc, void **, size_t, unsigned)                                                      \
    FUNCTION(cuMemGetInfo_v2, size_t *, size_t *)                                                            \
    FUNCTION(cuMemcpyHtoDAsync_v2, device_pointer, const void *, size_t, handle)                             \
    FUNCTION(cuMemcpyDtoHAsync_v2, void *, device_pointer, size_t, handle)                                   \
    FUNCTION(cuMemcpyDtoDAsync_v2, device_pointer, device_pointer, size_t, handle)                           \
    FUNCTION(cuMemsetD8Async, device_pointer, unsigned char, size_t, handle)                                 \
    FUNCTION(cuStreamCreate, handle *, unsigned)                                                             \
    FUNCTION(cuStreamSynchronize, handle)                                                                    \
    FUNCTION(cuEventCreate, handle *, unsigned)                                                              \
    FUNCTION(cuEventRecord, handle, handle)                                                                  \
    FUNCTION(cuEventSynchronize, handle)                                                                     \
    FUNCTION(cuLaunchKernel, handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
             handle, void **, void **)                                                                       \
    FUNCTION(cuStreamBeginCapture_v2, handle, int)                                                           \
    FUNCTION(cuStreamEndCapture, handle, handle *)                                                           \
    FUNCTION(cuGraphInstantiateWithFlags, handle *, handle, unsigned long long)                              \
    FUNCTION(cuGraphDestroy, handle)                                                                         \
    FUNCTION(cuGraphLaunch, handle, handle)

#define DECLARE(name, ...) static int (*name)(__VA_ARGS__);
DRIVER_FUNCTIONS(DECLARE)

static inline void *driver_function(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found) return found;
    fprintf(stderr, "libcuda has no %s\n", name);
    exit(1);
}

/* Whether there is a driver; every function is set then. */
static inline int driver_load(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return 0;
#define LOAD(name, ...) *(void **)&name = driver_function(library, #name);
    DRIVER_FUNCTIONS(LOAD)
    return 1;
}

#define CU(call)                                                                                             \
    do {                                                                                                     \
        int result = (call);                                                                                 \
        if (result != 0) {                                                                                   \
            fprintf(stderr, "%s: error %d\n", #call, result);                                                \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
