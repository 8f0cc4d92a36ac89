/* Load on the strict double: what its files share. */
#ifndef LOAD_H
#define LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The driver, as cuda.h declares it, and what only the double has. */
int cuInit(unsigned int flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuStreamCreate(void **stream, unsigned int flags);
int cuStreamSynchronize(void *stream);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuStreamWaitEvent(void *stream, void *event, unsigned int flags);
int cuEventCreate(void **event, unsigned int flags);
int cuEventRecord(void *event, void *stream);
int cuEventSynchronize(void *event);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                   unsigned int block_x, unsigned int block_y, unsigned int block_z,
                   unsigned int shared_bytes, void *stream, void **arguments, void **extra);
int cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t bytes, void *stream);
int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, void *stream);
int cuMemcpyPeerAsync(uint64_t target, void *target_context, uint64_t source, void *source_context,
                      size_t bytes, void *stream);
int cuMemsetD8Async(uint64_t target, unsigned char value, size_t bytes, void *stream);
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
struct kernel_node_parameters;
int cuGraphCreate(void **graph, unsigned int flags);
int cuGraphAddKernelNode_v2(void **node, void *graph, void *const *before, size_t count,
                            const struct kernel_node_parameters *parameters);
int cuGraphAddChildGraphNode(void **node, void *graph, void *const *before, size_t count,
                             void *child);
int cuGraphAddDependencies(void *graph, void *const *from, void *const *to, size_t count);
int cuGraphLaunch(void *exec, void *stream);
int cuGraphDestroy(void *graph);
int cuGraphExecDestroy(void *exec);
int strictStreamSetLag(void *stream, uint64_t lag_ns);
int strictStreamLeaveCapture(void *stream);
int strictFuncSetDuration(void *function, uint64_t duration_ns);
int strictFuncGetRecorded(void *function, uint64_t *launches, uint64_t *sum_ns);
int strictGraphGetRecorded(void *exec, uint64_t *launches, uint64_t *sum_ns);
uint64_t strictGetDropped(void);
uint64_t strictGetRead(void);

/* Arguments of the form name=value. */
uint64_t option(const char *name, uint64_t otherwise);
bool has_option(const char *name, const char *value);

uint64_t now_ns(int clock);
void sleep_ns(uint64_t ns);

/* load_mixed.c: a bit of everything, and what has to come of it, as JSON. */
void run_mixed(void);
/* load_graphs.c: graphs of known structures. */
void run_graphs(void);
/* load_rival.c: another client takes the buffers. */
void run_rival(void);
/* load_storm.c: many launches, paced or not. */
void run_storm(void);

#endif
