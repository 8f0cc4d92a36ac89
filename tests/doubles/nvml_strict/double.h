/* A strict double of NVML and GPM, written from NVIDIA's headers and documentation and from reports of how the
 * real library behaves, without knowledge of the code that it tests. It is a referee, where the double in
 * ../nvml plays scenes: it forgives nothing that the documentation does not promise.
 *
 * - Handles, event sets and samples belong to one initialization. One from before aborts the process.
 * - Undefined memory is filled with noise: values whose status is an error, the unused bytes of a value's
 *   union, the part of a GPM request that was not asked for.
 * - Values have the types and widths that the documentation allows, not the convenient ones.
 * - A driver lacks the functions, fields and metrics that its header does not have: each generation is a
 *   library of its own, so `dlsym` finds out as it does with a real one.
 * - It keeps a ledger of all calls with thread, time, duration and result, and of every misuse.
 *
 * Environment:
 *   NVML_STRICT_SCRIPT   file with the devices, and what happens to them; read on while lines are appended
 *   NVML_STRICT_LEDGER   file that gets a line for each call and each misuse
 * The words of a script are in script.c. */
#ifndef NVML_STRICT_DOUBLE_H
#define NVML_STRICT_DOUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Generation of the driver: a header's branch. */
#ifndef DRIVER
#define DRIVER 580
#endif

#ifdef REAL_HEADER
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include REAL_HEADER
#else
#include "abi.h"
#endif

#define EXPORT __attribute__((visibility("default")))

enum { GPUS = 64, INSTANCES = 8, KEYS = 192, METRICS = 480, EVENTS = 32 };

/* A reading: a value, and how much it grows each second. */
struct reading {
    char key[32];
    uint64_t base;
    double per_second;
    int64_t since_ns;
};

/* A GPM metric: its value now, and its integral over time until `since_ns`. */
struct average {
    double value, integral;
    int64_t since_ns;
    bool known;
};

/* A GPU or a MIG instance. */
struct subject {
    char name[160], uuid[96];
    unsigned gi, ci;
    struct reading readings[KEYS];
    int count;
    struct average metrics[METRICS];
};

struct gpu {
    struct subject self, instances[INSTANCES];
    int instance_count;
    unsigned partition; /* counts changes of the MIG instances */
    uint32_t bus;       /* domain, bus and device number */
    unsigned failure;   /* of all its calls, 0: none */
    bool denied, unplugged;
};

/* Devices and state of the library; `lock_state` guards them. */
struct machine {
    struct gpu gpus[GPUS]; /* in the script's order */
    int gpu_count;
    unsigned driver_down;  /* result of all calls, 0: the driver is loaded */
    unsigned epoch, initialized;
    int visible[GPUS]; /* by NVML's index: the GPUs of this initialization, by bus */
    int visible_count;
    int gpm_refresh_ms, early_waits;
    char driver_version[80];
    int cuda_version;
};
extern struct machine machine;

struct nvmlDevice_st {
    unsigned epoch, partition;
    int gpu, instance; /* -1: the GPU itself */
};

/* A call in progress. While it has entered, the state is locked. */
struct call {
    const char *function;
    int64_t start_ns;
    struct gpu *gpu;
    struct subject *subject;
    int instance;
    unsigned result;
};

/* Begins a call without a device; false: `result` says why it fails, and it has to be left. */
bool enter(struct call *, const char *function);
/* Begins a call on a device. */
bool enter_device(struct call *, const char *function, nvmlDevice_t);
/* Begins a call that works without initialization. */
bool enter_uninitialized(struct call *, const char *function);
/* Sleeps within a call, without the state's lock. False: the library was shut down meanwhile. */
bool pause_call(struct call *, int64_t duration_ns);
/* Ends a call. */
nvmlReturn_t leave(struct call *, unsigned result);

#define CALL(call) \
    struct call call; \
    if (!enter(&call, __func__)) return leave(&call, call.result)
#define DEVICE_CALL(call, handle) \
    struct call call; \
    if (!enter_device(&call, __func__, handle)) return leave(&call, call.result)

void lock_state(void);
void unlock_state(void);
int64_t now_ns(void);
uint32_t noise(void);
void fill_with_noise(void *at, size_t size);

/* ledger.c */
void book_call(const struct call *, int64_t end_ns);
void book(const char *word, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define misuse(...) book("misuse", __VA_ARGS__)
/* Books a misuse that would corrupt memory with the real library, and aborts. */
_Noreturn void fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* script.c: reads what was appended since; the state is locked. */
void read_script(void);

/* rules.c: what the script says of calls. `subject` is a function, `field:<id>` or `gpm:<id>`. */
unsigned failure_of(int gpu, int instance, const char *subject);
bool hangs(int gpu, const char *function, bool *with_lock);
int64_t latency_ns(const char *function);
bool add_rule(const char *line);

/* readings.c */
struct reading *find_reading(struct subject *, const char *key);
void set_reading(struct subject *, const char *key, uint64_t value, double per_second);
void unset_reading(struct subject *, const char *key);
bool read_value(struct subject *, const char *key, uint64_t *value);
uint64_t value_or(struct subject *, const char *key, uint64_t otherwise);
bool mig_is_enabled(struct gpu *);

/* models.c: the words of a script for a model of GPU, or NULL. */
const char *model_named(const char *name);

/* handles.c */
nvmlDevice_t handle_of(int gpu, int instance);
/* The device of a handle; aborts with one that is not of this initialization. */
struct nvmlDevice_st *check_handle(nvmlDevice_t, const char *function);
/* Lists the GPUs of a new initialization. */
void list_gpus(void);

/* events.c, gpm.c */
void add_event(int gpu, uint64_t type, uint64_t data, unsigned gi, unsigned ci);
void wake_waiters(void);
int open_event_sets(void);
int open_samples(void);
void set_metric(struct subject *, int id, double value, bool known);

#endif
