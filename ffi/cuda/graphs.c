/* Graphs: the events of each existing graph, and the shapes of clones. */
#include "graphs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "graph_ids.h"
#include "graph_shape.h"

/* Bytes for all graphs, and with the memory to compute a shape. */
#define KEPT_BUDGET (1u << 20)
#define BUDGET (2u << 20)
#define BUCKETS 1024u
#define FIRST_CAPACITY 16u

/* Offsets in the parameters of driver functions: the graph that a node is made of. */
enum { ADD_CHILD_CHILD = 32, ADD_NODE_PARAMS = 32, ADD_NODE_V2_PARAMS = 40, NODE_PARAMS_CHILD = 16 };
enum { NODE_KERNEL = 0, NODE_CHILD_GRAPH = 4 };

/* A graph that exists: its events or, if `sealed`, only its shape. */
struct graph {
    const void *handle;
    struct graph *next;
    struct graph_event *events;
    uint32_t count, capacity;
    uint32_t nodes, edges;    /* among the events; after sealing, how many were added */
    struct graph_shape shape; /* once `shaped` */
    bool shaped;
    bool sealed;
    bool cloned; /* sealed with the shape of its original */
    bool lost;   /* its structure cannot be known */
};

/* The driver call of this thread; a launch of an earlier era may be over. */
static _Thread_local struct {
    uint32_t era;
    uint32_t cbid;
    const void *params;
    const char *symbol;
} call;
static _Atomic uint32_t era;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the two below; never held in a CUPTI call */
static struct graph *graphs[BUCKETS];
static size_t used;

/* ---- Memory ---- */

static void drop_events(struct graph *g) {
    used -= g->capacity * sizeof *g->events;
    free(g->events);
    g->events = NULL;
    g->count = g->capacity = g->nodes = g->edges = 0;
}

/* Seals the graphs that have a shape already. */
static void make_room(void) {
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct graph *g = graphs[i]; g; g = g->next) {
            if (!g->shaped || g->sealed) continue;
            drop_events(g);
            g->sealed = true;
        }
    }
}

static bool reserve(size_t bytes, size_t budget) {
    if (used + bytes > budget) make_room();
    if (used + bytes > budget) return false;
    used += bytes;
    return true;
}

static bool grow(struct graph *g) {
    uint32_t capacity = g->capacity ? g->capacity + g->capacity / 2 : FIRST_CAPACITY;
    size_t more = (capacity - g->capacity) * sizeof *g->events;
    if (!reserve(more, KEPT_BUDGET)) return false;
    struct graph_event *events = realloc(g->events, capacity * sizeof *events);
    if (!events) {
        used -= more;
        return false;
    }
    g->events = events;
    g->capacity = capacity;
    return true;
}

/* ---- Graphs by handle ---- */

static struct graph **bucket_of(const void *handle) {
    return &graphs[(uintptr_t)handle * 0x9e3779b97f4a7c15u >> 54];
}

static struct graph **link_to(const void *handle) {
    struct graph **link = bucket_of(handle);
    while (*link && (*link)->handle != handle) link = &(*link)->next;
    return link;
}

static void forget(const void *handle) {
    struct graph **link = link_to(handle), *g = *link;
    if (!g) return;
    drop_events(g);
    *link = g->next;
    used -= sizeof *g;
    free(g);
}

/* The graph with this handle, added if it is new. NULL: no room. */
static struct graph *graph_of(const void *handle) {
    struct graph *known = *link_to(handle);
    if (known || !handle || !reserve(sizeof *known, KEPT_BUDGET)) return known;
    struct graph *g = calloc(1, sizeof *g);
    if (!g) {
        used -= sizeof *g;
        return NULL;
    }
    struct graph **bucket = bucket_of(handle);
    g->handle = handle;
    g->next = *bucket;
    return *bucket = g;
}

/* ---- Shapes ---- */

static void lose(struct graph *g) {
    drop_events(g);
    g->lost = true;
}

