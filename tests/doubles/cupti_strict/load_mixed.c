/* Load on the strict double: a bit of everything, and what has to come of it.
 *
 * On each device: kernels on two streams, copies of each kind, sets, copies to the next device,
 * waits, a captured graph, and a module whose addresses go to other symbols. odd=1: names that no
 * compiler makes. The JSON has names as hexadecimal bytes. */
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOLS = 12, ROUNDS = 40, MODULES = 3, NODES = 3, MAX_DEVICES = 16, FLUSHED_MS = 1200 };

static uint64_t devices;
static void *contexts[MAX_DEVICES];
static void *functions[MAX_DEVICES][MODULES][SYMBOLS];
static char *names[MODULES][SYMBOLS];

static char *name_of(int module, int index)
{
    static const char *const odd[] = {"", "\xff\xfe kernel", "a\nb\tc", "caf\xc3\xa9<int>"};
    char *name = calloc(1, 6000);
    int length = snprintf(name, 64, "kernel_%d_%d", module == MODULES - 1 ? 9 : 0, index);
    if (has_option("odd", "1") && index < 4)
        strcpy(name, odd[index]);
    else if (has_option("odd", "1") && index == 4)
        memset(name + length, 'y', 5000);
    else if (index % 3 == 0)
        memset(name + length, 'x', (size_t)(300 + 140 * index));
    return name;
}

static void load_module(uint64_t device, int which, void **module)
{
    cuModuleLoadData(module, "");
    for (int i = 0; i < SYMBOLS; i++) {
        if (!names[which][i])
            names[which][i] = name_of(which, i);
        cuModuleGetFunction(&functions[device][which][i], *module, names[which][i]);
        strictFuncSetDuration(functions[device][which][i], 700 + 13 * (uint64_t)i);
    }
}

static void launch(void *function, void *stream)
{
    cuLaunchKernel(function, 4, 2, 1, 64, 1, 1, 0, stream, NULL, NULL);
}

static void work(uint64_t device, void **streams)
{
    static char host[4096];
    uint64_t next = (device + 1) % devices;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SYMBOLS; i++)
            launch(functions[device][i % 2][i], streams[i % 2]);
        cuMemcpyHtoDAsync_v2(0x1000, host, 1000, streams[0]);
        cuMemcpyDtoHAsync_v2(host, 0x1000, 2000, streams[1]);
        cuMemcpyDtoDAsync_v2(0x2000, 0x1000, 3000, streams[0]);
        cuMemcpyPeerAsync(0x3000, contexts[next], 0x1000, contexts[device], 4000, streams[1]);
        cuMemsetD8Async(0x1000, 0, 600, streams[0]);
    }
    cuStreamSynchronize(streams[0]);
    cuStreamSynchronize(streams[1]);
}

static void *capture(uint64_t device, void **streams)
{
    void *graph, *exec, *fork, *join;
    cuEventCreate(&fork, 0);
    cuEventCreate(&join, 0);
    cuStreamBeginCapture_v2(streams[0], 0);
    launch(functions[device][0][5], streams[0]);
    cuEventRecord(fork, streams[0]);
    cuStreamWaitEvent(streams[1], fork, 0);
    launch(functions[device][0][7], streams[1]);
    cuMemsetD8Async(0x1000, 0, 256, streams[0]);
    cuEventRecord(join, streams[1]);
    cuStreamWaitEvent(streams[0], join, 0);
    launch(functions[device][0][8], streams[0]);
    strictStreamLeaveCapture(streams[1]);
    cuStreamEndCapture(streams[0], &graph);
    cuGraphInstantiateWithFlags(&exec, graph, 0);
    cuGraphDestroy(graph);
    for (int round = 0; round < ROUNDS; round++)
        cuGraphLaunch(exec, streams[0]);
    cuStreamSynchronize(streams[0]);
    return exec;
}

/* An address is another symbol's when everything that had it has been read. */
static void replace(uint64_t device, void *module, void *stream)
{
    sleep_ns(option("flushed", FLUSHED_MS) * 1000000);
    cuModuleUnload(module);
    load_module(device, MODULES - 1, &module);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SYMBOLS; i++)
            launch(functions[device][MODULES - 1][i], stream);
    }
    cuStreamSynchronize(stream);
}

static void print_kernels(uint64_t device)
{
    for (int module = 0; module < MODULES; module++) {
        for (int i = 0; i < SYMBOLS; i++) {
            uint64_t launches, ns;
            strictFuncGetRecorded(functions[device][module][i], &launches, &ns);
            printf("%s{\"device\":%lu,\"calls\":%lu,\"ns\":%lu,\"name\":\"",
                   device || module || i ? "," : "", device, launches, ns);
            for (const char *c = names[module][i]; *c; c++)
                printf("%02x", (unsigned char)*c);
            printf("\"}");
        }
    }
}

/* Calls, bytes and nanoseconds on each device, as the driver times them. */
static void print_copies(void)
{
    static const struct {
        const char *kind;
        unsigned int bytes, ns;
    } copies[] = {
        {"host_to_device", 1000, 2000},
        {"device_to_host", 2000, 3000},
        {"device_to_device", 3000, 4000},
        {"peer_to_peer", 4000, 5000},
        {"set", 600, 800},
        {"set_in_graph", 256, 628},
    };
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        printf("%s\"%s\":[%u,%u,%u]", i ? "," : "", copies[i].kind, ROUNDS,
               copies[i].bytes * ROUNDS, copies[i].ns * ROUNDS);
    }
}

void run_mixed(void)
{
    void *execs[MAX_DEVICES];
    devices = option("devices", 2);
    for (uint64_t d = 0; d < devices; d++)
        cuDevicePrimaryCtxRetain(&contexts[d], (int)d);
    for (uint64_t d = 0; d < devices; d++) {
        void *streams[2], *modules[2];
        cuCtxSetCurrent(contexts[d]);
        cuStreamCreate(&streams[0], 0);
        cuStreamCreate(&streams[1], 0);
        load_module(d, 0, &modules[0]);
        load_module(d, 1, &modules[1]);
        work(d, streams);
        execs[d] = capture(d, streams);
        replace(d, modules[1], streams[0]);
    }
    sleep_ns(option("settle", 0) * 1000000);
    printf("{\"kernels\":[");
    for (uint64_t d = 0; d < devices; d++)
        print_kernels(d);
    printf("],\"graphs\":[");
    for (uint64_t d = 0; d < devices; d++) {
        uint64_t launches, ns;
        strictGraphGetRecorded(execs[d], &launches, &ns);
        printf("%s[%lu,%lu]", d ? "," : "", launches, ns);
    }
    printf("],\"copies\":{");
    print_copies();
    printf("},\"dropped\":%lu}\n", strictGetDropped());
    fflush(stdout);
}
