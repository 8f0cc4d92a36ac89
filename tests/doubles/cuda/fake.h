/* What the fake driver and the fake CUPTI tell each other. The rest of the fakes is as the real ones:
 * see fake_cuda.c and fake_cupti.c.
 *
 * Environment:
 *   FAKE_VIOLATIONS   file that gets a line for everything a tool may not do
 *   FAKE_MIG          the devices are parts of one
 *   FAKE_GRAPH_ID     "template": records name the graph that was instantiated, not the executable one
 *   FAKE_SUBSCRIBE    result of every subscription, such as 39
 *   FAKE_ENABLE       result of every activity's enabling, such as 15 or 999
 *   FAKE_TEARDOWN     "first": the driver is gone before handlers of exit() that tools registered */
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

/* What one record is about. */
struct fake_operation {
    uint32_t kind, device, context, stream;
    uint64_t start, end, bytes;
    uint32_t detail;  /* copy kind, memory kind, or type of a wait */
    bool polls;       /* a wait that does not block */
    uint32_t graph;   /* 0: of none */
    uint64_t node;
    const char *name; /* of a kernel: stays while its module does */
};

/* A graph's callback: 56 bytes, as CUPTI has them. */
struct fake_graph_data {
    const void *graph, *original_graph, *node, *original_node;
    int32_t node_type;
    const void *dependency, *graph_exec;
};
_Static_assert(sizeof(struct fake_graph_data) == 56, "as the real one");

/* A call of the driver. */
struct fake_call {
    const char *function;
    const char *symbol; /* of the kernel it is about */
    const void *params; /* its arguments, one after the other */
};

/* What the driver tells CUPTI, which is NULL until there is one. */
struct fake_cupti {
    void (*api)(uint32_t cbid, bool enter, const struct fake_call *call);
    void (*context)(void *context);
    void (*graph)(uint32_t cbid, const struct fake_graph_data *data);
    void (*operation)(const struct fake_operation *operation);
    bool (*enabled)(uint32_t kind);
    /* Gives all that is complete to the tool, and waits until the tool has read it. */
    void (*settle)(void);
    /* Tools that ask for the next record wait while it is closed. */
    void (*gate)(bool closed);
    void (*drop)(size_t records);
};

/* What CUPTI asks the driver. */
struct fake_driver {
    void (*attach)(const struct fake_cupti *cupti);
    /* Callbacks this thread is in. */
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
