/* Graphs of the fake driver: built node by node or captured, instantiated and launched, with CUPTI's callbacks. */
#include <pthread.h>

#include "fake_cuda.h"

enum {
    GRAPH_CREATED = 9,
    GRAPH_DESTROY_STARTING = 10,
    GRAPH_CLONED = 11,
    NODE_CREATE_STARTING = 12,
    NODE_CREATED = 13,
    NODE_DESTROY_STARTING = 14,
    DEPENDENCY_CREATED = 15,
    EXEC_CREATE_STARTING = 17,
    EXEC_CREATED = 18,
    EXEC_DESTROY_STARTING = 19,
    NODE_CLONED = 20,
};
enum { NODE_KERNEL = 0, NODE_CHILD = 4 };
enum { ADD_CHILD = 525, ADD_KERNEL_V2 = 689, INSTANTIATE = 578, LAUNCH = 514 };
enum { BEGIN_CAPTURE_V2 = 539, END_CAPTURE = 497 };
enum { ERROR_ILLEGAL_STATE = 401, ERROR_INVALIDATED = 901, ERROR_UNMATCHED = 903, ERROR_WRONG_THREAD = 908 };
enum { NODES = 64, STREAMS = 8, FRONTIER = 8 };

struct node {
    int type;
    const char *name;
    struct graph *child;
};

struct graph {
    uint32_t id;
    int count;
    struct node *nodes[NODES];
};

struct exec {
    uint32_t id, template_id;
    bool traced; /* as a whole; decided by the kinds enabled at its creation */
    int count;
    const char *kernels[NODES];
};

/* Predecessors of the next node of a stream or an event. */
struct frontier {
    struct graph *graph; /* NULL: not captured */
    bool begun;          /* the capture began on this stream, in this thread */
    pthread_t thread;
    bool invalid;
    int count;
    struct node *nodes[FRONTIER];
};

static uint32_t last_id;
static struct frontier streams[STREAMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the graphs of the streams */

static uint32_t new_id(void) { return __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED); }

static void tell(uint32_t cbid, struct fake_graph_data data) {
    if (fake_cupti != NULL) fake_cupti->graph(cbid, &data);
}

bool graph_id(const void *graph, uint32_t *id) {
    *id = ((const struct graph *)graph)->id;
    return true;
}

bool graph_exec_id(const void *exec, uint32_t *id) {
    *id = ((const struct exec *)exec)->id;
    return true;
}

static struct graph *graph_new(void) {
    struct graph *graph = calloc(1, sizeof *graph);
    graph->id = new_id();
    return graph;
}

static void depend(struct graph *graph, struct node *from, struct node *to) {
    tell(DEPENDENCY_CREATED, (struct fake_graph_data){.graph = graph,
                                                      .node = to,
                                                      .node_type = to->type,
                                                      .dependency = from});
}

static struct node *node_new(struct graph *graph, struct node made, struct node *const after[],
                             size_t count) {
    struct node *node = malloc(sizeof *node);
    *node = made;
    if (graph->count == NODES) abort();
    graph->nodes[graph->count++] = node;
    tell(NODE_CREATE_STARTING, (struct fake_graph_data){.graph = graph, .node_type = node->type});
    tell(NODE_CREATED,
         (struct fake_graph_data){.graph = graph, .node = node, .node_type = node->type});
    for (size_t i = 0; i < count; i++) depend(graph, after[i], node);
    return node;
}

static void graph_free(struct graph *graph) {
    for (int i = 0; i < graph->count; i++) {
        struct node *node = graph->nodes[i];
        tell(NODE_DESTROY_STARTING,
             (struct fake_graph_data){.graph = graph, .node = node, .node_type = node->type});
        if (node->child != NULL) graph_free(node->child);
        free(node);
    }
    tell(GRAPH_DESTROY_STARTING, (struct fake_graph_data){.graph = graph});
    free(graph);
}

/* ---- built node by node ---- */

EXPORT int cuGraphCreate(void **graph, unsigned flags) {
    (void)flags;
    int refused = driver_refuses("cuGraphCreate");
    if (refused) return refused;
    *graph = graph_new();
    tell(GRAPH_CREATED, (struct fake_graph_data){.graph = *graph});
    return CUDA_SUCCESS;
}

/* The first member of the real parameters is the function. */
EXPORT int cuGraphAddKernelNode_v2(void **node, void *graph, void *const *after, size_t count,
                                   const void *params) {
    int refused = driver_refuses("cuGraphAddKernelNode_v2");
    if (refused) return refused;
    const struct function *function = *(void *const *)params;
    struct {
        void **node, *graph;
        void *const *after;
        size_t count;
        const void *params;
    } arguments = {node, graph, after, count, params};
    struct fake_call call = {
        .function = "cuGraphAddKernelNode_v2", .symbol = function->name, .params = &arguments};
    driver_enter(ADD_KERNEL_V2, call);
    *node = node_new(graph, (struct node){NODE_KERNEL, function->name, NULL},
                     (struct node *const *)after, count);
    driver_exit(ADD_KERNEL_V2, call);
    return CUDA_SUCCESS;
}

