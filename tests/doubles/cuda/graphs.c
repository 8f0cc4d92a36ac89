/* Test of graph signatures: the changes that change them, and those that do not. Run by graphs_test.ts. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph_calls.h"

enum { G = 1 << 30, LIMIT = 40, ROUNDS = 500 };

static _Thread_local uint64_t random_state = 1;
static _Thread_local uint32_t next_exec = 1;

static uint32_t below(uint32_t limit) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

/* A random graph; every node has its own symbol, so that every edge changes the signature. */
struct dag {
    uint32_t nodes;
    int type[LIMIT];
    uint32_t symbol[LIMIT];
    bool follows[LIMIT][LIMIT]; /* [later][earlier] */
};

static struct dag random_dag(void) {
    struct dag dag = {.nodes = 2 + below(LIMIT - 2)};
    for (uint32_t i = 0; i < dag.nodes; i++) {
        dag.type[i] = KERNEL;
        dag.symbol[i] = i;
        for (uint32_t j = 0; j < i; j++) dag.follows[i][j] = below(4) == 0;
    }
    return dag;
}

static void shuffle(uint32_t *order, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) order[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = below(i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

static void make_node(uint64_t graph, const struct dag *dag, uint32_t i, uint64_t base) {
    char symbol[32];
    snprintf(symbol, sizeof symbol, "_Z6kernel%u", dag->symbol[i]);
    if (dag->type[i] == KERNEL) launch(graph, base + i * 64, symbol);
    else add(graph, base + i * 64, dag->type[i]);
}

/* Signature of the graph, built in a random order at random addresses. */
static uint64_t signature_at(uint64_t graph, const struct dag *dag) {
    uint32_t order[LIMIT];
    uint64_t base = 4096 * (1 + (uint64_t)below(1 << 20));
    create(graph);
    shuffle(order, dag->nodes);
    for (uint32_t i = 0; i < dag->nodes; i++) make_node(graph, dag, order[i], base);
    shuffle(order, dag->nodes);
    for (uint32_t i = 0; i < dag->nodes; i++) {
        for (uint32_t j = 0; j < dag->nodes; j++) {
            if (dag->follows[order[i]][j]) depend(graph, base + order[i] * 64, base + j * 64);
        }
    }
    uint64_t signature = instantiate(graph, next_exec++);
    destroy(graph);
    return signature;
}

static void order_does_not_matter(void) {
    for (int round = 0; round < ROUNDS; round++) {
        struct dag dag = random_dag();
        uint64_t signature = signature_at(G, &dag);
        expect(signature != 0);
        expect(signature == signature_at(G + 1, &dag));
    }
}

static void every_part_matters(void) {
    for (int round = 0; round < ROUNDS; round++) {
        struct dag dag = random_dag(), other = dag;
        uint32_t node = below(dag.nodes), later = 1 + below(dag.nodes - 1), earlier = below(later);
        uint64_t signature = signature_at(G, &dag);
        other.symbol[node] = LIMIT;
        expect(signature != signature_at(G, &other));
        other = dag;
        other.type[node] = MEMSET;
        expect(signature != signature_at(G, &other));
        other = dag;
        other.follows[later][earlier] = !other.follows[later][earlier];
        expect(signature != signature_at(G, &other));
        other = dag;
        other.symbol[other.nodes] = other.nodes;
        other.type[other.nodes++] = EMPTY;
        expect(signature != signature_at(G, &other));
    }
}

/* Two kernels of one name: either one precedes both successors, or each precedes one. */
static void equal_kernels_differ_by_successors(void) {
    uint64_t signatures[2];
    for (uint64_t other = 0; other < 2; other++) {
        create(G);
        launch(G, 16, "a");
        launch(G, 32, "a");
        launch(G, 48, "b");
        launch(G, 64, "c");
        depend(G, 48, 16);
        depend(G, 64, other ? 32 : 16);
        signatures[other] = instantiate(G, next_exec++);
        destroy(G);
    }
    expect(signatures[0] && signatures[1] && signatures[0] != signatures[1]);
}

static uint64_t chain(uint64_t graph, const char *first, const char *second) {
    create(graph);
    launch(graph, 16, first);
    launch(graph, 32, second);
    depend(graph, 32, 16);
    return instantiate(graph, next_exec++);
}

static void what_was_undone_leaves_no_trace(void) {
    uint64_t signature = chain(G, "a", "b");
    launch(G, 48, "c");
    depend(G, 48, 32);
    depend(G, 48, 16);
    expect(instantiate(G, next_exec++) != signature);
    undepend(G, 48, 16);
    remove_node(G, 48);
    expect(instantiate(G, next_exec++) == signature);
    add(G, 48, MEMCPY); /* at the same address */
    depend(G, 16, 48);
    undepend(G, 16, 48);
    depend(G, 16, 48);
    uint64_t copied = instantiate(G, next_exec++);
    expect(copied != 0 && copied != signature);
    remove_node(G, 48);
    undepend(G, 16, 48);
    expect(instantiate(G, next_exec++) == signature);
    destroy(G);
}

static void unknown_symbols_are_not_identified(void) {
    create(G);
    add(G, 16, KERNEL);
    expect(instantiate(G, next_exec++) == 0);
    remove_node(G, 16);
    launch(G, 16, NULL);
    expect(instantiate(G, next_exec++) == 0);
    remove_node(G, 16);
    launch(G, 16, "a");
    expect(instantiate(G, next_exec++) != 0);
    depend(G, 16, 80); /* on a node that was never reported */
    expect(instantiate(G, next_exec++) == 0);
    destroy(G);
    expect(instantiate(G, next_exec++) == 0);
}

/* The end of a launch may not be reported: its symbol is not that of a later node. */
static void unreported_ends_of_launches_name_nothing(void) {
    create(G);
    in_call(DRIVER_cuLaunchKernel, NULL, "gone");
    graphs_end_launches();
    add(G, 16, KERNEL);
    expect(instantiate(G, next_exec++) == 0);
    remove_node(G, 16);
    in_call(DRIVER_cuGraphAddKernelNode_v2, NULL, "a");
    graphs_end_launches();
    add(G, 16, KERNEL);
    end_call(DRIVER_cuGraphAddKernelNode_v2);
    expect(instantiate(G, next_exec++) != 0);
    destroy(G);
}

static void both_ids_are_known_after_the_graph_is_gone(void) {
    uint64_t signature = chain(G, "a", "b");
    uint32_t exec = next_exec - 1;
    destroy(G);
    tell(RESOURCE_GRAPHEXEC_DESTROY_STARTING, (struct cupti_graph_data){.graph_exec = handle(exec)});
    expect(graphs_signature(exec) == signature);
    expect(graphs_signature(G) == signature);
    expect(graphs_signature(0) == 0 && graphs_signature(UINT32_MAX) == 0);
    chain(G, "c", "b");
    expect(graphs_signature(exec) == signature);
    expect(graphs_signature(G) != signature);
    destroy(G);
}

static void children_matter(void) {
    struct { void *made, *graph, *after; size_t count; void *child; } by_hand = {0};
    struct { void *made, *graph, *after, *data; size_t count; void *node; } v2 = {0};
    struct { int type, reserved[3]; void *child; } node = {CHILD, {0}, handle(G + 1)};
    uint64_t child = chain(G + 1, "a", "b"), signatures[3];
    by_hand.child = handle(G + 1);
    v2.node = &node;
    for (int i = 0; i < 3; i++) {
        create(G);
        uint32_t cbid = i == 1 ? DRIVER_cuGraphAddNode_v2 : DRIVER_cuGraphAddChildGraphNode;
        in_call(cbid, i == 1 ? (void *)&v2 : (void *)&by_hand, NULL);
        add(G, 16, CHILD);
        end_call(cbid);
        signatures[i] = instantiate(G, next_exec++);
        destroy(G);
        if (i == 1) {
            destroy(G + 1);
            chain(G + 1, "a", "c");
        }
    }
    expect(signatures[0] && signatures[0] != child);
    expect(signatures[0] == signatures[1] && signatures[0] != signatures[2]);
    create(G);
    add(G, 16, CHILD);
    expect(instantiate(G, next_exec++) == 0);
    destroy(G);
    destroy(G + 1);
}

/* In each way in which CUPTI reports a clone. */
static void clones_are_what_they_were_cloned_from(void) {
    uint64_t signature = chain(G, "a", "b");
    for (int way = 0; way < 4; way++) {
        if (way & 1) create(G + 1);
        if (way & 2) {
            add(G + 1, 160, KERNEL);
            add(G + 1, 320, KERNEL);
        } else {
            clone_graph(G + 1, G);
        }
        clone_node(G + 1, G, 160, 16);
        clone_node(G + 1, G, 320, 32);
        if (way & 2) depend(G + 1, 320, 160);
        clone_graph(G + 1, G);
        expect(instantiate(G + 1, next_exec++) == signature);
        launch(G + 1, 480, "c");
        expect(instantiate(G + 1, next_exec++) == 0);
        expect(graphs_signature(next_exec - 1) == 0);
        destroy(G + 1);
    }
    destroy(G);
    clone_graph(G + 1, G);
    expect(instantiate(G + 1, next_exec++) == 0);
    destroy(G + 1);
}

static void fill(uint64_t graph, uint32_t nodes) {
    create(graph);
    for (uint32_t i = 0; i < nodes; i++) {
        add(graph, 64 + i, MEMSET);
        if (i > 0) depend(graph, 64 + i, 63 + i);
    }
}

static void memory_is_bounded(void) {
    fill(G, 100000);
    expect(instantiate(G, next_exec++) == 0); /* too large */
    expect(chain(G + 1, "a", "b") != 0);
    destroy(G);
    fill(G, 10000);
    uint64_t large = instantiate(G, next_exec++);
    expect(large != 0);
    fill(G + 2, 15000); /* takes the room of instantiated graphs, which keep their signatures */
    expect(instantiate(G + 2, next_exec++) != 0);
    fill(G + 3, 15000);
    expect(instantiate(G + 3, next_exec++) != 0);
    expect(instantiate(G, next_exec++) == large);
    for (uint64_t graph = G; graph < G + 4; graph++) destroy(graph);
    for (uint64_t graph = G; graph < G + 100; graph++) fill(graph, 2000); /* none instantiated */
    uint32_t known = 0;
    for (uint64_t graph = G; graph < G + 100; graph++) known += instantiate(graph, next_exec++) != 0;
    expect(known > 0 && known < 100);
    for (uint64_t graph = G; graph < G + 100; graph++) destroy(graph);
    fill(G, 10000);
    expect(instantiate(G, next_exec++) == large);
    destroy(G);
}

static void old_ids_are_forgotten(void) {
    uint64_t signature = chain(G, "a", "b");
    uint32_t first = next_exec;
    for (int i = 0; i < 30000; i++) instantiate(G, next_exec++);
    expect(graphs_signature(first) == signature);
    for (int i = 0; i < 30000; i++) instantiate(G, next_exec++);
    expect(graphs_signature(first) == 0);
    expect(graphs_signature(next_exec - 1) == signature);
    destroy(G);
}

static void *capture(void *argument) {
    uint64_t number = (uintptr_t)argument;
    random_state = number % 2; /* every second thread creates the same graphs */
    next_exec = (uint32_t)(number * 100000);
    uint64_t sum = 0;
    for (int round = 0; round < 200; round++) {
        struct dag dag = random_dag();
        uint64_t signature = signature_at(number * 1000, &dag);
        expect(signature != 0);
        sum = sum * 31 + signature;
    }
    return handle(sum);
}

static void *read_along(void *stop) {
    while (!atomic_load((atomic_bool *)stop)) graphs_signature(1000000 + below(400000));
    return NULL;
}

static void threads_do_not_disturb_each_other(void) {
    static atomic_bool stop;
    pthread_t threads[4], reader;
    pthread_create(&reader, NULL, read_along, &stop);
    void *sums[4];
    for (uintptr_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, capture, (void *)(i + 10));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], &sums[i]);
    atomic_store(&stop, true);
    pthread_join(reader, NULL);
    expect(sums[0] == sums[2] && sums[1] == sums[3] && sums[0] != sums[1]);
}

