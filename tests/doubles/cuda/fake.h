/* The interface between the fake driver and the fake CUPTI. Their other functions have the interfaces of
 * the real libraries: see fake_cuda.c and fake_cupti.c.
 *
 * Environment:
 *   FAKE_VIOLATIONS   file that gets a line for every call that a tool must not make
 *   FAKE_MIG          the devices are MIG instances of one GPU
 *   FAKE_GRAPH_ID     "template": records name the graph that was instantiated, not the executable one
 *   FAKE_SUBSCRIBE    result of every subscription, such as 39
 *   FAKE_ENABLE       result of enabling any activity, such as 15 or 999
 *   FAKE_DRIVER       version of CUDA that the driver supports, such as 12040
 *   FAKE_TEARDOWN     "first": the driver is torn down before the tools' handlers of exit() run */
#ifndef FAKE_H
#define FAKE_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    KIND_MEMCPY = 1,
    KIND_MEMSET = 2,
    KIND_CONTEXT = 9,
    KIND_KERNEL = 10,
    KIND_PEER_COPY = 22,
    KIND_SYNC = 38,
    KIND_GRAPH_TRACE = 51,
    KINDS = 64,
};

/* Operation that one record describes. */
struct fake_operation {
    uint32_t kind, device, context, stream;
    uint64_t start, end, bytes;
    uint32_t detail;  /* copy kind, memory kind, or type of a wait */
    bool polls;       /* a wait that does not block */
    uint32_t graph;   /* 0: not of a graph */
    uint64_t node;
    const char *name; /* of a kernel; valid while its module is loaded */
};

/* Data of a graph callback, with the 56 bytes of CUPTI's struct. */
struct fake_graph_data {
    const void *graph, *original_graph, *node, *original_node;
    int32_t node_type;
    const void *dependency, *graph_exec;
};
_Static_assert(sizeof(struct fake_graph_data) == 56, "as the real one");

/* A call of the driver. */
struct fake_call {
    const char *function;
    const char *symbol; /* of the kernel that the call launches or adds */
    const void *params; /* its arguments in order */
    int result;         /* once it returns */
};

/* Functions of the fake CUPTI that the driver calls; NULL until CUPTI is loaded. */
struct fake_cupti {
    void (*api)(uint32_t cbid, bool enter, const struct fake_call *call);
    void (*context)(void *context);
    void (*module)(void);
    void (*stream)(void *destroyed);
    void (*graph)(uint32_t cbid, const struct fake_graph_data *data);
    void (*operation)(const struct fake_operation *operation);
    bool (*enabled)(uint32_t kind);
    /* Gives all complete buffers to the tool, and waits until the tool has read them. */
    void (*settle)(void);
    /* While it is closed, tools that ask for the next record wait. */
    void (*gate)(bool closed);
    void (*drop)(size_t records);
    /* How often the tool was called for a launch of a kernel. */
    uint64_t (*launch_callbacks)(void);
};

/* Functions of the fake driver that CUPTI calls. */
struct fake_driver {
    void (*attach)(const struct fake_cupti *cupti);
    /* Depth of callbacks on this thread. */
    int *(*callback_depth)(void);
    bool (*alive)(void);
    bool (*graph_id)(const void *graph, uint32_t *id);
    bool (*exec_id)(const void *exec, uint32_t *id);
};

static inline void fake_violation(const char *format, ...) {
    const char *path = getenv("FAKE_VIOLATIONS");
    if (path == NULL) return;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof line - 2) length = sizeof line - 2;
    line[length++] = '\n';
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, (size_t)length) != length) abort();
    close(fd);
}

static inline uint64_t fake_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
