/* Strict driver: graphs, captured from streams or made node by node, and their callbacks. */
#include "driver_graphs.h"

#include <stdlib.h>
#include <string.h>

/* Parameters of nodes as cuda.h has them. */
struct kernel_node_parameters {
    void *function;
    unsigned int grid[3], block[3], shared_bytes;
    void **arguments, **extra;
    void *kernel, *context;
};

_Atomic uint32_t graph_last_id;

uint64_t strict_node_id(const struct strict_node *node)
{
    return (uint64_t)node->graph->id << 32 | (node->index + 1);
}

uint32_t strict_graph_id(const struct strict_graph *graph)
{
    return graph->id;
}

uint32_t strict_exec_id(const struct strict_exec *exec)
{
    return exec->id;
}

void tell_graph(uint32_t cbid, struct strict_graph_data data)
{
    tell_resource(cbid, NULL, &data);
}

static struct strict_node *append(struct strict_graph *graph, uint32_t type,
                                  const struct strict_operation *operation,
                                  struct strict_function *function)
{
    struct strict_node *node = calloc(1, sizeof *node);
    node->graph = graph;
    node->type = type;
    node->index = graph->nodes++;
    if (operation)
        node->operation = *operation;
    node->function = function;
    *(graph->last ? &graph->last->next : &graph->first) = node;
    graph->last = node;
    return node;
}

static void depend(struct strict_node *node, struct strict_node *before)
{
    for (uint32_t i = 0; i < node->dependencies; i++) {
        if (node->before[i] == before)
            return;
    }
    if (node->dependencies == STRICT_DEPENDENCIES)
        strict_fatal("strict driver: more than %d dependencies of a node", STRICT_DEPENDENCIES);
    node->before[node->dependencies++] = before;
}

static void tell_edge(struct strict_graph *graph, struct strict_node *from, struct strict_node *to)
{
    const char *first = getenv("STRICT_EDGES");
    bool reversed = first && !strcmp(first, "from");
    tell_graph(RESOURCE_DEPENDENCY_CREATED, (struct strict_graph_data){
                   .graph = graph, .node = reversed ? from : to,
                   .node_type = reversed ? from->type : to->type,
                   .dependency = reversed ? to : from});
}

static struct strict_node *add(struct strict_graph *graph, uint32_t type,
                               const struct strict_operation *operation,
                               struct strict_function *function, struct strict_node *const *before,
                               size_t count)
{
    tell_graph(RESOURCE_NODE_CREATE_STARTING,
               (struct strict_graph_data){.graph = graph, .node_type = type});
    struct strict_node *node = append(graph, type, operation, function);
    for (size_t i = 0; i < count; i++)
        depend(node, before[i]);
    tell_graph(RESOURCE_NODE_CREATED,
               (struct strict_graph_data){.graph = graph, .node = node, .node_type = type});
    for (uint32_t i = 0; i < node->dependencies; i++)
        tell_edge(graph, node->before[i], node);
    return node;
}