/* The same in every build, on every host: readers of stored signatures depend on them. */
static void signatures_never_change(void) {
    create(G);
    expect(instantiate(G, next_exec++) == UINT64_C(0x48218226ff3cd4bf));
    destroy(G);
    expect(chain(G, "_Z4addPfS_i", "_Z19a_name_of_some_sizePKf") == UINT64_C(0xc9ff43c8a4423322));
    add(G, 48, MEMSET);
    add(G, 64, MEMCPY);
    depend(G, 16, 48);
    depend(G, 16, 64);
    expect(instantiate(G, next_exec++) == UINT64_C(0xd393be9be265f97f));
    destroy(G);
}

static void a_fork_begins_anew(void) {
    int status;
    chain(G, "a", "b");
    pid_t child = fork();
    if (child == 0) {
        graphs_forget();
        expect(graphs_signature(G) == 0);
        expect(instantiate(G, next_exec++) == 0);
        expect(chain(G, "a", "b") != 0);
        _exit(0);
    }
    waitpid(child, &status, 0);
    expect(status == 0);
    destroy(G);
}

int main(void) {
    order_does_not_matter();
    every_part_matters();
    equal_kernels_differ_by_successors();
    what_was_undone_leaves_no_trace();
    unknown_symbols_are_not_identified();
    unreported_ends_of_launches_name_nothing();
    both_ids_are_known_after_the_graph_is_gone();
    children_matter();
    clones_are_what_they_were_cloned_from();
    memory_is_bounded();
    old_ids_are_forgotten();
    threads_do_not_disturb_each_other();
    signatures_never_change();
    a_fork_begins_anew();
}
