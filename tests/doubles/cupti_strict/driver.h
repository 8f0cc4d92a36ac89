/* Strict driver: what its files share. */
#ifndef DRIVER_H
#define DRIVER_H

#include "strict.h"

typedef int CUresult;
enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NOT_READY = 600,
};

extern _Atomic(struct strict_hooks *) strict_hooks;
extern _Thread_local enum strict_inside strict_inside;
struct strict_context *strict_current(void);
uint64_t strict_node_id(const struct strict_node *);
uint32_t strict_graph_id(const struct strict_graph *);
uint32_t strict_exec_id(const struct strict_exec *);

void strict_check_locks(const char *function);

/* What a stream had when the event was recorded. */
struct strict_event {
    struct strict_stream then;
};

/* Begins a call: an identifier of correlation, and a callback if it is enabled. */
static inline struct strict_call begin(uint32_t cbid, const char *function, const void *parameters,
                                       const char *symbol);
/* Ends the call with a result. */
static inline CUresult end(struct strict_call *call, CUresult result);

uint32_t next_correlation(void);
struct strict_stream *stream_of(void *stream);
/* Places the operation at the end of the stream and has it recorded. */
bool execute(struct strict_stream *, struct strict_operation *, struct strict_function *);
/* Node types of graphs. */
enum { NODE_KERNEL, NODE_MEMCPY, NODE_MEMSET, NODE_HOST, NODE_CHILD, NODE_EMPTY };
/* Adds what a stream that is captured would have done. */
void capture(struct strict_stream *, uint32_t type, const struct strict_operation *,
             struct strict_function *);
/* Joins the streams: the next node depends on what `then` had. */
void capture_wait(struct strict_stream *, const struct strict_stream *then);

static inline void forbid_inside(const char *function)
{
    if (strict_inside != INSIDE_NOTHING)
        strict_misuse("%s called inside a CUPTI callback", function);
}

static inline struct strict_call begin(uint32_t cbid, const char *function, const void *parameters,
                                       const char *symbol)
{
    struct strict_call call = {cbid, next_correlation(), function, parameters, symbol, NULL, 0, 0};
    forbid_inside(function);
    struct strict_hooks *hooks = atomic_load_explicit(&strict_hooks, memory_order_acquire);
    if (hooks && atomic_load_explicit(&hooks->calls[cbid], memory_order_relaxed)) {
        call.context = strict_current();
        hooks->call(&call, 0);
    }
    return call;
}

static inline CUresult end(struct strict_call *call, CUresult result)
{
    struct strict_hooks *hooks = atomic_load_explicit(&strict_hooks, memory_order_acquire);
    if (hooks && atomic_load_explicit(&hooks->calls[call->cbid], memory_order_relaxed)) {
        call->context = strict_current();
        call->result = result;
        hooks->call(call, 1);
    }
    return result;
}

static inline void tell_resource(uint32_t cbid, void *handle, void *descriptor)
{
    struct strict_hooks *hooks = atomic_load_explicit(&strict_hooks, memory_order_acquire);
    if (hooks && atomic_load_explicit(&hooks->resources[cbid], memory_order_relaxed))
        hooks->resource(cbid, strict_current(), handle, descriptor);
}

#endif
