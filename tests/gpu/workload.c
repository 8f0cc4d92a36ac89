/* Workload of the tests with a GPU: a fixed amount of work, loops to be timed, and very many records.
 *
 *   known SMALL LARGE COPIES SETS SYNCS A B   launches, copies of each direction, sets, syncs of each kind,
 *                                             replays of two graphs (three small and a set; large and small)
 *   loop gpu|launch|graph SECONDS             prints steps per second
 *   latency SECONDS                           prints quantiles of the nanoseconds of a launch
 *   records COUNT                             kernels of a graph; prints used device memory on the way
 *   device                                    prints name and driver
 *
 * Exits with 77 if there is no driver. */
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "driver.h"

enum { BYTES = 1 << 20, LARGE_LOOPS = 20000, GRAPH_KERNELS = 1000, NO_DRIVER = 77 };
enum { LATENCIES = 1 << 22, LAUNCHES_A_WAIT = 100 };

static const char ptx[] = ".version 6.0\n"
                          ".target sm_60\n"
                          ".address_size 64\n"
                          ".visible .entry service_small() { ret; }\n"
                          ".visible .entry service_large(.param .u64 out, .param .u32 loops) {\n"
                          "  .reg .u32 %left, %sum; .reg .u64 %to; .reg .pred %more;\n"
                          "  ld.param.u32 %left, [loops]; ld.param.u64 %to, [out]; mov.u32 %sum, 1;\n"
                          "again:\n"
                          "  mad.lo.u32 %sum, %sum, 1664525, 1013904223; sub.u32 %left, %left, 1;\n"
                          "  setp.ne.u32 %more, %left, 0; @%more bra again;\n"
                          "  cvta.to.global.u64 %to, %to; st.global.u32 [%to], %sum; ret;\n"
                          "}\n";

static handle small, large, streams[2], event;
static device_pointer device_memory[2];
static void *host_memory;

static void set_up(void) {
    int device;
    handle context, module;
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxSetCurrent(context));
    CU(cuModuleLoadData(&module, ptx));
    CU(cuModuleGetFunction(&small, module, "service_small"));
    CU(cuModuleGetFunction(&large, module, "service_large"));
    CU(cuEventCreate(&event, 0));
    for (int i = 0; i < 2; i++) {
        CU(cuStreamCreate(&streams[i], 1)); /* does not wait for the default stream */
        CU(cuMemAlloc_v2(&device_memory[i], BYTES));
    }
    CU(cuMemHostAlloc(&host_memory, BYTES, 0));
}

