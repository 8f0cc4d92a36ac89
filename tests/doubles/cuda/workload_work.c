/* Scenarios with kernels, copies, sets and waits. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

/* 500 symbols on two devices of three streams each, and all kinds of copies, sets and waits between. */
static void mix(int rounds) {
    for (int i = 0; i < rounds; i++) {
        on_device(i % DEVICES);
        int stream = (int)random_below(STREAMS);
        launch((int)random_below(500), stream, 1 + random_below(20000));
        if (i % 7 == 0) copy(1 + random_below(10), 1 + random_below(1 << 20), stream, 1 + random_below(9000));
        if (i % 11 == 0) set(1 + random_below(7), 1 + random_below(1 << 20), stream, 1 + random_below(900));
        if (i % 3 == 0) cuda.fake_poll((void *)(uintptr_t)(stream + 1));
        if (i % 13 == 0) wait_for(1 + random_below(4), stream, 1 + random_below(5000));
    }
}

static int steady(void) {
    start();
    mix(20000);
    close_books();
    return 0;
}

/* Stays alive until the test has read the values. */
static int live(void) {
    start();
    mix(5000);
    close_books();
    wait_for_gate();
    return 0;
}

/* Nested, adjacent and separate intervals, on streams whose times are far apart. */
static int overlap(void) {
    start();
    on_device(0);
    for (int i = 0; i < 20000; i++) {
        uint64_t duration = random_below(10) == 0 ? 1000000 : 1 + random_below(1000);
        launch((int)random_below(3), (int)random_below(STREAMS), duration);
    }
    close_books();
    return 0;
}

static int idle(void) {
    start();
    close_books();
    return 0;
}

/* More symbols than a profile has frames. */
static int many_symbols(void) {
    start();
    on_device(0);
    for (int i = 0; i < 5000; i++) launch(i, 0, 1000 + (uint64_t)i);
    close_books();
    return 0;
}

/* Symbols that differ only after 5,999 bytes. */
static int long_symbols(void) {
    start();
    on_device(0);
    void *module;
    cuda.cuModuleLoadData(&module, "");
    for (int i = 0; i < 3; i++) {
        char name[6001];
        memset(name, 'a', 5999);
        name[5999] = (char)('0' + i);
        name[6000] = 0;
        void *function;
        cuda.cuModuleGetFunction(&function, module, name);
        launch_at(name, function, 0, next_span(0, 1000 + (uint64_t)i));
    }
    close_books();
    return 0;
}

/* 1,000 symbols of 300 to 2,000 bytes that differ at their ends, on all devices, from modules that are
 * unloaded after half of the time: the memory of their names is reused. */
static int long_names(void) {
    enum { NAMED = 1000, LONGEST = 2000 };
    static char names[NAMED][LONGEST + 1];
    static void *functions[NAMED];
    start();
    for (int round = 0; round < 2; round++) {
        void *module;
        cuda.cuModuleLoadData(&module, "");
        for (int i = 0; i < NAMED; i++) {
            int length = 300 + i * 7919 % (LONGEST - 320);
            memset(names[i], 'k', (size_t)length);
            snprintf(names[i] + length, 20, "%d", i);
            names[i][0] = (char)('a' + round);
            cuda.cuModuleGetFunction(&functions[i], module, names[i]);
        }
        for (int i = 0; i < 20000; i++) {
            int named = (int)random_below(NAMED);
            on_device(i % DEVICES);
            launch_at(names[named], functions[named], 0, next_span(0, 1000 + random_below(1000)));
        }
        cuda.fake_settle();
        cuda.cuModuleUnload(module);
    }
    close_books();
    return 0;
}

/* Names that no frame may have, booked under those that replace them. */
static int odd_names(void) {
    static const struct {
        const char *name, *frame;
    } odd[] = {
        {NULL, "(unnamed)"},
        {"", "(unnamed)"},
        {"_Z1k\x01\n\x7fv", "_Z1k\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdv"},
        {"_Z1k\xffv", "_Z1k\xef\xbf\xbdv"},
        {"_Z1k\xfev", "_Z1k\xef\xbf\xbdv"},
        {"_Z1\xc3\xa9v", "_Z1\xc3\xa9v"},
    };
    start();
    on_device(0);
    void *module;
    cuda.cuModuleLoadData(&module, "");
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        void *function;
        cuda.cuModuleGetFunction(&function, module, odd[i].name);
        launch_at(odd[i].frame, function, 0, next_span(0, 1000 + i));
    }
    /* NULL and the empty name are one. */
    expect_process("profiler_replaced_names_total", 4);
    close_books();
    wait_for_gate();
    return 0;
}

