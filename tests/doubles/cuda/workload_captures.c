/* Scenarios with captures that overlap, fail and are given up, and with launches beside them. A profiler may be
 * called for each launch while a stream is captured, and not else. */
#include <pthread.h>
#include <unistd.h>

#include "workload.h"

enum { THREADS = 4, ROUNDS = 100, ILLEGAL_STATE = 401, INVALIDATED = 901, WRONG_THREAD = 908 };

/* Handles: the thread's default stream, and others that are no default streams. */
#define STREAM_PER_THREAD ((void *)2)
#define STREAM(number) ((void *)(uintptr_t)(0x1000 + (number)))

static const struct structure chain = {"chain", 3, {0, 1, 2}};

static void capture(void *stream, int symbol) {
    cuda.cuLaunchKernel(symbol_function(symbol), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static void *end(void *stream) {
    void *graph = NULL;
    return cuda.cuStreamEndCapture(stream, &graph) == 0 ? graph : NULL;
}

static void replay_captured(void *graph) { replay(instantiate(graph), &chain, 0, 2); }

/* The second capture ends while the first one goes on. */
static int overlapping(void) {
    void *first = STREAM_PER_THREAD, *second = STREAM(4), *graph;
    if (cuda.cuStreamBeginCapture_v2(first, 0) != 0) return 1;
    capture(first, 0);
    if (cuda.cuStreamBeginCapture_v2(second, 0) != 0) return 2;
    for (int i = 0; i < 3; i++) capture(second, i);
    graph = end(second);
    launch(7, 0, 1500);
    for (int i = 1; i < 3; i++) capture(first, i);
    replay_captured(graph);
    replay_captured(end(first));
    return 0;
}

static void *end_elsewhere(void *stream) {
    void *graph;
    return (void *)(uintptr_t)cuda.cuStreamEndCapture(stream, &graph);
}

/* Calls that fail neither begin nor end a capture. */
static int failing(void) {
    void *stream = STREAM(5), *graph, *result;
    pthread_t other;
    if (cuda.cuStreamBeginCapture_v2(stream, 0) != 0) return 3;
    capture(stream, 0);
    if (cuda.cuStreamBeginCapture_v2(stream, 0) != ILLEGAL_STATE) return 4;
    if (cuda.cuStreamEndCapture(STREAM(6), &graph) != ILLEGAL_STATE) return 5;
    if (pthread_create(&other, NULL, end_elsewhere, stream) != 0) return 6;
    pthread_join(other, &result);
    if ((uintptr_t)result != WRONG_THREAD) return 7;
    for (int i = 1; i < 3; i++) capture(stream, i);
    replay_captured(end(stream));
    return 0;
}

/* Captures without a graph. */
static int given_up(void) {
    void *invalid = STREAM(3), *destroyed = STREAM(4), *graph;
    cuda.cuStreamBeginCapture_v2(invalid, 0);
    cuda.cuStreamBeginCapture_v2(destroyed, 0);
    capture(invalid, 0);
    capture(destroyed, 0);
    cuda.fake_invalidate(invalid);
    if (cuda.cuStreamEndCapture(invalid, &graph) != INVALIDATED) return 8;
    cuda.cuStreamDestroy_v2(destroyed);
    return 0;
}

static void *capture_often(void *stream) {
    void *graph = NULL;
    for (int round = 0; round < ROUNDS; round++) {
        if (graph != NULL) cuda.cuGraphDestroy(graph);
        cuda.cuStreamBeginCapture_v2(stream, 0);
        for (int i = 0; i < 3; i++) capture(stream, i);
        graph = end(stream);
    }
    return graph;
}

static void on_threads(void) {
    pthread_t threads[THREADS];
    void *graph;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, capture_often, STREAM(3 + i));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &graph);
        replay_captured(graph);
    }
}

/* Launches until none of them was a callback: after an idle second there may be some for a second. */
static int without_callbacks(void) {
    for (int tries = 0; tries < 500; tries++) {
        uint64_t before = cuda.fake_launch_callbacks();
        for (int i = 0; i < 20; i++) launch(i % 5, 0, 1000);
        if (cuda.fake_launch_callbacks() == before) return 0;
        usleep(10000);
    }
    return 9;
}

static int captures(void) {
    start();
    on_device(0);
    for (int i = 0; i < 3; i++) symbol_function(i);
    int failed = without_callbacks();
    if (failed == 0) failed = overlapping();
    if (failed == 0) failed = without_callbacks();
    if (failed == 0) failed = failing();
    if (failed == 0) failed = given_up();
    if (failed == 0) failed = without_callbacks();
    on_threads();
    if (failed == 0) failed = without_callbacks();
    close_books();
    return failed;
}

/* Launches at intervals for some seconds: a profiler is called for hardly any of them. */
static int spread(void) {
    start();
    on_device(0);
    for (int i = 0; i < 2500; i++) {
        launch(i % 5, 0, 1000);
        usleep(1000);
    }
    uint64_t callbacks = cuda.fake_launch_callbacks();
    close_books();
    return callbacks < 250 ? 0 : 10;
}

/* Work after idle seconds, of which the profiler has watched all but the first. */
static int bursts(void) {
    start();
    on_device(0);
    for (int i = 0; i < 2; i++) {
        usleep(2300000);
        for (int j = 0; j < 50; j++) {
            launch(j % 5, 0, 1000);
            usleep(10000);
        }
    }
    int failed = without_callbacks();
    close_books();
    return failed;
}

const struct scenario capture_scenarios[] = {
    {"captures", captures}, {"spread", spread}, {"bursts", bursts}, {NULL, NULL}};
