/* Strict driver: launches, copies, events and synchronization. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    COPY_HTOD = 1,
    COPY_DTOH = 2,
    COPY_DTOD = 8,
    COPY_PEER = 10,
    MEMORY_PAGEABLE = 1,
    MEMORY_DEVICE = 3,
    SYNC_EVENT = 1,
    SYNC_WAIT_EVENT = 2,
    SYNC_STREAM = 3,
    SYNC_CONTEXT = 4,
};

/* Parameters as CUDA's generated headers have them, so that a profiler may read them. */
struct launch_parameters {
    void *function;
    unsigned int grid[3], block[3], shared_bytes;
    void *stream;
    void **arguments, **extra;
};

struct launch_config {
    unsigned int grid[3], block[3], shared_bytes;
    void *stream;
    void *attributes;
    unsigned int count;
};

struct launch_ex_parameters {
    const struct launch_config *config;
    void *function;
    void **arguments, **extra;
};

static CUresult submit(struct strict_stream *stream, uint32_t type,
                       struct strict_operation *operation, struct strict_function *function)
{
    if (stream->capture)
        capture(stream, type, operation, function);
    else
        execute(stream, operation, function);
    return CUDA_SUCCESS;
}

static CUresult launch(struct strict_call *call, struct strict_function *function,
                       const unsigned int *grid, const unsigned int *block, void *stream)
{
    struct strict_operation operation = {
        .kind = KIND_CONCURRENT_KERNEL,
        .name = function->name,
        .duration_ns = function->duration_ns,
        .correlation = call->correlation,
        .grid = {grid[0], grid[1], grid[2]},
        .block = {block[0], block[1], block[2]},
    };
    return submit(stream_of(stream), NODE_KERNEL, &operation, function);
}

STRICT_API CUresult cuLaunchKernel(void *function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared_bytes, void *stream,
                                   void **arguments, void **extra)
{
    struct launch_parameters p = {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                                  shared_bytes, stream, arguments, extra};
    const char *symbol = ((struct strict_function *)function)->name;
    struct strict_call call = begin(CBID_LAUNCH_KERNEL, "cuLaunchKernel", &p, symbol);
    return end(&call, launch(&call, function, p.grid, p.block, stream));
}

STRICT_API CUresult cuLaunchKernelEx(const struct launch_config *config, void *function,
                                     void **arguments, void **extra)
{
    struct launch_ex_parameters p = {config, function, arguments, extra};
    const char *symbol = ((struct strict_function *)function)->name;
    struct strict_call call = begin(CBID_LAUNCH_KERNEL_EX, "cuLaunchKernelEx", &p, symbol);
    return end(&call, launch(&call, function, config->grid, config->block, config->stream));
}

/* One byte a nanosecond, and a microsecond to start. */
static struct strict_operation copy_of(const struct strict_call *call, uint8_t what, uint64_t bytes)
{
    return (struct strict_operation){
        .kind = KIND_MEMCPY,
        .what = what,
        .source_kind = what == COPY_HTOD ? MEMORY_PAGEABLE : MEMORY_DEVICE,
        .target_kind = what == COPY_DTOH ? MEMORY_PAGEABLE : MEMORY_DEVICE,
        .bytes = bytes,
        .duration_ns = 1000 + bytes,
        .correlation = call->correlation,
    };
}

struct copy_parameters {
    uint64_t target, source, bytes;
    void *stream;
};

static CUresult copy(uint32_t cbid, const char *name, uint8_t what, struct copy_parameters p)
{
    struct strict_call call = begin(cbid, name, &p, NULL);
    struct strict_operation operation = copy_of(&call, what, p.bytes);
    return end(&call, submit(stream_of(p.stream), NODE_MEMCPY, &operation, NULL));
}

STRICT_API CUresult cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t bytes,
                                         void *stream)
{
    struct copy_parameters p = {target, (uintptr_t)source, bytes, stream};
    return copy(CBID_MEMCPY_HTOD_ASYNC, "cuMemcpyHtoDAsync_v2", COPY_HTOD, p);
}

STRICT_API CUresult cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t bytes, void *stream)
{
    struct copy_parameters p = {(uintptr_t)target, source, bytes, stream};
    return copy(CBID_MEMCPY_DTOH_ASYNC, "cuMemcpyDtoHAsync_v2", COPY_DTOH, p);
}

STRICT_API CUresult cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes,
                                         void *stream)
{
    struct copy_parameters p = {target, source, bytes, stream};
    return copy(CBID_MEMCPY_DTOD_ASYNC, "cuMemcpyDtoDAsync_v2", COPY_DTOD, p);
}

