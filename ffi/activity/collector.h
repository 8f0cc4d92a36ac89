/* The collector: one thread in a process that adds up the records of all sources, and publishes them in the
 * segment: each second, when the watcher asks, and at exit. If anything fails the process runs on
 * unmeasured, and the segment has the reason. */
#ifndef SERVICE_COLLECTOR_H
#define SERVICE_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "source.h"

/* Opens the segment of this process in one of the directories, which may be NULL; the first call does.
 * Returns whether the process has one. */
bool collector_open(const char *directories);

/* Starts a source, and with the first one the thread. Returns whether it records. */
bool collector_start(const struct activity_source *source, const struct activity_options *options);

/* Sets the state of a source: SEGMENT_CAPTURING, SEGMENT_INTERRUPTED or SEGMENT_REFUSED, with a reason or
 * NULL. From any thread, but not in a callback. */
void collector_state(const struct activity_source *source, uint32_t state, const char *reason);

#endif
