/* Inside of the fake driver. */
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
    char *name; /* CUPTI's copy: reused for another symbol once the module is gone */
    struct function *next;
};

extern const struct fake_cupti *fake_cupti;

/* Why a function of the driver cannot be called now; 0: it can. */
int driver_refuses(const char *function);

/* When what this thread does next runs on the device. */
void driver_interval(uint64_t *start, uint64_t *end);

uint32_t driver_device(void);
uint32_t driver_stream(const void *stream);

void driver_enter(uint32_t cbid, struct fake_call call);
void driver_exit(uint32_t cbid, struct fake_call call);
void driver_operation(struct fake_operation operation);

/* Takes the launch into the graph that the stream is captured into, if it is. */
bool graph_captures(const void *stream, const struct function *function);

bool graph_id(const void *graph, uint32_t *id);
bool graph_exec_id(const void *exec, uint32_t *id);

#endif
