/* Load on the strict double: many launches by threads, on streams of several devices.
 *
 * symbols, length (longest name; the shortest is 300 for 2000), addresses (of one symbol, on each
 * device), devices, threads, streams (of a thread on a device), order=out, duration (ns), records,
 * rate (a second, by all threads; 0: as fast as it goes), settle (ms before it ends). */
#include "load.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "threads.h"

enum { MAX_THREADS = 64, MAX_DEVICES = 16, MAX_BURSTS = 20000, BURST_NS = 1000000, UNPACED = 1000 };

static void **functions;
static size_t functions_of_device;
static uint64_t devices;
static void *contexts[MAX_DEVICES];

struct launcher {
    pthread_t thread;
    uint64_t records, rate, number;
    uint32_t bursts;
    float launch_ns[MAX_BURSTS];
};

/* Names as templates make them: the same beginning, then what tells them apart, then a long end. */
static void write_name(char *name, uint64_t index, uint64_t longest)
{
    uint64_t length = longest < 300 ? longest : 300 + index * 7919 % (longest - 299);
    int start = snprintf(name, 64, "_ZN7cutlass6KernelINS_4gemm6kernel%06luE", index);
    if ((uint64_t)start < length) {
        memset(name + start, 'x', length - (uint64_t)start);
        name[length] = 0;
    }
}

static void load_modules(void)
{
    uint64_t symbols = option("symbols", 50), addresses = option("addresses", 1);
    uint64_t longest = option("length", 60);
    char name[4096];
    functions_of_device = symbols * addresses;
    functions = calloc(devices * functions_of_device, sizeof *functions);
    for (uint64_t d = 0; d < devices; d++) {
        cuDevicePrimaryCtxRetain(&contexts[d], (int)d);
        cuCtxSetCurrent(contexts[d]);
        for (uint64_t i = 0; i < functions_of_device; i++) {
            void *module;
            if (i % symbols == 0)
                cuModuleLoadData(&module, "");
            write_name(name, i % symbols, longest);
            void **function = &functions[d * functions_of_device + i];
            cuModuleGetFunction(function, module, name);
            strictFuncSetDuration(*function, option("duration", 200) + i % symbols % 50);
        }
    }
}

static void burst(struct launcher *launcher, void **streams, size_t count, uint64_t launches)
{
    uint64_t random = launcher->number;
    uint64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t i = 0; i < launches; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t stream = i % count;
        size_t device = stream % devices;
        void *function = functions[device * functions_of_device + (random >> 33) % functions_of_device];
        cuLaunchKernel(function, 16, 1, 1, 128, 1, 1, 0, streams[stream], NULL, NULL);
    }
    uint64_t took = now_ns(CLOCK_THREAD_CPUTIME_ID) - from;
    launcher->number = random;
    if (launcher->bursts < MAX_BURSTS)
        launcher->launch_ns[launcher->bursts++] = (float)took / (float)launches;
}

static void *launch(void *argument)
{
    struct launcher *launcher = argument;
    size_t count = devices * option("streams", 1);
    void *streams[count];
    pthread_setname_np(pthread_self(), "load");
    for (size_t i = 0; i < count; i++) {
        cuCtxSetCurrent(contexts[i % devices]);
        cuStreamCreate(&streams[i], 0);
        if (has_option("order", "out"))
            strictStreamSetLag(streams[i], i * 37 % count * 5000);
    }
    cuCtxSetCurrent(contexts[0]);
    uint64_t start = now_ns(CLOCK_MONOTONIC), done = 0;
    while (done < launcher->records) {
        uint64_t launches = UNPACED;
        if (launcher->rate) {
            uint64_t passed = now_ns(CLOCK_MONOTONIC) - start;
            uint64_t due = (uint64_t)((double)passed * (double)launcher->rate / 1e9);
            launches = due > done ? due - done : 0;
            if (!launches) {
                sleep_ns(BURST_NS / 2);
                continue;
            }
        }
        if (launches > launcher->records - done)
            launches = launcher->records - done;
        burst(launcher, streams, count, launches);
        done += launches;
        if (launcher->rate)
            sleep_ns(BURST_NS);
    }
    for (size_t i = 0; i < count; i++)
        cuStreamSynchronize(streams[i]);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float median(struct launcher *launcher)
{
    qsort(launcher->launch_ns, launcher->bursts, sizeof(float), compare);
    return launcher->bursts ? launcher->launch_ns[launcher->bursts / 2] : 0;
}

static void print_expected(void)
{
    printf("\"kernels\":[");
    for (size_t i = 0; i < devices * functions_of_device; i++) {
        uint64_t launches, ns;
        strictFuncGetRecorded(functions[i], &launches, &ns);
        printf("%s[%zu,%lu,%lu]", i ? "," : "", i % option("symbols", 50), launches, ns);
    }
    printf("],");
}

void run_storm(void)
{
    static struct launcher launchers[MAX_THREADS];
    uint64_t threads = option("threads", 1), records = option("records", 100000);
    devices = option("devices", 1);
    load_modules();
    uint64_t before_kib = resident_kib(), start = now_ns(CLOCK_MONOTONIC);
    for (uint64_t t = 0; t < threads; t++) {
        launchers[t].records = records / threads;
        launchers[t].rate = option("rate", 0) / threads;
        launchers[t].number = t + 1;
        pthread_create(&launchers[t].thread, NULL, launch, &launchers[t]);
    }
    float launch_ns = 0;
    for (uint64_t t = 0; t < threads; t++) {
        pthread_join(launchers[t].thread, NULL);
        launch_ns += median(&launchers[t]) / (float)threads;
    }
    uint64_t wall_ns = now_ns(CLOCK_MONOTONIC) - start, peak_kib = resident_kib();
    sleep_ns(option("settle", 1500) * 1000000);
    printf("{");
    if (has_option("expected", "1"))
        print_expected();
    print_threads();
    printf("\"launch_ns\":%.2f,\"records\":%lu,\"dropped\":%lu,\"read\":%lu,\"wall_ns\":%lu,"
           "\"before_kib\":%lu,\"peak_kib\":%lu,\"settled_kib\":%lu}\n",
           launch_ns, records / threads * threads, strictGetDropped(), strictGetRead(), wall_ns,
           before_kib, peak_kib, resident_kib());
    fflush(stdout);
}
