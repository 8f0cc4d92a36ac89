/* Graphs as CUPTI tells of them: what each call of the driver does to which, and their signatures. */
#include "graphs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "graph_ids.h"
#include "graph_store.h"

/* Offsets in the parameters of driver functions: the graph that a node is made of. */
enum { ADD_CHILD_CHILD = 32, ADD_NODE_PARAMS = 32, ADD_NODE_V2_PARAMS = 40, NODE_PARAMS_CHILD = 16 };
enum { NODE_KERNEL = 0, NODE_CHILD_GRAPH = 4 };

/* The driver call of this thread; a launch of an earlier era may be over. */
static _Thread_local struct {
    uint32_t era;
    uint32_t cbid;
    const void *params;
    const char *symbol;
} call;
static _Atomic uint32_t era;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the store and the ids; never held in a CUPTI call */

static const void *pointer_at(const void *from, size_t offset) {
    const void *value;
    memcpy(&value, (const char *)from + offset, sizeof value);
    return value;
}

/* The graph that this thread's call adds to another as a node. */
static const void *child_graph(void) {
    if (!call.params) return NULL;
    switch (call.cbid) {
    case DRIVER_cuGraphAddChildGraphNode:
        return pointer_at(call.params, ADD_CHILD_CHILD);
    case DRIVER_cuGraphAddNode:
        return pointer_at(pointer_at(call.params, ADD_NODE_PARAMS), NODE_PARAMS_CHILD);
    case DRIVER_cuGraphAddNode_v2:
        return pointer_at(pointer_at(call.params, ADD_NODE_V2_PARAMS), NODE_PARAMS_CHILD);
    default:
        return NULL;
    }
}

/* Symbol of the kernel that this thread's call launches, or adds as a node. */
static const char *symbol_of_call(void) {
    switch (call.cbid) {
    case 0:
        return NULL;
    case DRIVER_cuGraphAddKernelNode:
    case DRIVER_cuGraphAddKernelNode_v2:
    case DRIVER_cuGraphAddNode:
    case DRIVER_cuGraphAddNode_v2:
        return call.symbol;
    default:
        return call.era == atomic_load_explicit(&era, memory_order_relaxed) ? call.symbol : NULL;
    }
}

static uint64_t seed_of(int type) {
    if (type == NODE_KERNEL) {
        const char *symbol = symbol_of_call();
        return symbol ? graph_seed(type, graph_symbol_hash(symbol)) : 0;
    }
    if (type == NODE_CHILD_GRAPH) {
        uint64_t inner = graph_store_shape(child_graph()).signature;
        return inner ? graph_seed(type, inner) : 0;
    }
    return graph_seed(type, 0);
}

/* ---- Instantiation ---- */

static uint32_t id_of(CUptiResult (*get)(void *, uint32_t *), void *handle) {
    uint32_t id = 0;
    return get && handle && get(handle, &id) == CUPTI_SUCCESS ? id : 0;
}

static void instantiated(const struct cupti *cupti, const struct cupti_graph_data *data) {
    uint32_t exec = id_of(cupti->GetGraphExecId, data->graph_exec);
    uint32_t graph = id_of(cupti->GetGraphId, data->graph);
    uint32_t original = id_of(cupti->GetGraphId, data->original_graph);
    pthread_mutex_lock(&lock);
    bool is_known = graph_store_has(data->graph);
    uint64_t signature = graph_store_shape(is_known ? data->graph : data->original_graph).signature;
    graph_ids_put(GRAPH_ID_EXEC, exec, signature);
    graph_ids_put(GRAPH_ID_TEMPLATE, graph, signature);
    if (signature) graph_ids_put(GRAPH_ID_TEMPLATE, original, signature);
    pthread_mutex_unlock(&lock);
}

static void follow(uint32_t cbid, const struct cupti_graph_data *data) {
    switch (cbid) {
    case RESOURCE_GRAPH_CREATED:
        graph_store_create(data->graph);
        break;
    case RESOURCE_GRAPH_DESTROY_STARTING:
        graph_store_forget(data->graph);
        break;
    case RESOURCE_GRAPH_CLONED:
    case RESOURCE_GRAPHNODE_CLONED:
        graph_store_clone(data->graph, data->original_graph);
        break;
    case RESOURCE_GRAPHNODE_CREATED:
        graph_store_add(data->graph, GRAPH_NODE, data->node, seed_of(data->node_type));
        break;
    case RESOURCE_GRAPHNODE_DESTROY_STARTING:
        graph_store_remove(data->graph, GRAPH_NODE_GONE, data->node, 0);
        break;
    case RESOURCE_GRAPHNODE_DEPENDENCY_CREATED:
        graph_store_add(data->graph, GRAPH_EDGE, data->node, (uintptr_t)data->dependency);
        break;
    case RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING:
        graph_store_remove(data->graph, GRAPH_EDGE_GONE, data->node, (uintptr_t)data->dependency);
        break;
    }
}

void graphs_api(uint32_t cbid, const struct cupti_callback_data *data) {
    if (data->site == CUPTI_API_ENTER) {
        call.era = atomic_load_explicit(&era, memory_order_relaxed);
        call.cbid = cbid;
        call.params = data->function_params;
        call.symbol = data->symbol_name;
    } else {
        call.cbid = 0;
    }
}

void graphs_end_launches(void) { atomic_fetch_add(&era, 1); }

void graphs_resource(const struct cupti *cupti, uint32_t cbid, const struct cupti_graph_data *data) {
    if (cbid == RESOURCE_GRAPHEXEC_CREATED) {
        instantiated(cupti, data);
        return;
    }
    pthread_mutex_lock(&lock);
    follow(cbid, data);
    pthread_mutex_unlock(&lock);
}

uint64_t graphs_signature(uint32_t graph_id) {
    return graph_ids_find(graph_id);
}

void graphs_forget(void) {
    pthread_mutex_init(&lock, NULL);
    graph_store_clear();
    graph_ids_forget();
    call.cbid = 0;
}
