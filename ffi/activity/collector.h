/* The collector: one thread a process that gathers what the sources recorded, and publishes it in the
 * segment each second, whenever the watcher asks, and at exit. Whatever fails, the process runs on
 * unmeasured, and the segment says why. */
#ifndef SERVICE_COLLECTOR_H
#define SERVICE_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "source.h"

/* Opens the segment of this process in one of the directories (may be NULL), once. Returns whether there is
 * one. */
bool collector_open(const char *directories);

/* Starts a source, and the thread with the first one. Returns whether it records. */
bool collector_start(const struct activity_source *source, const struct activity_options *options);

/* Says what a source captures: one of SEGMENT_CAPTURING, SEGMENT_INTERRUPTED and SEGMENT_REFUSED, and the
 * reason, which may be NULL. From any thread, but not from a callback. */
void collector_state(const struct activity_source *source, uint32_t state, const char *reason);

#endif
