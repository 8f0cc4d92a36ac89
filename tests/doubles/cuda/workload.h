/* Internals of the workload: operations of scenarios, and the books with the expected values. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICES = 2, STREAMS = 3, SYMBOLS = 6000 };

/* Functions of the driver, found by name. */
struct cuda {
    int (*cuInit)(unsigned);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuCtxSetCurrent)(void *);
    int (*cuModuleLoadData)(void **, const void *);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuModuleUnload)(void *);
    int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          void *, void **, void **);
    int (*cuMemcpyHtoD_v2)(uint64_t, const void *, size_t);
    int (*cuMemsetD8_v2)(uint64_t, unsigned char, size_t);
    int (*cuStreamSynchronize)(void *);
    int (*cuCtxSynchronize)(void);
    int (*cuGraphCreate)(void **, unsigned);
    int (*cuGraphAddKernelNode_v2)(void **, void *, void *const *, size_t, const void *);
    int (*cuGraphAddChildGraphNode)(void **, void *, void *const *, size_t, void *);
    int (*cuGraphAddDependencies)(void *, void *const *, void *const *, size_t);
    int (*cuGraphInstantiateWithFlags)(void **, void *, uint64_t);
    int (*cuGraphLaunch)(void *, void *);
    int (*cuGraphDestroy)(void *);
    int (*cuGraphExecDestroy)(void *);
    int (*cuStreamBeginCapture_v2)(void *, int);
    int (*cuStreamEndCapture)(void *, void **);
    int (*cuStreamDestroy_v2)(void *);
    int (*cuEventCreate)(void **, unsigned);
    int (*cuEventRecord)(void *, void *);
    int (*cuStreamWaitEvent)(void *, void *, unsigned);
    void (*fake_next)(uint64_t, uint64_t);
    void (*fake_settle)(void);
    void (*fake_gate)(bool);
    void (*fake_drop)(size_t);
    bool (*fake_enabled)(uint32_t);
    int (*fake_copy)(uint32_t, size_t, void *);
    int (*fake_set)(uint32_t, size_t, void *);
    int (*fake_wait)(uint32_t, void *);
    int (*fake_poll)(void *);
    uint64_t (*fake_launch_callbacks)(void);
    void (*fake_invalidate)(void *);
    void (*fake_close_injection)(void);
};
extern struct cuda cuda;

/* Loads the driver and calls cuInit. */
void start(void);
/* Loads the driver only. */
void load(void);

/* Random numbers, the same in every run. */
uint32_t random_below(uint32_t limit);

/* Sets the device of the current thread. */
void on_device(int device);

struct span {
    uint64_t start, end;
};
/* The next span of a stream of the current device, some time after the last one. */
struct span next_span(int stream, uint64_t duration);

/* Each runs an operation and books it. */
void launch(int symbol, int stream, uint64_t duration);
void launch_at(const char *name, void *function, int stream, struct span span);
void copy(uint32_t kind, size_t bytes, int stream, uint64_t duration);
void set(uint32_t memory_kind, size_t bytes, int stream, uint64_t duration);
void wait_for(uint32_t type, int stream, uint64_t duration);

const char *symbol_name(int symbol);
void *symbol_function(int symbol);

/* Books a value of the current device. `frame` may be "". For one thread at a time. */
void expect(const char *metric, const char *frame, uint64_t a, uint64_t b);
/* Books a value of a device that is not CUDA's; -1: without a device. */
void expect_on(int device, const char *metric, const char *frame, uint64_t a, uint64_t b);
/* Books a value of the process. */
void expect_process(const char *metric, uint64_t a);
void expect_busy(struct span span);
void expect_kernel(const char *name, struct span span);

/* Structure of a graph: numbers of its kernels in their order, for the books of node mode. */
struct structure {
    const char *name;
    int count, kernels[8];
};

/* Makes a graph executable, and destroys it as frameworks do. */
void *instantiate(void *graph);
/* Launches a graph, and books it. */
void replay(void *exec, const struct structure *of, int stream, int times);

/* Writes the books: one line of $WORKLOAD_EXPECTED for this process. */
void close_books(void);
/* In a child: discards the books of the parent. */
void new_books(void);

/* Waits until the test has created the file $WORKLOAD_GATE. */
void wait_for_gate(void);

struct scenario {
    const char *name;
    int (*run)(void);
};
extern const struct scenario work_scenarios[], graph_scenarios[], process_scenarios[], tool_scenarios[],
    load_scenarios[], source_scenarios[], capture_scenarios[];

#endif
