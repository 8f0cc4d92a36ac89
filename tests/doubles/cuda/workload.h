/* Inside of the workload: what a scenario does, and the books it keeps of that. */
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
    void (*fake_close_injection)(void);
};
extern struct cuda cuda;

/* Loads the driver and calls cuInit. */
void start(void);
/* The driver alone. */
void load(void);

/* The same in every run. */
uint32_t random_below(uint32_t limit);

/* Where the current thread's work goes. */
void on_device(int device);

struct span {
    uint64_t start, end;
};
/* The next `duration` of a stream of the current device, some time after what was there. */
struct span next_span(int stream, uint64_t duration);

/* Each does it, and books it. */
void launch(int symbol, int stream, uint64_t duration);
void launch_at(const char *name, void *function, int stream, struct span span);
void copy(uint32_t kind, size_t bytes, int stream, uint64_t duration);
void set(uint32_t memory_kind, size_t bytes, int stream, uint64_t duration);
void wait_for(uint32_t type, int stream, uint64_t duration);

const char *symbol_name(int symbol);
void *symbol_function(int symbol);

/* The books. `frame` may be "". Not for several threads at once. */
void expect(const char *metric, const char *frame, uint64_t a, uint64_t b);
/* Of a device that is not CUDA's; -1: of none. */
void expect_on(int device, const char *metric, const char *frame, uint64_t a, uint64_t b);
/* Of no device. */
void expect_process(const char *metric, uint64_t a);
void expect_busy(struct span span);
void expect_kernel(const char *name, struct span span);

/* Writes the books: one line of $WORKLOAD_EXPECTED for this process. */
void close_books(void);
/* Forgets what the parent did. */
void new_books(void);

/* Waits until the test has made the file $WORKLOAD_GATE. */
void wait_for_gate(void);

struct scenario {
    const char *name;
    int (*run)(void);
};
extern const struct scenario work_scenarios[], graph_scenarios[], process_scenarios[], tool_scenarios[],
    load_scenarios[], source_scenarios[];

#endif
