/* Benchmark of graph callbacks on the application's thread. Run by hand: cc -O2 graphs_bench.c ../../../ffi/cuda/graph*.c */
#define _GNU_SOURCE
#include <time.h>

#include "graph_calls.h"

enum { G = 1 << 30, NODES = 10000, ROUNDS = 50 };

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double least(double a, double b) {
    return a > 0 && a < b ? a : b;
}

int main(void) {
    static const char symbol[] =
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_";
    double node = 0, link = 0, exec = 0;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        create(G);
        double a = now_ns();
        for (uint64_t i = 0; i < NODES; i++) launch(G, 64 + i * 64, symbol);
        double b = now_ns();
        for (uint64_t i = 1; i < NODES; i++) depend(G, 64 + i * 64, i * 64);
        double c = now_ns();
        expect(instantiate(G, round) != 0);
        double d = now_ns();
        destroy(G);
        node = least(node, b - a);
        link = least(link, c - b);
        exec = least(exec, d - c);
    }
    printf("kernel node, entered and left %.0f ns; edge %.0f ns; instantiation of %d nodes %.0f us\n",
           node / NODES, link / NODES, NODES, exec / 1e3);
}