/* A copy between devices has a kind of record of its own. */
STRICT_API CUresult cuMemcpyPeerAsync(uint64_t target, void *target_context, uint64_t source,
                                      void *source_context, size_t bytes, void *stream)
{
    struct {
        uint64_t target;
        void *target_context;
        uint64_t source;
        void *source_context;
        size_t bytes;
        void *stream;
    } p = {target, target_context, source, source_context, bytes, stream};
    struct strict_call call = begin(CBID_MEMCPY_PEER_ASYNC, "cuMemcpyPeerAsync", &p, NULL);
    struct strict_operation operation = copy_of(&call, COPY_PEER, bytes);
    operation.kind = KIND_MEMCPY2;
    operation.source_device = ((struct strict_context *)source_context)->device;
    operation.target_device = ((struct strict_context *)target_context)->device;
    return end(&call, submit(stream_of(stream), NODE_MEMCPY, &operation, NULL));
}

STRICT_API CUresult cuMemsetD8Async(uint64_t target, unsigned char value, size_t bytes, void *stream)
{
    struct {
        uint64_t target;
        unsigned char value;
        size_t bytes;
        void *stream;
    } p = {target, value, bytes, stream};
    struct strict_call call = begin(CBID_MEMSET_D8_ASYNC, "cuMemsetD8Async", &p, NULL);
    struct strict_operation operation = {
        .kind = KIND_MEMSET,
        .what = value,
        .target_kind = MEMORY_DEVICE,
        .bytes = bytes,
        .duration_ns = 500 + bytes / 2,
        .correlation = call.correlation,
    };
    return end(&call, submit(stream_of(stream), NODE_MEMSET, &operation, NULL));
}

STRICT_API CUresult cuMemAllocHost_v2(void **memory, size_t bytes)
{
    *memory = calloc(1, bytes);
    return CUDA_SUCCESS;
}

static uint64_t time_now(struct strict_hooks *hooks)
{
    if (hooks)
        return hooks->now();
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Waits until the stream's work is done; the host's wait has a record too. */
static void wait_for(struct strict_stream *stream, uint64_t until_ns, uint8_t what,
                     uint32_t correlation)
{
    struct strict_hooks *hooks = atomic_load(&strict_hooks);
    uint64_t from_ns = time_now(hooks), now_ns = from_ns;
    while (now_ns < until_ns) {
        uint64_t left_ns = until_ns - now_ns;
        struct timespec pause = {left_ns / 1000000000, (long)(left_ns % 1000000000)};
        nanosleep(&pause, NULL);
        now_ns = time_now(hooks);
    }
    struct strict_operation operation = {
        .kind = KIND_SYNCHRONIZATION,
        .what = what,
        .start_ns = from_ns,
        .duration_ns = now_ns - from_ns,
        .correlation = correlation,
        .context = stream->context->id,
        .stream = what == SYNC_CONTEXT || what == SYNC_EVENT ? UINT32_MAX : stream->id,
        .device = stream->context->device,
    };
    if (hooks)
        hooks->record(&operation);
}

STRICT_API CUresult cuStreamSynchronize(void *stream)
{
    struct strict_call call = begin(CBID_STREAM_SYNCHRONIZE, "cuStreamSynchronize", &stream, NULL);
    struct strict_stream *waited = stream_of(stream);
    wait_for(waited, waited->tail_ns, SYNC_STREAM, call.correlation);
    return end(&call, CUDA_SUCCESS);
}

STRICT_API CUresult cuCtxSynchronize(void)
{
    struct strict_call call = begin(CBID_CTX_SYNCHRONIZE, "cuCtxSynchronize", NULL, NULL);
    wait_for(strict_current()->legacy, 0, SYNC_CONTEXT, call.correlation);
    return end(&call, CUDA_SUCCESS);
}

STRICT_API CUresult cuEventCreate(void **event, unsigned int flags)
{
    (void)flags;
    *event = calloc(1, sizeof(struct strict_event));
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuEventRecord(void *event, void *stream)
{
    ((struct strict_event *)event)->then = *stream_of(stream);
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuEventSynchronize(void *event)
{
    struct strict_call call = begin(CBID_EVENT_SYNCHRONIZE, "cuEventSynchronize", &event, NULL);
    wait_for(strict_current()->legacy, ((struct strict_event *)event)->then.tail_ns, SYNC_EVENT,
             call.correlation);
    return end(&call, CUDA_SUCCESS);
}

STRICT_API CUresult cuStreamWaitEvent(void *stream, void *event, unsigned int flags)
{
    (void)flags;
    struct strict_stream *waiting = stream_of(stream);
    struct strict_stream *then = &((struct strict_event *)event)->then;
    if (then->capture)
        capture_wait(waiting, then);
    else if (waiting->tail_ns < then->tail_ns)
        waiting->tail_ns = then->tail_ns;
    return CUDA_SUCCESS;
}