static struct graph *graph_clone(const struct graph *original) {
    struct graph *clone = graph_new();
    tell(GRAPH_CLONED, (struct fake_graph_data){.graph = clone, .original_graph = original});
    for (int i = 0; i < original->count; i++) {
        struct node *node = malloc(sizeof *node);
        *node = *original->nodes[i];
        clone->nodes[clone->count++] = node;
        tell(NODE_CLONED, (struct fake_graph_data){.graph = clone,
                                                   .original_graph = original,
                                                   .node = node,
                                                   .original_node = original->nodes[i],
                                                   .node_type = node->type});
    }
    return clone;
}

EXPORT int cuGraphAddChildGraphNode(void **node, void *graph, void *const *after, size_t count,
                                    void *child) {
    int refused = driver_refuses("cuGraphAddChildGraphNode");
    if (refused) return refused;
    struct {
        void **node, *graph;
        void *const *after;
        size_t count;
        void *child;
    } arguments = {node, graph, after, count, child};
    struct fake_call call = {.function = "cuGraphAddChildGraphNode", .params = &arguments};
    driver_enter(ADD_CHILD, call);
    *node = node_new(graph, (struct node){NODE_CHILD, NULL, graph_clone(child)},
                     (struct node *const *)after, count);
    driver_exit(ADD_CHILD, call);
    return CUDA_SUCCESS;
}

EXPORT int cuGraphAddDependencies(void *graph, void *const *from, void *const *to, size_t count) {
    int refused = driver_refuses("cuGraphAddDependencies");
    if (refused) return refused;
    for (size_t i = 0; i < count; i++) depend(graph, from[i], to[i]);
    return CUDA_SUCCESS;
}

EXPORT int cuGraphDestroy(void *graph) {
    int refused = driver_refuses("cuGraphDestroy");
    if (refused == 0) graph_free(graph);
    return refused;
}

/* ---- captured ---- */

static struct frontier *frontier_of(const void *stream) {
    return &streams[driver_stream(stream) % STREAMS];
}

bool graph_captures(const void *stream, const struct function *function) {
    struct frontier *at = frontier_of(stream);
    pthread_mutex_lock(&lock);
    bool captured = at->graph != NULL;
    pthread_mutex_unlock(&lock);
    if (!captured) return false;
    struct node made = {NODE_KERNEL, function->name, NULL};
    at->nodes[0] = node_new(at->graph, made, at->nodes, (size_t)at->count);
    at->count = 1;
    return true;
}

/* Any mode but "relaxed": a capture ends in the thread that began it. */
EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) {
    (void)mode;
    int refused = driver_refuses("cuStreamBeginCapture_v2");
    if (refused) return refused;
    struct fake_call call = {.function = "cuStreamBeginCapture_v2", .params = &stream};
    struct frontier *at = frontier_of(stream);
    driver_enter(BEGIN_CAPTURE_V2, call);
    struct graph *made = graph_new();
    pthread_mutex_lock(&lock);
    if (at->graph != NULL) call.result = ERROR_ILLEGAL_STATE;
    else *at = (struct frontier){.graph = made, .begun = true, .thread = pthread_self()};
    pthread_mutex_unlock(&lock);
    if (call.result == CUDA_SUCCESS) tell(GRAPH_CREATED, (struct fake_graph_data){.graph = made});
    else free(made);
    driver_exit(BEGIN_CAPTURE_V2, call);
    return call.result;
}

static void release(const struct graph *captured) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < STREAMS; i++) {
        if (streams[i].graph == captured) streams[i] = (struct frontier){0};
    }
    pthread_mutex_unlock(&lock);
}

static int end_capture(struct frontier *origin, struct graph **graph) {
    struct graph *captured = origin->graph;
    bool invalid = origin->invalid;
    *graph = NULL;
    if (captured == NULL) return ERROR_ILLEGAL_STATE;
    if (!origin->begun) return ERROR_UNMATCHED;
    if (!pthread_equal(origin->thread, pthread_self())) return ERROR_WRONG_THREAD;
    release(captured);
    if (invalid) graph_free(captured);
    else *graph = captured;
    return invalid ? ERROR_INVALIDATED : CUDA_SUCCESS;
}

EXPORT int cuStreamEndCapture(void *stream, void **graph) {
    int refused = driver_refuses("cuStreamEndCapture");
    if (refused) return refused;
    struct fake_call call = {.function = "cuStreamEndCapture", .params = &stream};
    driver_enter(END_CAPTURE, call);
    call.result = end_capture(frontier_of(stream), (struct graph **)graph);
    driver_exit(END_CAPTURE, call);
    return call.result;
}

/* A function of the fake alone: what cannot be captured makes a capture invalid. */
EXPORT void fake_invalidate(void *stream) { frontier_of(stream)->invalid = true; }

