/* Captures of the fake driver: what is launched on a stream becomes a graph, with CUPTI's callbacks. */
#include <pthread.h>

#include "fake_cuda_graphs.h"

enum { BEGIN_CAPTURE_V2 = 539, END_CAPTURE = 497 };
enum { ERROR_ILLEGAL_STATE = 401, ERROR_INVALIDATED = 901, ERROR_UNMATCHED = 903, ERROR_WRONG_THREAD = 908 };
enum { STREAMS = 8, FRONTIER = 8 };

/* Predecessors of the next node of a stream or an event. */
struct frontier {
    struct graph *graph; /* NULL: not captured */
    bool begun;          /* the capture began on this stream, in this thread */
    pthread_t thread;
    bool invalid;
    int count;
    struct node *nodes[FRONTIER];
};

static struct frontier streams[STREAMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the graphs of the streams */

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
    at->nodes[0] = graph_node(at->graph, made, at->nodes, (size_t)at->count);
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
    if (call.result == CUDA_SUCCESS) graph_tell(GRAPH_CREATED, (struct fake_graph_data){.graph = made});
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
