/* Graphs of the fake driver: built node by node, instantiated and launched, with CUPTI's callbacks. */
#include "fake_cuda_graphs.h"

enum { ADD_CHILD = 525, ADD_KERNEL_V2 = 689, INSTANTIATE = 578, LAUNCH = 514 };

struct exec {
    uint32_t id, template_id;
    bool traced; /* as a whole; decided by the kinds enabled at its creation */
    int count;
    const char *kernels[NODES];
};

static uint32_t last_id;

static uint32_t new_id(void) { return __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED); }

void graph_tell(uint32_t cbid, struct fake_graph_data data) {
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

struct graph *graph_new(void) {
    struct graph *graph = calloc(1, sizeof *graph);
    graph->id = new_id();
    return graph;
}

static void depend(struct graph *graph, struct node *from, struct node *to) {
    graph_tell(DEPENDENCY_CREATED, (struct fake_graph_data){.graph = graph,
                                                            .node = to,
                                                            .node_type = to->type,
                                                            .dependency = from});
}

struct node *graph_node(struct graph *graph, struct node made, struct node *const after[],
                        size_t count) {
    struct node *node = malloc(sizeof *node);
    *node = made;
    if (graph->count == NODES) abort();
    graph->nodes[graph->count++] = node;
    graph_tell(NODE_CREATE_STARTING, (struct fake_graph_data){.graph = graph, .node_type = node->type});
    graph_tell(NODE_CREATED,
               (struct fake_graph_data){.graph = graph, .node = node, .node_type = node->type});
    for (size_t i = 0; i < count; i++) depend(graph, after[i], node);
    return node;
}

void graph_free(struct graph *graph) {
    for (int i = 0; i < graph->count; i++) {
        struct node *node = graph->nodes[i];
        graph_tell(NODE_DESTROY_STARTING,
                   (struct fake_graph_data){.graph = graph, .node = node, .node_type = node->type});
        if (node->child != NULL) graph_free(node->child);
        free(node);
    }
    graph_tell(GRAPH_DESTROY_STARTING, (struct fake_graph_data){.graph = graph});
    free(graph);
}

/* ---- built node by node ---- */

EXPORT int cuGraphCreate(void **graph, unsigned flags) {
    (void)flags;
    int refused = driver_refuses("cuGraphCreate");
    if (refused) return refused;
    *graph = graph_new();
    graph_tell(GRAPH_CREATED, (struct fake_graph_data){.graph = *graph});
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
    *node = graph_node(graph, (struct node){NODE_KERNEL, function->name, NULL},
                     (struct node *const *)after, count);
    driver_exit(ADD_KERNEL_V2, call);
    return CUDA_SUCCESS;
}

static struct graph *graph_clone(const struct graph *original) {
    struct graph *clone = graph_new();
    graph_tell(GRAPH_CLONED, (struct fake_graph_data){.graph = clone, .original_graph = original});
    for (int i = 0; i < original->count; i++) {
        struct node *node = malloc(sizeof *node);
        *node = *original->nodes[i];
        clone->nodes[clone->count++] = node;
        graph_tell(NODE_CLONED, (struct fake_graph_data){.graph = clone,
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
    *node = graph_node(graph, (struct node){NODE_CHILD, NULL, graph_clone(child)},
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

/* ---- executable ---- */

static void instantiate(struct exec *exec, const struct graph *graph) {
    for (int i = 0; i < graph->count; i++) {
        const struct node *node = graph->nodes[i];
        graph_tell(NODE_CLONED, (struct fake_graph_data){.graph = graph,
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
    graph_tell(EXEC_CREATE_STARTING, (struct fake_graph_data){.graph = graph});
    instantiate(exec, graph);
    graph_tell(EXEC_CREATED, (struct fake_graph_data){.graph = graph, .graph_exec = exec});
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
    graph_tell(EXEC_DESTROY_STARTING, (struct fake_graph_data){.graph_exec = exec});
    free(exec);
    return CUDA_SUCCESS;
}
