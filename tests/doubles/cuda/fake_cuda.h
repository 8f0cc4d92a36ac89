/* Internals of the fake driver. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include "fake.h"

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
};

struct function {
    char *name; /* CUPTI's copy: reused for another symbol after the module is unloaded */
    struct function *next;
};

extern const struct fake_cupti *fake_cupti;

/* Error of a driver function that must not be called now; 0: it may be called. */
int driver_refuses(const char *function);

/* Times at which the next operation of this thread runs on the device. */
void driver_interval(uint64_t *start, uint64_t *end);

uint32_t driver_device(void);
uint32_t driver_stream(const void *stream);

void driver_enter(uint32_t cbid, struct fake_call call);
void driver_exit(uint32_t cbid, struct fake_call call);
void driver_operation(struct fake_operation operation);

/* Adds the launch to the graph of the stream, if the stream is being captured. */
bool graph_captures(const void *stream, const struct function *function);

bool graph_id(const void *graph, uint32_t *id);
bool graph_exec_id(const void *exec, uint32_t *id);

#endif
