/* How long a device did something: the exact length of the union of intervals, which may overlap and
 * come in any order. */
#ifndef SERVICE_BUSY_H
#define SERVICE_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUSY_BATCH 512u
/* Intervals remembered. What is older than them all counts no more: it may have been counted. */
#define BUSY_HISTORY 4096u

struct busy_interval {
    uint64_t start, end;
};

/* All zeros: nothing yet. */
struct busy {
    uint64_t covered;  /* ns, of what was settled */
    uint64_t horizon;  /* before it everything is forgotten */
    uint32_t collected;
    bool unsorted;
    uint32_t count;
    struct busy_interval batch[BUSY_BATCH];
    struct busy_interval history[BUSY_HISTORY]; /* disjoint, in order */
};

/* Merges what was collected. */
void busy_settle(struct busy *busy);

/* Collects an interval; start <= end. */
static inline void busy_add(struct busy *busy, uint64_t start, uint64_t end) {
    if (busy->collected > 0) {
        struct busy_interval *last = &busy->batch[busy->collected - 1];
        if (start >= last->start && start <= last->end) {
            if (end > last->end) last->end = end;
            return;
        }
        if (start < last->start) busy->unsorted = true;
        if (busy->collected == BUSY_BATCH) busy_settle(busy);
    }
    busy->batch[busy->collected++] = (struct busy_interval){start, end};
}

#endif
