/* Load on the strict double: another client of CUPTI takes the buffers and keeps them.
 *
 * It launches for a second, then the client registers its callbacks as Kineto does, and launches go
 * on for `seconds`. */
#include "load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER = 1 << 20, PAUSE_NS = 1000000 };

typedef void request_function(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void complete_function(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                               size_t valid);

static void requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *size = BUFFER;
    *max_records = 0;
    *buffer = calloc(1, BUFFER);
}

/* Some of the buffers are not this client's: none is freed. */
static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)buffer, (void)size, (void)valid;
}

static void take_buffers(void)
{
    void *library = dlopen("libcupti.so.13", RTLD_NOLOAD | RTLD_NOW);
    if (!library)
        return;
    int (*take)(request_function *, complete_function *) =
        (int (*)(request_function *, complete_function *))dlsym(library,
                                                                "cuptiActivityRegisterCallbacks");
    take(requested, completed);
}

static uint64_t launch_for(void *function, uint64_t ms)
{
    for (uint64_t i = 0; i < ms; i++) {
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
        sleep_ns(PAUSE_NS);
    }
    return ms;
}

void run_rival(void)
{
    void *context, *module, *function;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuModuleLoadData(&module, "");
    cuModuleGetFunction(&function, module, "kernel");
    uint64_t before = launch_for(function, 1500);
    take_buffers();
    uint64_t after = launch_for(function, option("seconds", 5) * 1000);
    printf("{\"before\":%lu,\"after\":%lu}\n", before, after);
}
