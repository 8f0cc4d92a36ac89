/* Strict driver: executable graphs, instantiated from graphs, updated and launched. */
#include "driver_graphs.h"

#include <stdlib.h>

STRICT_API CUresult cuGraphInstantiateWithFlags(void **made, void *graph, unsigned long long flags)
{
    struct {
        void **made;
        void *graph;
        unsigned long long flags;
    } p = {made, graph, flags};
    struct strict_call call =
        begin(CBID_GRAPH_INSTANTIATE, "cuGraphInstantiateWithFlags", &p, NULL);
    tell_graph(RESOURCE_EXEC_CREATE_STARTING, (struct strict_graph_data){.graph = graph});
    struct strict_exec *exec = calloc(1, sizeof *exec);
    exec->id = exec->graph.id = ++graph_last_id;
    struct strict_hooks *hooks = atomic_load(&strict_hooks);
    /* Whole graphs are traced only if that was asked for before they were instantiated. */
    exec->whole = hooks && atomic_load(&hooks->kinds[KIND_GRAPH_TRACE]);
    clone_nodes(&exec->graph, graph);
    *made = exec;
    tell_graph(RESOURCE_EXEC_CREATED, (struct strict_graph_data){.graph = graph, .exec = exec});
    return end(&call, CUDA_SUCCESS);
}

STRICT_API CUresult cuGraphExecUpdate_v2(void *exec, void *graph, void *info)
{
    struct {
        void *exec, *graph, *info;
    } p = {exec, graph, info};
    struct strict_call call = begin(CBID_GRAPH_EXEC_UPDATE, "cuGraphExecUpdate_v2", &p, NULL);
    struct strict_exec *updated = exec;
    struct strict_node *from = ((struct strict_graph *)graph)->first;
    for (struct strict_node *node = updated->graph.first; node && from;
         node = node->next, from = from->next) {
        node->operation = from->operation;
        node->function = from->function;
        node->original = from;
        tell_graph(RESOURCE_NODE_UPDATED, (struct strict_graph_data){
                       .graph = &updated->graph, .original_graph = graph, .node = node,
                       .original_node = from, .node_type = node->type, .exec = exec});
    }
    return end(&call, CUDA_SUCCESS);
}

/* The nodes run one after the other; only an exec made for it has one record of all. */
STRICT_API CUresult cuGraphLaunch(void *exec, void *stream)
{
    struct {
        void *exec, *stream;
    } p = {exec, stream};
    struct strict_call call = begin(CBID_GRAPH_LAUNCH, "cuGraphLaunch", &p, NULL);
    struct strict_exec *launched = exec;
    struct strict_stream *on = stream_of(stream);
    struct strict_operation whole = {
        .kind = KIND_GRAPH_TRACE, .correlation = call.correlation, .graph = launched->id};
    for (struct strict_node *node = launched->graph.first; node; node = node->next) {
        struct strict_operation operation = node->operation;
        whole.duration_ns += operation.duration_ns;
        if (launched->whole || node->type > NODE_MEMSET)
            continue;
        operation.correlation = call.correlation;
        operation.graph = launched->id;
        operation.node = strict_node_id(node);
        execute(on, &operation, node->function);
    }
    if (launched->whole && execute(on, &whole, NULL)) {
        atomic_fetch_add(&launched->launches, 1);
        atomic_fetch_add(&launched->recorded_ns, whole.duration_ns);
    }
    return end(&call, CUDA_SUCCESS);
}

/* Launches that have one record of the whole graph, and the sum of their durations. */
STRICT_API CUresult strictGraphGetRecorded(void *exec, uint64_t *launches, uint64_t *sum_ns)
{
    *launches = atomic_load(&((struct strict_exec *)exec)->launches);
    *sum_ns = atomic_load(&((struct strict_exec *)exec)->recorded_ns);
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuGraphExecDestroy(void *exec)
{
    struct strict_call call = begin(CBID_GRAPH_EXEC_DESTROY, "cuGraphExecDestroy", &exec, NULL);
    tell_graph(RESOURCE_EXEC_DESTROY_STARTING, (struct strict_graph_data){.exec = exec});
    destroy_nodes(&((struct strict_exec *)exec)->graph);
    free(exec);
    return end(&call, CUDA_SUCCESS);
}
