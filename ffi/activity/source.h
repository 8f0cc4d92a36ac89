/* A vendor's library that records what GPUs did, as the collector sees it. One row a vendor in
 * ffi/sources.c: vendors do not know of each other. */
#ifndef SERVICE_SOURCE_H
#define SERVICE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACTIVITY_SOURCES 4u

struct accounts;

/* What the user chose. */
struct activity_options {
    bool graph_nodes; /* record the kernels inside of graphs, and not the graphs */
};

/* The names of kinds by the vendor's numbers. The first stands for numbers past the end, too. */
struct activity_kinds {
    const char *const *names;
    uint32_t count; /* at most ACCOUNTS_KINDS; 0: the vendor records none of it */
};

/* The entry that the vendor's runtime calls hands the row to collector_start(), which calls `start` on that
 * thread. Then the collector's thread calls the others; `stop` may come from any thread, at any time. */
struct activity_source {
    const char *prefix; /* "cuda", "rocm": of the names of its metrics */
    struct activity_kinds copies, sets, waits;
    bool graphs; /* whether launches of graphs are recorded */

    /* Begins to record. Where that fails everything is as it was before, and `reason` says why. */
    bool (*start)(const struct activity_options *options, char *reason, size_t size);
    /* Makes the series that are its own. */
    void (*open)(struct accounts *accounts);
    /* Has the library return what is complete; `all`: all there is, as nothing is recorded any more. */
    void (*flush)(bool all);
    /* Whether a flush may have more to return in a moment. */
    bool (*is_pending)(void);
    /* Adds up the oldest buffer that came back. Returns whether there was one. */
    bool (*read)(struct accounts *accounts);
    /* Once a second, */
    void (*check)(void);
    /* and between those when the bell rings, at most every 20 ms. */
    void (*poll)(void);
    /* How many records were lost. After `stop` also those that were not read. */
    uint64_t (*dropped)(void);
    /* From now on every callback returns at once. Also where it never started, and in the child of a fork. */
    void (*stop)(void);
};

/* The table of sources; NULL past the last row. */
extern const struct activity_source *const activity_sources[ACTIVITY_SOURCES];

#endif