STRICT_API CUresult cuGraphCreate(void **graph, unsigned int flags)
{
    (void)flags;
    forbid_inside("cuGraphCreate");
    struct strict_graph *made = calloc(1, sizeof *made);
    made->id = ++graph_last_id;
    *graph = made;
    tell_graph(RESOURCE_GRAPH_CREATED, (struct strict_graph_data){.graph = made});
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuStreamBeginCapture_v2(void *stream, int mode)
{
    struct {
        void *stream;
        int mode;
    } p = {stream, mode};
    struct strict_call call = begin(CBID_STREAM_BEGIN_CAPTURE, "cuStreamBeginCapture_v2", &p, NULL);
    struct strict_stream *captured = stream_of(stream);
    captured->before_count = 0;
    void *graph;
    CUresult result = cuGraphCreate(&graph, 0);
    captured->capture = graph;
    return end(&call, result);
}

STRICT_API CUresult cuStreamEndCapture(void *stream, void **graph)
{
    struct {
        void *stream;
        void **graph;
    } p = {stream, graph};
    struct strict_call call = begin(CBID_STREAM_END_CAPTURE, "cuStreamEndCapture", &p, NULL);
    struct strict_stream *captured = stream_of(stream);
    *graph = captured->capture;
    captured->capture = NULL;
    captured->before_count = 0;
    return end(&call, *graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

STRICT_API CUresult cuStreamIsCapturing(void *stream, int *status)
{
    forbid_inside("cuStreamIsCapturing");
    *status = stream_of(stream)->capture != NULL;
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuThreadExchangeStreamCaptureMode(int *mode)
{
    forbid_inside("cuThreadExchangeStreamCaptureMode");
    *mode = 0;
    return CUDA_SUCCESS;
}

void capture(struct strict_stream *stream, uint32_t type, const struct strict_operation *operation,
             struct strict_function *function)
{
    stream->before[0] = add(stream->capture, type, operation, function, stream->before,
                            stream->before_count);
    stream->before_count = 1;
}

/* A wait for an event is no node. */
void capture_wait(struct strict_stream *stream, const struct strict_stream *then)
{
    stream->capture = then->capture;
    for (uint32_t i = 0; i < then->before_count; i++) {
        bool known = false;
        for (uint32_t j = 0; j < stream->before_count; j++)
            known |= stream->before[j] == then->before[i];
        if (!known && stream->before_count < STRICT_DEPENDENCIES)
            stream->before[stream->before_count++] = then->before[i];
    }
}

/* A stream that joined a capture leaves it when the first one ends it. */
STRICT_API CUresult strictStreamLeaveCapture(void *stream)
{
    struct strict_stream *joined = stream_of(stream);
    joined->capture = NULL;
    joined->before_count = 0;
    return CUDA_SUCCESS;
}

/* The header promises a symbol only for launches. */
static const char *symbol_of_node(const struct strict_function *function)
{
    return strict_number("STRICT_NODE_SYMBOLS", 0) ? function->name : NULL;
}

STRICT_API CUresult cuGraphAddKernelNode_v2(void **node, void *graph, void *const *before,
                                            size_t count,
                                            const struct kernel_node_parameters *parameters)
{
    struct {
        void **node;
        void *graph;
        void *const *before;
        size_t count;
        const struct kernel_node_parameters *parameters;
    } p = {node, graph, before, count, parameters};
    struct strict_function *function = parameters->function;
    struct strict_call call =
        begin(CBID_GRAPH_ADD_KERNEL_NODE, "cuGraphAddKernelNode_v2", &p, symbol_of_node(function));
    struct strict_operation operation = {
        .kind = KIND_CONCURRENT_KERNEL,
        .name = function->name,
        .duration_ns = function->duration_ns,
    };
    memcpy(operation.grid, parameters->grid, sizeof operation.grid);
    memcpy(operation.block, parameters->block, sizeof operation.block);
    *node = add(graph, NODE_KERNEL, &operation, function, (struct strict_node *const *)before,
                count);
    return end(&call, CUDA_SUCCESS);
}

STRICT_API CUresult cuGraphAddDependencies(void *graph, void *const *from, void *const *to,
                                           size_t count)
{
    forbid_inside("cuGraphAddDependencies");
    for (size_t i = 0; i < count; i++) {
        depend(to[i], from[i]);
        tell_edge(graph, from[i], to[i]);
    }
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuGraphAddEmptyNode(void **node, void *graph, void *const *before, size_t count)
{
    struct {
        void **node;
        void *graph;
        void *const *before;
        size_t count;
    } p = {node, graph, before, count};
    struct strict_call call = begin(CBID_GRAPH_ADD_EMPTY_NODE, "cuGraphAddEmptyNode", &p, NULL);
    *node = add(graph, NODE_EMPTY, NULL, NULL, (struct strict_node *const *)before, count);
    return end(&call, CUDA_SUCCESS);
}

void clone_nodes(struct strict_graph *made, struct strict_graph *graph)
{
    for (struct strict_node *node = graph->first; node; node = node->next) {
        struct strict_node *clone = append(made, node->type, &node->operation, node->function);
        clone->original = node;
        clone->child = node->child;
        tell_graph(RESOURCE_NODE_CLONED, (struct strict_graph_data){
                       .graph = made, .original_graph = graph, .node = clone,
                       .original_node = node, .node_type = node->type});
        if (node->child)
            clone_nodes(made, node->child);
    }
}

/* The child is copied: the caller may destroy it. */
STRICT_API CUresult cuGraphAddChildGraphNode(void **node, void *graph, void *const *before,
                                             size_t count, void *child)
{
    struct {
        void **node;
        void *graph;
        void *const *before;
        size_t count;
        void *child;
    } p = {node, graph, before, count, child};
    struct strict_call call =
        begin(CBID_GRAPH_ADD_CHILD_NODE, "cuGraphAddChildGraphNode", &p, NULL);
    struct strict_graph *copy = calloc(1, sizeof *copy);
    copy->id = ++graph_last_id;
    tell_graph(RESOURCE_GRAPH_CLONED,
               (struct strict_graph_data){.graph = copy, .original_graph = child});
    clone_nodes(copy, child);
    struct strict_node *made =
        add(graph, NODE_CHILD, NULL, NULL, (struct strict_node *const *)before, count);
    made->child = copy;
    *node = made;
    return end(&call, CUDA_SUCCESS);
}

void destroy_nodes(struct strict_graph *graph)
{
    for (struct strict_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        tell_graph(RESOURCE_NODE_DESTROY_STARTING, (struct strict_graph_data){
                       .graph = graph, .node = node, .node_type = node->type});
        free(node);
    }
    graph->first = graph->last = NULL;
}

STRICT_API CUresult cuGraphDestroy(void *graph)
{
    struct strict_call call = begin(CBID_GRAPH_DESTROY, "cuGraphDestroy", &graph, NULL);
    tell_graph(RESOURCE_GRAPH_DESTROY_STARTING, (struct strict_graph_data){.graph = graph});
    destroy_nodes(graph);
    free(graph);
    return end(&call, CUDA_SUCCESS);
}

STRICT_API CUresult cuGraphGetNodes(void *graph, void **nodes, size_t *count)
{
    forbid_inside("cuGraphGetNodes");
    struct strict_graph *asked = graph;
    size_t index = 0;
    for (struct strict_node *node = asked->first; nodes && node && index < *count;
         node = node->next)
        nodes[index++] = node;
    *count = nodes ? index : asked->nodes;
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuGraphNodeGetType(void *node, int *type)
{
    forbid_inside("cuGraphNodeGetType");
    *type = (int)((struct strict_node *)node)->type;
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuGraphKernelNodeGetParams_v2(void *node, struct kernel_node_parameters *p)
{
    forbid_inside("cuGraphKernelNodeGetParams_v2");
    struct strict_node *asked = node;
    *p = (struct kernel_node_parameters){.function = asked->function};
    memcpy(p->grid, asked->operation.grid, sizeof p->grid);
    memcpy(p->block, asked->operation.block, sizeof p->block);
    return CUDA_SUCCESS;
}
