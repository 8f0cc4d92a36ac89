/* Scenario with everything that takes memory at once. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

enum { NAMED = 5000, NAME_LENGTH = 300, GRAPHS = 3000, NODES = 24, THREADS = 64, LAUNCHES = 2500 };

static void *functions[NAMED];

static void load_symbols(void) {
    void *module;
    cuda.cuModuleLoadData(&module, "");
    for (int i = 0; i < NAMED; i++) {
        char name[NAME_LENGTH + 16];
        memset(name, 'k', NAME_LENGTH);
        snprintf(name + NAME_LENGTH, 16, "%d", i);
        cuda.cuModuleGetFunction(&functions[i], module, name);
    }
}

static void launch_unbooked(int symbol, int stream) {
    struct span span = next_span(stream, 1000);
    cuda.fake_next(span.start, span.end);
    cuda.cuLaunchKernel(functions[symbol], 1, 1, 1, 1, 1, 1, 0, (void *)(uintptr_t)(stream + 1), NULL, NULL);
}

/* Creates graphs that all differ, and keeps them. */
static void make_graphs(void) {
    for (int i = 0; i < GRAPHS; i++) {
        void *graph, *exec, *before = NULL;
        cuda.cuGraphCreate(&graph, 0);
        for (int j = 0; j < NODES; j++) {
            void *node, *params[9] = {functions[(i * 7 + j * j) % NAMED]};
            cuda.cuGraphAddKernelNode_v2(&node, graph, &before, j > 0, params);
            before = node;
        }
        cuda.cuGraphInstantiateWithFlags(&exec, graph, 0);
        struct span span = next_span(0, 1000);
        cuda.fake_next(span.start, span.end);
        cuda.cuGraphLaunch(exec, NULL);
    }
}

static void *launch_many(void *number) {
    int first = (int)(uintptr_t)number;
    on_device(first % DEVICES);
    for (int i = 0; i < LAUNCHES; i++) {
        uint64_t at = 1 + (uint64_t)i * 10;
        cuda.fake_next(at, at + 5);
        cuda.cuLaunchKernel(functions[(first * 97 + i) % NAMED], 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    }
    return NULL;
}

static uint64_t peak_bytes(void) {
    char line[256];
    unsigned long long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status) != NULL) sscanf(line, "VmHWM: %llu", &kib);
    fclose(status);
    return kib << 10;
}

/* At the end no records are read, so that every buffer is in use. */
static int everything(void) {
    start();
    load_symbols();
    for (int device = 0; device < DEVICES; device++) {
        on_device(device);
        for (int i = 0; i < NAMED; i++) launch_unbooked(i, i % STREAMS);
        cuda.fake_settle();
        make_graphs();
        cuda.fake_settle();
    }
    cuda.fake_gate(true);
    pthread_t running[THREADS];
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&running[i], NULL, launch_many, (void *)(uintptr_t)i)) return 71;
    }
    for (int i = 0; i < THREADS; i++) pthread_join(running[i], NULL);
    expect_process("peak_bytes", peak_bytes());
    cuda.fake_gate(false);
    close_books();
    return 0;
}

const struct scenario load_scenarios[] = {{"everything", everything}, {NULL, NULL}};
