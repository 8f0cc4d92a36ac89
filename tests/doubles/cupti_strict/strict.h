/* Strict double of CUDA and CUPTI: what its two libraries share.
 *
 * Written from CUPTI's headers and documentation alone, apart from the other
 * double (../cuda), and less kind than that one:
 * - a launch only reserves room; worker threads of CUPTI write the record later, on other cores;
 * - each symbol is in a page of its own, has one address per module, and an address is given to
 *   another symbol after its module was unloaded;
 * - buffers are delivered on a thread of CUPTI, on worker threads, or after FlushAll returned;
 * - a buffer that is not said to be zeroed is zeroed on the launching thread;
 * - what the documentation forbids is written to a ledger of misuse, or ends the process.
 *
 * Variables: STRICT_LEDGER (file of misuse), STRICT_DELIVERY (thread, inline, late),
 * STRICT_WORKERS, STRICT_CHECKS=0 (no costly checks), STRICT_CLOCK_EVERY (launches between two
 * looks at the clock), STRICT_FAIL ("cuptiSubscribe=39,cuptiActivityEnable:10=15"),
 * STRICT_RIVAL (a tool that subscribed first), STRICT_DRIVER (its version, 13050),
 * STRICT_DEVICES, STRICT_ZERO_TIMES (each n-th record has no timestamps), STRICT_EDGES=from (the
 * callback for an edge has its first node as the node; CUPTI's header leaves that open),
 * STRICT_NODE_SYMBOLS=1 (callbacks of calls that add a kernel to a graph have its symbol, too). */
#ifndef STRICT_H
#define STRICT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRICT_API __attribute__((visibility("default")))

/* Kinds of activity records. */
enum {
    KIND_MEMCPY = 1,
    KIND_MEMSET = 2,
    KIND_KERNEL = 3,
    KIND_CONTEXT = 9,
    KIND_CONCURRENT_KERNEL = 10,
    KIND_MEMCPY2 = 22,
    KIND_SYNCHRONIZATION = 38,
    KIND_GRAPH_TRACE = 51,
    KINDS = 64,
};

/* Identifiers of callbacks of the driver's functions, from cupti_driver_cbid.h. */
enum {
    CBID_CU_INIT = 1,
    CBID_CTX_SYNCHRONIZE = 17,
    CBID_MODULE_UNLOAD = 22,
    CBID_EVENT_SYNCHRONIZE = 121,
    CBID_STREAM_SYNCHRONIZE = 126,
    CBID_MEMSET_D8_ASYNC = 216,
    CBID_MEMCPY_HTOD_ASYNC = 277,
    CBID_MEMCPY_DTOH_ASYNC = 279,
    CBID_MEMCPY_DTOD_ASYNC = 281,
    CBID_LAUNCH_KERNEL = 307,
    CBID_MEMCPY_PEER_ASYNC = 319,
    CBID_STREAM_END_CAPTURE = 497,
    CBID_GRAPH_ADD_MEMCPY_NODE = 504,
    CBID_GRAPH_ADD_MEMSET_NODE = 506,
    CBID_GRAPH_LAUNCH = 514,
    CBID_GRAPH_EXEC_DESTROY = 516,
    CBID_GRAPH_DESTROY = 517,
    CBID_GRAPH_ADD_CHILD_NODE = 525,
    CBID_GRAPH_ADD_EMPTY_NODE = 526,
    CBID_STREAM_BEGIN_CAPTURE = 539,
    CBID_GRAPH_INSTANTIATE = 643,
    CBID_LAUNCH_KERNEL_EX = 652,
    CBID_GRAPH_ADD_KERNEL_NODE = 689,
    CBID_GRAPH_EXEC_SET_PARAMS = 692,
    CBID_GRAPH_EXEC_UPDATE = 696,
    CBIDS = 1024,
};

