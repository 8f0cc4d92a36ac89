/* Load on the strict double: graphs of known structures, made in several ways.
 *
 * The kernels and the structures are those of the scenarios `graphs` and `child_graphs` of the
 * first double: a signature must be the same under both. The JSON has the launches and the time of
 * each structure. */
#include "load.h"

#include <stdio.h>

enum { KERNELS = 4 };

struct kernel_node_parameters {
    void *function;
    unsigned int grid[3], block[3], shared_bytes;
    void **arguments, **extra;
    void *kernel, *context;
};

static void *functions[KERNELS];
static void *one, *two;

static void launch(int symbol, void *stream)
{
    cuLaunchKernel(functions[symbol], 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static void *instantiate(void *graph)
{
    void *exec;
    cuGraphInstantiateWithFlags(&exec, graph, 0);
    cuGraphDestroy(graph);
    return exec;
}

static void *add(void *graph, int symbol, void *const *before, size_t count)
{
    struct kernel_node_parameters p = {.function = functions[symbol], .grid = {1, 1, 1}};
    void *node;
    cuGraphAddKernelNode_v2(&node, graph, before, count, &p);
    return node;
}

/* 0 -> (1, 2) -> 3, captured from two streams. */
static void *captured_diamond(bool other_first)
{
    void *fork, *join, *graph;
    cuEventCreate(&fork, 0);
    cuEventCreate(&join, 0);
    cuStreamBeginCapture_v2(one, 0);
    launch(0, one);
    cuEventRecord(fork, one);
    cuStreamWaitEvent(two, fork, 0);
    launch(other_first ? 2 : 1, other_first ? two : one);
    launch(other_first ? 1 : 2, other_first ? one : two);
    cuEventRecord(join, two);
    cuStreamWaitEvent(one, join, 0);
    launch(3, one);
    strictStreamLeaveCapture(two);
    cuStreamEndCapture(one, &graph);
    return instantiate(graph);
}

static void *diamond_by_hand(void)
{
    void *graph;
    cuGraphCreate(&graph, 0);
    void *last = add(graph, 3, NULL, 0), *left = add(graph, 1, NULL, 0);
    void *right = add(graph, 2, NULL, 0), *first = add(graph, 0, NULL, 0);
    void *from[] = {first, first, left, right}, *to[] = {left, right, last, last};
    cuGraphAddDependencies(graph, from, to, 4);
    return instantiate(graph);
}

static void *captured_chain(void)
{
    void *graph;
    cuStreamBeginCapture_v2(one, 0);
    for (int i = 0; i < 3; i++)
        launch(i, one);
    cuStreamEndCapture(one, &graph);
    return instantiate(graph);
}

static void *with_child(bool backwards)
{
    void *child, *graph, *node;
    cuGraphCreate(&child, 0);
    void *inner = add(child, backwards ? 2 : 1, NULL, 0);
    add(child, backwards ? 1 : 2, &inner, 1);
    cuGraphCreate(&graph, 0);
    void *outer = add(graph, 0, NULL, 0);
    cuGraphAddChildGraphNode(&node, graph, &outer, 1, child);
    cuGraphDestroy(child);
    return instantiate(graph);
}

static void start(void)
{
    void *context, *module;
    char name[64];
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuStreamCreate(&one, 0);
    cuStreamCreate(&two, 0);
    cuModuleLoadData(&module, "");
    for (int i = 0; i < KERNELS; i++) {
        snprintf(name, sizeof name, "_Z10kernel%04diPfS_i", i);
        cuModuleGetFunction(&functions[i], module, name);
        strictFuncSetDuration(functions[i], 1000 + 100 * (uint64_t)i);
    }
}

void run_graphs(void)
{
    static const char *const structures[] = {"diamond", "diamond", "diamond", "chain",
                                             "child", "child", "other"};
    enum { COUNT = sizeof structures / sizeof *structures };
    start();
    void *execs[COUNT] = {
        captured_diamond(false), captured_diamond(true), diamond_by_hand(), captured_chain(),
        with_child(false), with_child(false), with_child(true),
    };
    for (int i = 0; i < COUNT; i++) {
        for (int times = 0; times <= i; times++)
            cuGraphLaunch(execs[i], i % 2 ? one : two);
    }
    cuStreamSynchronize(one);
    cuStreamSynchronize(two);
    sleep_ns(option("settle", 0) * 1000000);
    printf("[");
    for (int i = 0; i < COUNT; i++) {
        uint64_t launches, ns;
        strictGraphGetRecorded(execs[i], &launches, &ns);
        printf("%s{\"structure\":\"%s\",\"calls\":%lu,\"ns\":%lu}", i ? "," : "", structures[i],
               launches, ns);
    }
    printf("]\n");
    fflush(stdout);
}
