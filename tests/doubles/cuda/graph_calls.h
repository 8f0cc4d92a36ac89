/* Calls ffi/cuda/graphs.c as CUPTI does while graphs are created. Ids are the numbers of the handles. */
#ifndef TESTS_GRAPH_CALLS_H
#define TESTS_GRAPH_CALLS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../ffi/cuda/graphs.h"

enum { KERNEL = 0, MEMCPY = 1, MEMSET = 2, CHILD = 4, EMPTY = 5 };

#define expect(condition) ((condition) ? (void)0 : failed(#condition, __LINE__))

static inline void failed(const char *condition, int line) {
    fprintf(stderr, "line %d: %s\n", line, condition);
    abort();
}

static CUptiResult number_of(void *handle, uint32_t *id) {
    *id = (uint32_t)(uintptr_t)handle;
    return CUPTI_SUCCESS;
}

static const struct cupti fake_ids = {.GetGraphId = number_of, .GetGraphExecId = number_of};

static inline void *handle(uint64_t number) {
    return (void *)(uintptr_t)number;
}

static inline void tell(uint32_t cbid, struct cupti_graph_data data) {
    graphs_resource(&fake_ids, cbid, &data);
}

static inline void create(uint64_t graph) {
    tell(RESOURCE_GRAPH_CREATED, (struct cupti_graph_data){.graph = handle(graph)});
}

static inline void destroy(uint64_t graph) {
    tell(RESOURCE_GRAPH_DESTROY_STARTING, (struct cupti_graph_data){.graph = handle(graph)});
}

static inline void add(uint64_t graph, uint64_t node, int type) {
    tell(RESOURCE_GRAPHNODE_CREATED,
         (struct cupti_graph_data){.graph = handle(graph), .node = handle(node), .node_type = type});
}

static inline void remove_node(uint64_t graph, uint64_t node) {
    tell(RESOURCE_GRAPHNODE_DESTROY_STARTING,
         (struct cupti_graph_data){.graph = handle(graph), .node = handle(node)});
}

static inline void in_call(uint32_t cbid, const void *params, const char *symbol) {
    struct cupti_callback_data data = {CUPTI_API_ENTER, "", params, NULL, symbol};
    graphs_api(cbid, &data);
}

static inline void end_call(uint32_t cbid) {
    struct cupti_callback_data data = {.site = CUPTI_API_EXIT};
    graphs_api(cbid, &data);
}

static inline void launch(uint64_t graph, uint64_t node, const char *symbol) {
    in_call(DRIVER_cuLaunchKernel, NULL, symbol);
    add(graph, node, KERNEL);
    end_call(DRIVER_cuLaunchKernel);
}

static inline void edge(uint32_t cbid, uint64_t graph, uint64_t node, uint64_t after) {
    tell(cbid, (struct cupti_graph_data){
                   .graph = handle(graph), .node = handle(node), .dependency = handle(after)});
}

static inline void depend(uint64_t graph, uint64_t node, uint64_t after) {
    edge(RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, graph, node, after);
}

static inline void undepend(uint64_t graph, uint64_t node, uint64_t after) {
    edge(RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING, graph, node, after);
}

static inline void clone_graph(uint64_t graph, uint64_t original) {
    tell(RESOURCE_GRAPH_CLONED,
         (struct cupti_graph_data){.graph = handle(graph), .original_graph = handle(original)});
}

static inline void clone_node(uint64_t graph, uint64_t original, uint64_t node, uint64_t original_node) {
    tell(RESOURCE_GRAPHNODE_CLONED,
         (struct cupti_graph_data){.graph = handle(graph),
                                   .original_graph = handle(original),
                                   .node = handle(node),
                                   .original_node = handle(original_node)});
}

static inline uint64_t instantiate(uint64_t graph, uint32_t exec) {
    tell(RESOURCE_GRAPHEXEC_CREATED,
         (struct cupti_graph_data){.graph = handle(graph), .graph_exec = handle(exec)});
    return graphs_signature(exec);
}

#endif
