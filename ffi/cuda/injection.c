/* The injection entry, which the CUDA driver calls after loading libservice.so: starts the capture, or hands
 * over to another tool. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../activity/collector.h"
#include "../export.h"
#include "../segment/segment.h"
#include "source.h"

#define REASON_SIZE 1024

static bool names_tool(const char *path) { return path && *path && strcmp(path, "none") != 0; }

/* NULL: the file is no tool for this process. The driver would have ignored it, too. */
static int (*load_tool(const char *path))(void) {
    void *tool = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return tool ? (int (*)(void))dlsym(tool, "InitializeInjection") : NULL;
}

/* CUPTI serves one tool: one that the user named comes first. */
static int hand_over(const char *path, int (*initialize)(void)) {
    char reason[REASON_SIZE];
    snprintf(reason, sizeof reason, "CUPTI is left to %s, which CUDA_INJECTION64_PATH named", path);
    collector_state(&cuda_source, SEGMENT_REFUSED, reason);
    return initialize();
}

static void begin(const char *unusable) {
    const char *mode = getenv("SERVICE_CUDA_GRAPH_TRACE");
    const struct activity_options options = {.graph_nodes = mode && strcmp(mode, "node") == 0};
    char reason[REASON_SIZE];
    if (!collector_start(&cuda_source, &options) || !unusable) return;
    snprintf(reason, sizeof reason, "CUDA_INJECTION64_PATH named %s, which is no tool", unusable);
    collector_state(&cuda_source, SEGMENT_CAPTURING, reason);
}

/* Called while the driver starts: no driver call is possible here. */
SERVICE_EXPORT int InitializeInjection(void) {
    static _Atomic bool called;
    static _Atomic int result = 1;
    if (atomic_exchange(&called, true)) return atomic_load(&result);
    int error = errno;
    const char *next = getenv("SERVICE_CUDA_NEXT");
    bool open = collector_open(getenv("SERVICE_SEGMENTS"));
    int (*tool)(void) = names_tool(next) ? load_tool(next) : NULL;
    if (tool) atomic_store(&result, hand_over(next, tool));
    else if (open) begin(names_tool(next) ? next : NULL);
    errno = error;
    return atomic_load(&result);
}