/* Records with impossible numbers. Their ends are in the past: the double keeps others until the exit. */
static int greatest(void) {
    start();
    on_device(0);
    launch(0, 0, 1000);
    for (int i = 0; i < 2; i++) {
        cuda.fake_next(1, UINT64_C(1) << 60);
        cuda.cuLaunchKernel(symbol_function(1), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
        cuda.fake_next(1, UINT64_C(1) << 60);
        cuda.fake_wait(UINT32_MAX, NULL);
        struct span span = next_span(0, 1000);
        cuda.fake_next(span.start, span.end);
        cuda.fake_copy(UINT8_MAX, UINT64_MAX, NULL);
        cuda.fake_settle();
    }
    expect_process("cuda_invalid_records_total", 6);
    launch(0, 0, 1000);
    close_books();
    wait_for_gate();
    return 0;
}

/* Modules are unloaded, and other symbols get the memory of their names. */
static int reused_names(void) {
    start();
    on_device(0);
    for (int round = 0; round < 6; round++) {
        void *module, *functions[4];
        char names[4][64];
        cuda.cuModuleLoadData(&module, "");
        for (int i = 0; i < 4; i++) {
            snprintf(names[i], sizeof names[i], "_Z6moduleILi%dELi%dEEvPf", round, i);
            cuda.cuModuleGetFunction(&functions[i], module, names[i]);
        }
        for (int i = 0; i < 200; i++) {
            launch_at(names[i % 4], functions[i % 4], 0, next_span(0, 1000 + random_below(1000)));
        }
        cuda.fake_settle();
        cuda.cuModuleUnload(module);
    }
    close_books();
    return 0;
}

/* Records without times, and with an end before their start. */
static int invalid(void) {
    start();
    on_device(0);
    launch(0, 0, 1000);
    for (int i = 0; i < 30; i++) {
        struct span span = next_span(0, 1000);
        if (i % 3 == 0) span = (struct span){0, 0};
        if (i % 3 == 1) span.end = span.start - 1 - (uint64_t)i;
        if (i % 3 == 2) span.end = 0;
        cuda.fake_next(span.start, span.end);
        if (i % 2) cuda.fake_copy(1, 1000, NULL);
        else cuda.cuLaunchKernel(symbol_function(1), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    }
    expect_process("cuda_invalid_records_total", 30);
    launch(0, 0, 1000);
    close_books();
    return 0;
}

/* CUPTI reports lost records. */
static int lost(void) {
    start();
    on_device(0);
    launch(0, 0, 1000);
    cuda.fake_drop(12);
    cuda.fake_settle();
    cuda.fake_drop(30);
    launch(0, 0, 1000);
    expect_process("cuda_dropped_records_total", 42);
    close_books();
    return 0;
}

/* More records than the buffers hold, while none are read. */
static int flood(void) {
    start();
    on_device(0);
    cuda.fake_gate(true);
    for (int i = 0; i < 100000; i++) {
        launch(i % 500, 0, 1000);
        if (i % 2 == 0) copy(1, 1000, 0, 1000);
    }
    cuda.fake_gate(false);
    launch(0, 0, 1000);
    close_books();
    return 0;
}

static pthread_mutex_t book_lock = PTHREAD_MUTEX_INITIALIZER;

static void *launch_once(void *number) {
    int symbol = (int)(uintptr_t)number % 500;
    struct span span;
    pthread_mutex_lock(&book_lock);
    on_device(symbol % DEVICES);
    span = next_span(0, 1000 + (uint64_t)symbol);
    void *function = symbol_function(symbol);
    expect_kernel(symbol_name(symbol), span);
    pthread_mutex_unlock(&book_lock);
    cuda.fake_next(span.start, span.end);
    cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    return NULL;
}

/* 10,000 threads, or $WORKLOAD_THREADS, 100 at a time. */
static int threads(void) {
    const char *count = getenv("WORKLOAD_THREADS");
    start();
    for (int i = 0; i < (count ? atoi(count) : 10000); i += 100) {
        pthread_t running[100];
        for (int j = 0; j < 100; j++) {
            if (pthread_create(&running[j], NULL, launch_once, (void *)(uintptr_t)(i + j))) return 71;
        }
        for (int j = 0; j < 100; j++) pthread_join(running[j], NULL);
    }
    close_books();
    return 0;
}

static void *init(void *unused) {
    (void)unused;
    return (void *)(uintptr_t)cuda.cuInit(0);
}

static int init_often(void) {
    load();
    pthread_t running[16];
    for (int i = 0; i < 16; i++) pthread_create(&running[i], NULL, init, NULL);
    for (int i = 0; i < 16; i++) {
        void *result;
        pthread_join(running[i], &result);
        if (result != NULL) return 72;
    }
    start();
    mix(500);
    close_books();
    return 0;
}

static struct span from_now(uint64_t duration) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t at = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return (struct span){at, at + duration};
}

/* A long kernel: it is measured when it ends, and not before. */
static int running(void) {
    start();
    on_device(0);
    struct span span = from_now(300000000);
    launch_at(symbol_name(0), symbol_function(0), 0, span);
    usleep(350000);
    close_books();
    return 0;
}

/* A kernel that still runs at exit: it has no end. */
static int exit_while_running(void) {
    start();
    on_device(0);
    launch(0, 0, 1000);
    cuda.fake_settle();
    struct span span = from_now(3600000000000);
    cuda.fake_next(span.start, span.end);
    cuda.cuLaunchKernel(symbol_function(1), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    expect_process("cuda_invalid_records_total", 1);
    close_books();
    return 0;
}

static uint64_t now_ns(void) { return from_now(0).start; }

/* The kernel time adds up to the time since the booked start. */
static int paced(void) {
    start();
    on_device(0);
    symbol_function(0);
    uint64_t before = now_ns();
    expect_process("start_nanoseconds", before);
    close_books();
    const char *gate = getenv("WORKLOAD_GATE");
    for (int tries = 0; gate && access(gate, F_OK) != 0 && tries < 10000; tries++) {
        uint64_t now = now_ns();
        cuda.fake_next(before, now);
        cuda.cuLaunchKernel(symbol_function(0), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
        before = now;
        usleep(2000);
    }
    return 0;
}

const struct scenario work_scenarios[] = {
    {"steady", steady},
    {"live", live},
    {"overlap", overlap},
    {"idle", idle},
    {"many_symbols", many_symbols},
    {"long_symbols", long_symbols},
    {"long_names", long_names},
    {"odd_names", odd_names},
    {"greatest", greatest},
    {"reused_names", reused_names},
    {"invalid", invalid},
    {"lost", lost},
    {"flood", flood},
    {"threads", threads},
    {"init_often", init_often},
    {"running", running},
    {"exit_while_running", exit_while_running},
    {"paced", paced},
    {NULL, NULL},
};
