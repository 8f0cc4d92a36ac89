/* Scenarios with two vendors in one process: CUDA, and the toy of the library for tests. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

enum { TOY_DEVICE = 7, KERNELS = 3, TIMES = 600, LOST = 10, RECORDS = 4096 };

static const char *const toy_kernels[KERNELS] = {"wind_up", "roll", "bounce"};
static const char *const toy_copies[] = {"sideways", "up", "down"};

static struct {
    bool (*toy_begin)(void);
    bool (*toy_launch)(const char *, uint64_t, uint64_t);
    bool (*toy_copy)(uint32_t, uint64_t, uint64_t, uint64_t);
} toy;
static uint64_t toy_clock = 1700000000000000000u;
static uint64_t toy_least = UINT64_MAX, toy_greatest;

static void find_toy(void) {
    void *library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fprintf(stderr, "workload: %s\n", dlerror()), exit(70);
#define FIND(name) (*(void **)&toy.name = dlsym(library, #name))
    FIND(toy_begin);
    FIND(toy_launch);
    FIND(toy_copy);
#undef FIND
}

static struct span next_toy_span(void) {
    struct span span = {toy_clock, toy_clock + 1 + random_below(1000)};
    toy_clock = span.end + 100;
    expect_on(TOY_DEVICE, "gpu_busy_nanoseconds", "", span.end - span.start, 0);
    return span;
}

static void toy_work(void) {
    for (int i = 0; i < TIMES; i++) {
        struct span span = next_toy_span();
        uint64_t duration = span.end - span.start;
        toy.toy_launch(toy_kernels[i % KERNELS], span.start, span.end);
        expect_on(TOY_DEVICE, "toy_kernels_nanoseconds", toy_kernels[i % KERNELS], duration, 1);
        expect_on(TOY_DEVICE, "toy_kernel_duration_nanoseconds", "", duration, 1);
        if (duration < toy_least) toy_least = duration;
        if (duration > toy_greatest) toy_greatest = duration;
        uint32_t kind = random_below(5);
        const char *name = toy_copies[kind < 3 ? kind : 0];
        span = next_toy_span();
        toy.toy_copy(kind, 64, span.start, span.end);
        expect_on(TOY_DEVICE, "toy_memcpy_nanoseconds", name, span.end - span.start, 1);
        expect_on(TOY_DEVICE, "toy_memcpy_bytes", name, 64, 0);
    }
}

static void cuda_work(void) {
    for (int i = 0; i < TIMES; i++) {
        on_device(i % DEVICES);
        launch((int)random_below(50), (int)random_below(STREAMS), 1 + random_below(2000));
        copy(1 + random_below(10), 32, 0, 1 + random_below(500));
    }
}

static void close_both_books(void) {
    expect_on(TOY_DEVICE, "extremes", "", toy_least, toy_greatest);
    close_books();
}

static void both_work(void) {
    cuda_work();
    toy_work();
    cuda_work();
}

static int both(void) {
    find_toy();
    start();
    toy.toy_begin();
    both_work();
    close_both_books();
    wait_for_gate();
    return 0;
}

static int toy_first(void) {
    find_toy();
    toy.toy_begin();
    toy_work();
    start();
    cuda_work();
    close_both_books();
    return 0;
}

static void *begin_toy(void *unused) {
    (void)unused;
    toy.toy_begin();
    return NULL;
}

static int begin_together(void) {
    pthread_t thread;
    find_toy();
    pthread_create(&thread, NULL, begin_toy, NULL);
    start();
    pthread_join(thread, NULL);
    both_work();
    close_both_books();
    return 0;
}

/* CUDA is started, and does nothing. */
static int toy_alone(void) {
    find_toy();
    start();
    toy.toy_begin();
    toy_work();
    close_both_books();
    wait_for_gate();
    return 0;
}

static int cuda_alone(void) {
    find_toy();
    start();
    toy.toy_begin();
    cuda_work();
    close_books();
    wait_for_gate();
    return 0;
}

/* The toy has more records than room for them. */
static int toy_loses(void) {
    find_toy();
    start();
    toy.toy_begin();
    for (int i = 0; i < RECORDS + LOST; i++) toy.toy_launch("roll", 5, 5);
    expect_on(-1, "toy_dropped_records_total", "", LOST, 0);
    close_books();
    return 0;
}

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* In the child both sources are stopped, and exit() returns at once. */
static int fork_both(void) {
    find_toy();
    start();
    toy.toy_begin();
    both_work();
    uint64_t forked_ms = now_ms();
    pid_t child = fork();
    if (child == 0) {
        cuda.cuLaunchKernel(symbol_function(0), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
        exit(toy.toy_launch("roll", 1, 2) || toy.toy_begin() ? 75 : 0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) return 74;
    if (now_ms() - forked_ms > 900) return 79;
    both_work();
    close_both_books();
    return 0;
}

const struct scenario source_scenarios[] = {
    {"both", both},           {"toy_first", toy_first},   {"begin_together", begin_together},
    {"toy_alone", toy_alone}, {"cuda_alone", cuda_alone}, {"toy_loses", toy_loses},
    {"fork_both", fork_both}, {NULL, NULL},
};
