/* Accounts of devices: their records, added up in cells of the segment, in metrics whose names begin with the
 * source's prefix. For the collector's thread alone. */
#ifndef SERVICE_ACCOUNTS_H
#define SERVICE_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../segment/segment.h"
#include "busy.h"
#include "durations.h"
#include "kernels.h"
#include "source.h"

#define ACCOUNTS_DEVICES 64u
#define ACCOUNTS_KINDS 16u
/* Limit of a record's nanoseconds and bytes: 104 days, 8 PiB. */
#define ACCOUNTS_LIMIT (UINT64_C(1) << 53)

/* Time and bytes of copies or sets, by kind. Cells are made when first needed. */
struct account_traffic {
    struct activity_kinds kinds;
    const char *bytes_metric; /* without the prefix */
    uint32_t profile;
    uint32_t time_cells[ACCOUNTS_KINDS];
    uint32_t byte_cells[ACCOUNTS_KINDS];
};

/* One device. */
struct account {
    struct account *older; /* made before it, of any source */
    const struct activity_source *source;
    const char *uuid;
    uint32_t graphs, waits; /* profiles */
    uint32_t busy_cell, late_cell;
    uint32_t wait_cells[ACCOUNTS_KINDS];
    struct account_traffic copies, sets;
    struct durations durations; /* of kernels */
    struct busy busy;
    struct kernels kernels;
};

/* All devices of one source. */
struct accounts {
    const struct activity_source *source;
    struct account *devices[ACCOUNTS_DEVICES]; /* by ordinal; NULL: no records yet */
    uint64_t invalid, dropped;                 /* records */
    uint32_t invalid_cell, dropped_cell;
};

/* The cell of a series with one value for the process, named with the source's prefix. */
uint32_t accounts_cell(const struct accounts *accounts, const char *metric, uint32_t type);

/* Begins, with the series that are not of a device. */
void accounts_open(struct accounts *accounts, const struct activity_source *source);

/* Makes the account of a device. The uuid is not copied; NULL: there is no such device. Returns NULL if it
 * cannot be made, and counts a record as dropped. */
struct account *accounts_add_device(struct accounts *accounts, uint32_t ordinal, const char *uuid);

/* Whether a record's times are valid. If not it must not be added, but counted as `invalid`. */
static inline bool account_can_have(uint64_t start, uint64_t end) {
    /* An end before its start is beyond the limit, too. */
    return __builtin_expect((int64_t)start > 0 && end - start < ACCOUNTS_LIMIT, true);
}

/* As account_kernel(), of a symbol that is not in this slot, or that has to be compared. */
void account_unsure_kernel(struct account *account, const char *name, struct symbol *symbol, uint64_t ns);

/* Adds the kernels whose symbols have to be compared. To be called when all of a buffer is read. */
void accounts_compare(void);

/* Adds a kernel with this symbol, which may be NULL. */
static inline void account_kernel(struct account *account, const char *name, uint64_t start, uint64_t end) {
    struct symbol *symbol = symbols_first(name);
    if (__builtin_expect(symbols_is_sure(symbol, name), true))
        kernels_add(&account->kernels, symbol->number, end - start);
    else account_unsure_kernel(account, name, symbol, end - start);
    durations_add(&account->durations, end - start);
    busy_add(&account->busy, start, end);
}

/* Adds a launch of a graph to its cell of `account->graphs`. */
static inline void account_graph(struct account *account, uint32_t cell, uint64_t start, uint64_t end) {
    segment_add(cell, end - start, 1);
    busy_add(&account->busy, start, end);
}

/* Add a copy or a set of memory. */
void account_copy(struct account *account, uint32_t kind, uint64_t bytes, uint64_t start, uint64_t end);
void account_set(struct account *account, uint32_t kind, uint64_t bytes, uint64_t start, uint64_t end);

/* Adds `count` waits of the host for the device. */
void account_wait(struct account *account, uint32_t kind, uint64_t ns, uint64_t count);

/* The reason for a publication. */
struct accounts_publication {
    bool answer; /* a reader asked for it: histograms change */
    bool taken;  /* the reader has taken the answer before it */
};

/* Puts everything into the segment, before its publication. `dropped`: records that the source dropped. */
void accounts_show(struct accounts *accounts, uint64_t dropped, struct accounts_publication publication);

#endif
