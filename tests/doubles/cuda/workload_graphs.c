/* Scenarios with graphs, built node by node and captured. The books have the name of each structure; the test
 * compares the names with the signatures. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workload.h"

static bool node_mode(void) {
    const char *mode = getenv("WORKLOAD_NODE_MODE");
    return mode != NULL && strcmp(mode, "1") == 0;
}

void replay(void *exec, const struct structure *of, int stream, int times) {
    for (int i = 0; i < times; i++) {
        uint64_t share = 1000 + random_below(1000);
        struct span span = next_span(stream, share * (uint64_t)of->count);
        cuda.fake_next(span.start, span.end);
        cuda.cuGraphLaunch(exec, (void *)(uintptr_t)(stream + 1));
        if (!node_mode()) {
            expect("cuda_graphs_nanoseconds", of->name, span.end - span.start, 1);
            expect_busy(span);
            continue;
        }
        for (int k = 0; k < of->count; k++) {
            struct span kernel = {span.start + share * (uint64_t)k, span.start + share * (uint64_t)(k + 1)};
            expect_kernel(symbol_name(of->kernels[k]), kernel);
        }
    }
}

void *instantiate(void *graph) {
    void *exec;
    cuda.cuGraphInstantiateWithFlags(&exec, graph, 0);
    cuda.cuGraphDestroy(graph);
    return exec;
}

static void *add(void *graph, int symbol, void *const *after, size_t count) {
    void *node, *params[9] = {symbol_function(symbol)};
    cuda.cuGraphAddKernelNode_v2(&node, graph, after, count, params);
    return node;
}

static const struct structure diamond = {"diamond", 4, {0, 1, 2, 3}};
static const struct structure chain = {"chain", 3, {0, 1, 2}};

/* 0 -> (1, 2) -> 3, captured from two streams; either branch first. */
static void *captured_diamond(bool other_first) {
    void *one = (void *)1, *two = (void *)2, *fork, *join, *graph;
    cuda.cuEventCreate(&fork, 0);
    cuda.cuEventCreate(&join, 0);
    cuda.cuStreamBeginCapture_v2(one, 0);
#define CAPTURE(symbol, stream) \
    cuda.cuLaunchKernel(symbol_function(symbol), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL)
    CAPTURE(0, one);
    cuda.cuEventRecord(fork, one);
    cuda.cuStreamWaitEvent(two, fork, 0);
    if (other_first) CAPTURE(2, two);
    CAPTURE(1, one);
    if (!other_first) CAPTURE(2, two);
    cuda.cuEventRecord(join, two);
    cuda.cuStreamWaitEvent(one, join, 0);
    CAPTURE(3, one);
#undef CAPTURE
    cuda.cuStreamEndCapture(one, &graph);
    return instantiate(graph);
}

/* The same graph, built node by node from the last to the first, with some edges added afterwards. */
static void *diamond_by_hand(void) {
    void *graph;
    cuda.cuGraphCreate(&graph, 0);
    void *last = add(graph, 3, NULL, 0), *left = add(graph, 1, NULL, 0);
    void *right = add(graph, 2, NULL, 0), *first = add(graph, 0, NULL, 0);
    void *from[] = {first, first, left, right}, *to[] = {left, right, last, last};
    cuda.cuGraphAddDependencies(graph, from, to, 4);
    return instantiate(graph);
}

static void *captured_chain(void) {
    void *graph;
    cuda.cuStreamBeginCapture_v2((void *)1, 0);
    for (int i = 0; i < 3; i++) {
        cuda.cuLaunchKernel(symbol_function(i), 1, 1, 1, 1, 1, 1, 0, (void *)1, NULL, NULL);
    }
    cuda.cuStreamEndCapture((void *)1, &graph);
    return instantiate(graph);
}

static int graphs(void) {
    start();
    on_device(0);
    void *first = captured_diamond(false), *second = captured_diamond(true);
    void *third = diamond_by_hand(), *line = captured_chain();
    for (int i = 0; i < 20; i++) {
        replay(first, &diamond, 0, 3);
        replay(second, &diamond, 1, 2);
        replay(third, &diamond, 2, 1);
        replay(line, &chain, 0, 4);
        launch(7, 1, 1500);
    }
    cuda.fake_settle();
    cuda.cuGraphExecDestroy(first);
    cuda.cuGraphExecDestroy(line);
    /* The next graph may get the same address. */
    replay(captured_chain(), &chain, 1, 5);
    close_books();
    return 0;
}

/* A graph with a child graph: it differs from one without, and from one with another child. */
static void *with_child(bool backwards) {
    void *child, *graph, *node;
    cuda.cuGraphCreate(&child, 0);
    void *inner = add(child, backwards ? 2 : 1, NULL, 0);
    add(child, backwards ? 1 : 2, &inner, 1);
    cuda.cuGraphCreate(&graph, 0);
    void *outer = add(graph, 0, NULL, 0);
    cuda.cuGraphAddChildGraphNode(&node, graph, &outer, 1, child);
    cuda.cuGraphDestroy(child);
    return instantiate(graph);
}

static int child_graphs(void) {
    start();
    on_device(1);
    static const struct structure forwards = {"child", 3, {0, 1, 2}}, backwards = {"other", 3, {0, 2, 1}};
    void *same[] = {with_child(false), with_child(false)}, *other = with_child(true);
    replay(same[0], &forwards, 0, 10);
    replay(same[1], &forwards, 1, 10);
    replay(other, &backwards, 0, 10);
    close_books();
    return 0;
}

/* For seconds launches are only captured, and nothing runs. */
static int long_capture(void) {
    void *graph;
    start();
    on_device(0);
    launch(0, 0, 1000);
    for (int i = 0; i < 450; i++) {
        cuda.cuStreamBeginCapture_v2((void *)1, 0);
        cuda.cuLaunchKernel(symbol_function(0), 1, 1, 1, 1, 1, 1, 0, (void *)1, NULL, NULL);
        usleep(10000);
        cuda.cuStreamEndCapture((void *)1, &graph);
        cuda.cuGraphDestroy(graph);
    }
    close_books();
    return 0;
}

const struct scenario graph_scenarios[] = {{"graphs", graphs},
                                           {"child_graphs", child_graphs},
                                           {"long_capture", long_capture},
                                           {NULL, NULL}};
