/* What devices did, added up in cells of the segment: an account for each device, in metrics whose names
 * begin with the source's prefix. All of it is for the collector's thread alone. */
#ifndef SERVICE_ACCOUNTS_H
#define SERVICE_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../segment/segment.h"
#include "busy.h"
#include "durations.h"
#include "source.h"
#include "symbols.h"

#define ACCOUNTS_DEVICES 64u
#define ACCOUNTS_KINDS 16u

/* Copies or sets: their time and their bytes by kind. Cells are made when first needed. */
struct account_traffic {
    struct activity_kinds kinds;
    const char *bytes_metric; /* without the prefix */
    uint32_t profile;
    uint32_t time_cells[ACCOUNTS_KINDS];
    uint32_t byte_cells[ACCOUNTS_KINDS];
};

/* One device. */
struct account {
    const struct activity_source *source;
    const char *uuid;
    uint32_t kernels, graphs, waits; /* profiles */
    uint32_t busy_cell, late_cell;
    uint32_t wait_cells[ACCOUNTS_KINDS];
    struct account_traffic copies, sets;
    struct durations durations; /* of kernels */
    struct busy busy;
};

/* All devices of one source. */
struct accounts {
    const struct activity_source *source;
    struct account *devices[ACCOUNTS_DEVICES]; /* by ordinal; NULL: nothing was recorded of it */
    uint64_t invalid, dropped;                 /* records */
    uint32_t invalid_cell, dropped_cell;
};

/* The one cell of a series of the process, whose name begins with the source's prefix. */
uint32_t accounts_cell(const struct accounts *accounts, const char *metric, uint32_t type);

/* Begins, with the series that do not depend on a device. */
void accounts_open(struct accounts *accounts, const struct activity_source *source);

/* Makes the account of a device, whose uuid stays where it is; NULL is that of no device. Returns NULL where
 * there can be none: its record is dropped. */
struct account *accounts_add_device(struct accounts *accounts, uint32_t ordinal, const char *uuid);

/* Whether a record's times are valid. To be asked before they are added; if not the record is `invalid`. */
static inline bool account_can_have(uint64_t start, uint64_t end) {
    return __builtin_expect(start != 0 && end >= start, true);
}

/* A kernel of this symbol, which may be NULL, ran. */
static inline void account_kernel(struct account *account, const char *symbol, uint64_t start, uint64_t end) {
    segment_add_touched(symbols_cell(symbol, account->kernels), end - start, 1);
    durations_add(&account->durations, end - start);
    busy_add(&account->busy, start, end);
}

/* A graph ran, whose launches are counted in a cell of `account->graphs`. */
static inline void account_graph(struct account *account, uint32_t cell, uint64_t start, uint64_t end) {
    segment_add(cell, end - start, 1);
    busy_add(&account->busy, start, end);
}

/* Memory was copied or set. */
void account_copy(struct account *account, uint32_t kind, uint64_t bytes, uint64_t start, uint64_t end);
void account_set(struct account *account, uint32_t kind, uint64_t bytes, uint64_t start, uint64_t end);

/* The host waited for the device, `count` times. */
void account_wait(struct account *account, uint32_t kind, uint64_t ns, uint64_t count);

/* What a publication is. */
struct accounts_publication {
    bool answer; /* somebody has asked for it: histograms change */
    bool taken;  /* the reader has taken the answer before it */
};

/* Puts everything into the segment, before its publication. `dropped`: by the source, beside those here. */
void accounts_show(struct accounts *accounts, uint64_t dropped, struct accounts_publication publication);

#endif