/* Identifiers of resource callbacks. */
enum {
    RESOURCE_CONTEXT_CREATED = 1,
    RESOURCE_CONTEXT_DESTROY_STARTING = 2,
    RESOURCE_STREAM_CREATED = 3,
    RESOURCE_STREAM_DESTROY_STARTING = 4,
    RESOURCE_CU_INIT_FINISHED = 5,
    RESOURCE_MODULE_LOADED = 6,
    RESOURCE_MODULE_UNLOAD_STARTING = 7,
    RESOURCE_GRAPH_CREATED = 9,
    RESOURCE_GRAPH_DESTROY_STARTING = 10,
    RESOURCE_GRAPH_CLONED = 11,
    RESOURCE_NODE_CREATE_STARTING = 12,
    RESOURCE_NODE_CREATED = 13,
    RESOURCE_NODE_DESTROY_STARTING = 14,
    RESOURCE_DEPENDENCY_CREATED = 15,
    RESOURCE_EXEC_CREATE_STARTING = 17,
    RESOURCE_EXEC_CREATED = 18,
    RESOURCE_EXEC_DESTROY_STARTING = 19,
    RESOURCE_NODE_CLONED = 20,
    RESOURCE_NODE_UPDATED = 22,
    RESOURCE_NODE_SET_PARAMS = 23,
    RESOURCES = 32,
};

/* What a thread is inside of, as a profiler's code sees it. */
enum strict_inside {
    INSIDE_NOTHING,
    INSIDE_REQUEST,
    INSIDE_COMPLETE,
    INSIDE_RESOURCE,
    INSIDE_API_ENTER,
    INSIDE_API_EXIT,
};

/* Nodes that one node of a graph may depend on. */
#define STRICT_DEPENDENCIES 8

struct strict_graph;
struct strict_node;
struct strict_exec;
struct strict_module;

struct strict_context {
    uint32_t id;
    uint32_t device;
    struct strict_stream *legacy;
};

/* A stream is used by one thread at a time: its end in time has no lock. */
struct strict_stream {
    uint32_t id;
    struct strict_context *context;
    uint64_t tail_ns;
    uint64_t lag_ns;
    /* While it is captured: the graph, and what the next node depends on. */
    struct strict_graph *capture;
    struct strict_node *before[STRICT_DEPENDENCIES];
    uint32_t before_count;
};

struct strict_function {
    const char *name;
    uint64_t duration_ns;
    struct strict_module *module;
    struct strict_function *next;
    _Atomic uint64_t recorded, recorded_ns;
};

/* Work on a device, and what its record says. */
struct strict_operation {
    uint64_t start_ns;
    uint64_t duration_ns;
    const char *name;
    uint64_t bytes;
    uint64_t node;
    uint32_t graph;
    uint32_t correlation;
    uint32_t device, context, stream;
    uint32_t source_device, target_device;
    uint32_t grid[3], block[3];
    uint8_t kind, what, source_kind, target_kind;
};

/* A call of a function of the driver, from its start to its end. */
struct strict_call {
    uint32_t cbid;
    uint32_t correlation;
    const char *function;
    const void *parameters;
    const char *symbol;
    struct strict_context *context;
    uint64_t correlation_data;
    int result;
};

/* What CUPTI installs in the driver. */
struct strict_hooks {
    uint64_t (*now)(void);
    const _Atomic uint8_t *kinds, *calls, *resources;
    /* Whether the operation will have a record; false: not wanted, or dropped. */
    bool (*record)(const struct strict_operation *);
    void (*call)(struct strict_call *, int site);
    void (*resource)(uint32_t cbid, struct strict_context *, void *handle, void *descriptor);
    /* Records that had no room, and records that the profiler was given. */
    uint64_t (*dropped)(void), (*read)(void);
};

/* Descriptor of resource callbacks of graphs: `CUpti_GraphData`. */
struct strict_graph_data {
    void *graph, *original_graph;
    void *node, *original_node;
    uint32_t node_type;
    void *dependency;
    void *exec;
};

/* What the driver gives to CUPTI, which finds it at run time. */
struct strict_driver {
    /* Where the calling thread says what it is inside of. */
    enum strict_inside *(*inside)(void);
    struct strict_context *(*current)(void);
    uint64_t (*node_id)(const struct strict_node *);
    uint32_t (*graph_id)(const struct strict_graph *);
    uint32_t (*exec_id)(const struct strict_exec *);
    /* Tells of locks that the thread may not hold while it calls the function. */
    void (*check_locks)(const char *function);
};
typedef const struct strict_driver *strict_install_function(struct strict_hooks *);

/* Writes a line to the ledger. */
void strict_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes a line to the ledger and to stderr, and aborts. */
void strict_fatal(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Number that the variable has, or `otherwise`. */
uint64_t strict_number(const char *variable, uint64_t otherwise);
/* Whether checks that cost time are on. */
extern bool strict_checks;

#endif
