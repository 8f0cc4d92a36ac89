/* The seam between the collector and a vendor's library that records what GPUs did. Each vendor is one row of
 * the table in ffi/sources.c; vendors do not know each other. */
#ifndef SERVICE_SOURCE_H
#define SERVICE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACTIVITY_SOURCES 4u

struct accounts;

/* Options of the user. */
struct activity_options {
    bool graph_nodes; /* record the kernels inside of graphs, and not the graphs */
};

/* Names of kinds, by the vendor's numbers. Numbers past the end get the first name. */
struct activity_kinds {
    const char *const *names;
    uint32_t count; /* at most ACCOUNTS_KINDS; 0: not recorded */
};

/* A vendor's library. The entry that the vendor's runtime calls passes it to collector_start(), which calls
 * `start`. Then the collector's thread calls the others; `stop` is called on any thread. */
struct activity_source {
    const char *prefix; /* "cuda", "rocm": of the names of its metrics */
    struct activity_kinds copies, sets, waits;
    bool graphs; /* whether launches of graphs are recorded */

    /* Starts recording. If that fails nothing is changed, and `reason` has the reason. */
    bool (*start)(const struct activity_options *options, char *reason, size_t size);
    /* Makes the series that only this vendor has. */
    void (*open)(struct accounts *accounts);
    /* Makes the library return its complete records; `all`: all records, for the last time. */
    void (*flush)(bool all);
    /* Whether buffers may be returned soon after a flush. */
    bool (*is_pending)(void);
    /* Adds up the oldest returned buffer. Returns whether there was one. */
    bool (*read)(struct accounts *accounts);
    /* Called once a second. */
    void (*check)(void);
    /* Called when the bell rings, at most every 20 ms. Returns whether it has to be called again without it. */
    bool (*poll)(void);
    /* Number of lost records; after `stop` with those that were not read. */
    uint64_t (*dropped)(void);
    /* Makes every callback return at once. Also called if it never started, and in the child of a fork. */
    void (*stop)(void);
};

/* The table of sources; NULL past the last row. */
extern const struct activity_source *const activity_sources[ACTIVITY_SOURCES];

#endif