static void compute_shape(struct graph *g) {
    size_t bytes = graph_shape_room(g->nodes, g->edges);
    if (!reserve(bytes, BUDGET)) return;
    void *room = malloc(bytes);
    if (room) {
        g->shape = graph_shape(g->events, g->count, g->nodes, g->edges, room);
        g->shaped = true;
    }
    free(room);
    used -= bytes;
}

/* CUPTI may report all nodes and edges of a clone as created; any other count is a change to a graph whose
 * nodes are not held. */
static bool is_still_clone(const struct graph *g) {
    return (g->nodes == 0 || g->nodes == g->shape.nodes) && (g->edges == 0 || g->edges == g->shape.edges);
}

static struct graph_shape shape_of(const void *handle) {
    struct graph_shape unknown = {0};
    struct graph *g = *link_to(handle);
    if (!g || g->lost) return unknown;
    if (g->sealed) return is_still_clone(g) ? g->shape : unknown;
    if (!g->shaped) compute_shape(g);
    return g->shaped ? g->shape : unknown;
}

/* ---- Events ---- */

static void append(struct graph *g, struct graph_event event) {
    if (g->count == g->capacity && !grow(g)) {
        lose(g);
        return;
    }
    g->events[g->count++] = event;
    g->shaped = false;
}

static void add_to(struct graph *g, unsigned kind, const void *node, uint64_t detail) {
    if (!g || g->lost) return;
    if (g->sealed && (!g->cloned || kind == GRAPH_NODE_GONE || kind == GRAPH_EDGE_GONE)) lose(g);
    else if (!g->sealed) append(g, graph_event(kind, node, detail));
    g->nodes += !g->lost && kind == GRAPH_NODE;
    g->edges += !g->lost && (kind == GRAPH_EDGE || kind == GRAPH_EDGE_GONE);
}

/* A clone has the present shape of its original, and holds no nodes: each instantiation makes a clone. */
static void clone_from(const void *handle, const void *original) {
    struct graph_shape shape = shape_of(original);
    struct graph *g = graph_of(handle);
    if (!g || !original || original == handle || g->cloned) return;
    uint32_t nodes = g->nodes, edges = g->edges;
    drop_events(g);
    g->nodes = nodes;
    g->edges = edges;
    g->shape = shape;
    g->shaped = g->sealed = g->cloned = true;
}

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
        uint64_t inner = shape_of(child_graph()).signature;
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
    bool is_known = *link_to(data->graph);
    uint64_t signature = shape_of(is_known ? data->graph : data->original_graph).signature;
    graph_ids_put(GRAPH_ID_EXEC, exec, signature);
    graph_ids_put(GRAPH_ID_TEMPLATE, graph, signature);
    if (signature) graph_ids_put(GRAPH_ID_TEMPLATE, original, signature);
    pthread_mutex_unlock(&lock);
}

static void follow(uint32_t cbid, const struct cupti_graph_data *data) {
    switch (cbid) {
    case RESOURCE_GRAPH_CREATED:
        forget(data->graph);
        graph_of(data->graph);
        break;
    case RESOURCE_GRAPH_DESTROY_STARTING:
        forget(data->graph);
        break;
    case RESOURCE_GRAPH_CLONED:
    case RESOURCE_GRAPHNODE_CLONED:
        clone_from(data->graph, data->original_graph);
        break;
    case RESOURCE_GRAPHNODE_CREATED:
        add_to(graph_of(data->graph), GRAPH_NODE, data->node, seed_of(data->node_type));
        break;
    case RESOURCE_GRAPHNODE_DESTROY_STARTING:
        add_to(*link_to(data->graph), GRAPH_NODE_GONE, data->node, 0);
        break;
    case RESOURCE_GRAPHNODE_DEPENDENCY_CREATED:
        add_to(graph_of(data->graph), GRAPH_EDGE, data->node, (uintptr_t)data->dependency);
        break;
    case RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING:
        add_to(*link_to(data->graph), GRAPH_EDGE_GONE, data->node, (uintptr_t)data->dependency);
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
    memset(graphs, 0, sizeof graphs);
    used = 0;
    graph_ids_forget();
    call.cbid = 0;
}