static void launch_small(handle stream) {
    CU(cuLaunchKernel(small, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}

static void launch_large(handle stream) {
    unsigned loops = LARGE_LOOPS;
    void *arguments[] = {&device_memory[0], &loops};
    CU(cuLaunchKernel(large, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
}

static void set(handle stream) {
    CU(cuMemsetD8Async(device_memory[1], 1, BYTES, stream));
}

/* Captured, instantiated, and the template destroyed at once, as frameworks do. */
static handle graph_of(void (*work)(handle stream)) {
    handle graph, exec;
    CU(cuStreamBeginCapture_v2(streams[0], 1));
    work(streams[0]);
    CU(cuStreamEndCapture(streams[0], &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    return exec;
}

static void work_a(handle stream) {
    for (int i = 0; i < 3; i++) launch_small(stream);
    set(stream);
}

static void work_b(handle stream) {
    launch_large(stream);
    launch_small(stream);
}

static void many_small(handle stream) {
    for (int i = 0; i < GRAPH_KERNELS; i++) launch_small(stream);
}

static void replay(handle exec, int times) {
    for (int i = 0; i < times; i++) CU(cuGraphLaunch(exec, streams[0]));
}

static void known(char **count) {
    for (int i = 0; i < atoi(count[0]); i++) launch_small(streams[i % 2]);
    for (int i = 0; i < atoi(count[1]); i++) launch_large(streams[i % 2]);
    for (int i = 0; i < atoi(count[2]); i++) {
        CU(cuMemcpyHtoDAsync_v2(device_memory[0], host_memory, BYTES, streams[0]));
        CU(cuMemcpyDtoHAsync_v2(host_memory, device_memory[0], BYTES, streams[0]));
        CU(cuMemcpyDtoDAsync_v2(device_memory[1], device_memory[0], BYTES, streams[0]));
    }
    for (int i = 0; i < atoi(count[3]); i++) set(streams[1]);
    replay(graph_of(work_a), atoi(count[5]));
    replay(graph_of(work_b), atoi(count[6]));
    for (int i = 0; i < atoi(count[4]); i++) {
        CU(cuStreamSynchronize(streams[0]));
        CU(cuEventRecord(event, streams[1]));
        CU(cuEventSynchronize(event));
        CU(cuCtxSynchronize());
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void step(char kind, handle exec) {
    if (kind == 'g') for (int i = 0; i < 100; i++) launch_large(streams[0]);
    else if (kind == 'l') many_small(streams[0]);
    else replay(exec, 10);
    CU(cuStreamSynchronize(streams[0]));
}

static void loop(const char *what, double seconds) {
    char kind = strcmp(what, "graph") == 0 ? 'r' : what[0];
    handle exec = graph_of(many_small);
    for (int i = 0; i < 10; i++) step(kind, exec);
    long steps = 0;
    double start = now(), end = start;
    for (; end - start < seconds; end = now()) {
        step(kind, exec);
        steps++;
    }
    printf("%.3f\n", (double)steps / (end - start));
}

static int compare_u32(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Each launch alone; waits for the GPU are between them. */
static void latency(double seconds) {
    static uint32_t took_ns[LATENCIES];
    size_t count = 0;
    for (double end = now() + seconds; count < LATENCIES && now() < end;) {
        for (int i = 0; i < LAUNCHES_A_WAIT && count < LATENCIES; i++) {
            double start = now();
            launch_small(streams[0]);
            took_ns[count++] = (uint32_t)((now() - start) * 1e9);
        }
        CU(cuStreamSynchronize(streams[0]));
    }
    qsort(took_ns, count, sizeof *took_ns, compare_u32);
    printf("{\"p50\":%u,\"p99\":%u,\"p999\":%u}\n", took_ns[count / 2], took_ns[count / 100 * 99],
           took_ns[count / 1000 * 999]);
}

static void records(long count) {
    handle exec = graph_of(many_small);
    for (long done = 0; done < count; done += GRAPH_KERNELS) {
        replay(exec, 1);
        if (done % 1000000 != 0) continue;
        size_t available, all;
        CU(cuStreamSynchronize(streams[0]));
        CU(cuMemGetInfo_v2(&available, &all));
        printf("{\"records\":%ld,\"used_bytes\":%zu}\n", done, all - available);
    }
    CU(cuCtxSynchronize());
}

static void describe(void) {
    int version = 0, device = 0;
    char name[128] = "";
    CU(cuInit(0));
    CU(cuDriverGetVersion(&version));
    CU(cuDeviceGet(&device, 0));
    CU(cuDeviceGetName(name, sizeof name, device));
    printf("{\"device\":\"%s\",\"cuda\":\"%d.%d\"}\n", name, version / 1000, version % 1000 / 10);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    if (!driver_load()) return NO_DRIVER;
    if (strcmp(what, "device") == 0) {
        describe();
        return 0;
    }
    set_up();
    if (strcmp(what, "known") == 0 && count == 9) known(arguments + 2);
    else if (strcmp(what, "loop") == 0 && count == 4) loop(arguments[2], atof(arguments[3]));
    else if (strcmp(what, "latency") == 0 && count == 3) latency(atof(arguments[2]));
    else if (strcmp(what, "records") == 0 && count == 3) records(atol(arguments[2]));
    else return 2;
}
