/* Busy time of a device: the exact length of the union of intervals, which may overlap and come in any
 * order. */
#ifndef SERVICE_BUSY_H
#define SERVICE_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Intervals out of order that are merged at once. */
#define BUSY_BATCH 2048u
/* A power of two. Older times than these may have been counted already: they go to `late`. */
#define BUSY_HISTORY 8192u
/* Intervals that each settlement keeps in history. */
#define BUSY_KEPT (BUSY_HISTORY - 2 * BUSY_BATCH - 1)

struct busy_interval {
    uint64_t start, end;
};

/* Starts as all zeros. */
struct busy {
    uint64_t covered; /* ns, without the batch */
    uint64_t horizon; /* times before it are forgotten */
    uint64_t late;    /* ns before the horizon that were not counted: `covered` lacks at most these */
    uint32_t collected;
    bool unsorted;
    uint32_t before, last; /* indexes in history: before the oldest, and of the newest */
    struct busy_interval batch[BUSY_BATCH];
    struct busy_interval history[BUSY_HISTORY]; /* disjoint, in order; a ring */
};

/* Merges the batch into history, and forgets the oldest. */
void busy_settle(struct busy *busy);

/* Adds an interval that starts before the last one to the batch. */
static inline void busy_add_late(struct busy *busy, uint64_t start, uint64_t end) {
    uint32_t index = busy->collected++;
    busy->batch[index] = (struct busy_interval){start, end};
    if (index > 0) busy->unsorted |= start < busy->batch[index - 1].start;
    if (__builtin_expect(index == BUSY_BATCH - 1, false)) busy_settle(busy);
}

/* Adds an interval; 0 < start <= end. */
static inline void busy_add(struct busy *busy, uint64_t start, uint64_t end) {
    struct busy_interval *last = &busy->history[busy->last];
    if (start > last->end) {
        busy->last = (busy->last + 1) % BUSY_HISTORY;
        busy->history[busy->last] = (struct busy_interval){start, end};
        busy->covered += end - start;
        if (__builtin_expect(busy->last % BUSY_BATCH == 0, false)) busy_settle(busy);
    } else if (start < last->start) {
        busy_add_late(busy, start, end);
    } else if (end > last->end) {
        busy->covered += end - last->end;
        last->end = end;
    }
}

#endif