EXPORT int cuStreamDestroy_v2(void *stream) {
    int refused = driver_refuses("cuStreamDestroy_v2");
    if (refused) return refused;
    struct frontier *at = frontier_of(stream);
    if (fake_cupti != NULL) fake_cupti->stream(stream);
    struct graph *captured = at->begun ? at->graph : NULL;
    if (captured == NULL) return CUDA_SUCCESS;
    release(captured);
    graph_free(captured);
    return CUDA_SUCCESS;
}

/* An event is a frontier that the caller owns. */
EXPORT int cuEventCreate(void **event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof(struct frontier));
    return driver_refuses("cuEventCreate");
}

EXPORT int cuEventRecord(void *event, void *stream) {
    *(struct frontier *)event = *frontier_of(stream);
    return driver_refuses("cuEventRecord");
}

EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)flags;
    const struct frontier *joined = event;
    struct frontier *at = frontier_of(stream);
    pthread_mutex_lock(&lock);
    at->graph = joined->graph;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < joined->count; i++) {
        bool known = false;
        for (int j = 0; j < at->count; j++) known |= at->nodes[j] == joined->nodes[i];
        if (!known) at->nodes[at->count++] = joined->nodes[i];
    }
    return driver_refuses("cuStreamWaitEvent");
}

EXPORT int cuEventDestroy_v2(void *event) {
    free(event);
    return driver_refuses("cuEventDestroy_v2");
}

/* ---- executable ---- */

static void instantiate(struct exec *exec, const struct graph *graph) {
    for (int i = 0; i < graph->count; i++) {
        const struct node *node = graph->nodes[i];
        tell(NODE_CLONED, (struct fake_graph_data){.graph = graph,
                                                   .original_graph = graph,
                                                   .node = &exec->kernels[exec->count],
                                                   .original_node = node,
                                                   .node_type = node->type});
        if (node->child != NULL) instantiate(exec, node->child);
        if (node->type == NODE_KERNEL) exec->kernels[exec->count++] = node->name;
    }
}

EXPORT int cuGraphInstantiateWithFlags(void **made, void *graph, uint64_t flags) {
    (void)flags;
    int refused = driver_refuses("cuGraphInstantiateWithFlags");
    if (refused) return refused;
    struct exec *exec = calloc(1, sizeof *exec);
    exec->id = new_id();
    exec->template_id = ((struct graph *)graph)->id;
    exec->traced = fake_cupti != NULL && fake_cupti->enabled(KIND_GRAPH_TRACE);
    driver_enter(INSTANTIATE, (struct fake_call){.function = "cuGraphInstantiateWithFlags"});
    tell(EXEC_CREATE_STARTING, (struct fake_graph_data){.graph = graph});
    instantiate(exec, graph);
    tell(EXEC_CREATED, (struct fake_graph_data){.graph = graph, .graph_exec = exec});
    driver_exit(INSTANTIATE, (struct fake_call){.function = "cuGraphInstantiateWithFlags"});
    *made = exec;
    return CUDA_SUCCESS;
}

static uint32_t recorded_id(const struct exec *exec) {
    const char *which = getenv("FAKE_GRAPH_ID");
    return which != NULL && strcmp(which, "template") == 0 ? exec->template_id : exec->id;
}

/* A launch lasts from start to end; each of its kernels takes an equal share of the time. */
EXPORT int cuGraphLaunch(void *handle, void *stream) {
    int refused = driver_refuses("cuGraphLaunch");
    if (refused) return refused;
    const struct exec *exec = handle;
    struct fake_operation whole = {.kind = KIND_GRAPH_TRACE,
                                   .device = driver_device(),
                                   .stream = driver_stream(stream),
                                   .graph = recorded_id(exec)};
    driver_interval(&whole.start, &whole.end);
    driver_enter(LAUNCH, (struct fake_call){.function = "cuGraphLaunch"});
    uint64_t share = (whole.end - whole.start) / (uint64_t)exec->count;
    for (int i = 0; i < exec->count && !exec->traced; i++) {
        struct fake_operation kernel = whole;
        kernel.kind = KIND_KERNEL;
        kernel.start += (uint64_t)i * share;
        kernel.end = kernel.start + share;
        kernel.name = exec->kernels[i];
        kernel.node = (uint64_t)exec->id << 32 | (uint64_t)i;
        driver_operation(kernel);
    }
    if (exec->traced) driver_operation(whole);
    driver_exit(LAUNCH, (struct fake_call){.function = "cuGraphLaunch"});
    return CUDA_SUCCESS;
}

EXPORT int cuGraphExecDestroy(void *exec) {
    int refused = driver_refuses("cuGraphExecDestroy");
    if (refused) return refused;
    tell(EXEC_DESTROY_STARTING, (struct fake_graph_data){.graph_exec = exec});
    free(exec);
    return CUDA_SUCCESS;
}
