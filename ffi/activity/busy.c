/* Busy time: merges the intervals that come out of order, in batches. */
#include "busy.h"

#include <string.h>

#include "../segment/segment.h"

/* One for all devices: one thread settles them. */
static struct busy_interval scratch[BUSY_HISTORY + BUSY_BATCH];

static uint32_t run_end(const struct busy_interval *from, uint32_t at, uint32_t count) {
    if (at >= count) return count;
    for (at++; at < count && from[at - 1].start <= from[at].start;) at++;
    return at;
}

/* Merges each two neighbouring runs. Returns whether there was one run only. */
static bool merge_runs(const struct busy_interval *from, struct busy_interval *to, uint32_t count) {
    uint32_t out = 0;
    for (uint32_t left = 0, right, end; left < count; left = end) {
        right = run_end(from, left, count);
        end = run_end(from, right, count);
        if (left == 0 && right == count) return true;
        for (uint32_t i = left, k = right; i < right || k < end;) {
            bool first = k == end || (i < right && from[i].start <= from[k].start);
            to[out++] = first ? from[i++] : from[k++];
        }
    }
    return false;
}

static void sort(struct busy_interval *batch, uint32_t count) {
    struct busy_interval *from = batch, *to = scratch;
    while (!merge_runs(from, to, count)) {
        struct busy_interval *swap = from;
        from = to;
        to = swap;
    }
    if (from != batch) memcpy(batch, from, count * sizeof *batch);
}

static uint32_t count_of(const struct busy *busy) { return (busy->last - busy->before) % BUSY_HISTORY; }

/* An interval of history; the oldest has index 0. */
static struct busy_interval *at(struct busy *busy, uint32_t index) {
    return &busy->history[(busy->before + 1 + index) % BUSY_HISTORY];
}

static void forget_oldest(struct busy *busy) {
    uint32_t count = count_of(busy);
    if (count <= BUSY_KEPT) return;
    busy->before += count - BUSY_KEPT;
    busy->horizon = busy->history[busy->before % BUSY_HISTORY].end;
}

/* The first interval in history that ends at `time` or later. */
static uint32_t first_near(struct busy *busy, uint64_t time) {
    uint32_t low = 0, high = count_of(busy);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (at(busy, middle)->end < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Appends an interval to history that starts no earlier than the last one. */
static void append(struct busy *busy, struct busy_interval interval) {
    struct busy_interval *last = &busy->history[busy->last];
    if (count_of(busy) == 0 || interval.start > last->end) {
        busy->covered += interval.end - interval.start;
        busy->last = (busy->last + 1) % BUSY_HISTORY;
        busy->history[busy->last] = interval;
    } else if (interval.end > last->end) {
        busy->covered += interval.end - last->end;
        last->end = interval.end;
    }
}

/* Moves the end of history into scratch. */
static uint32_t take_end(struct busy *busy, uint32_t from) {
    uint32_t taken = count_of(busy) - from;
    for (uint32_t i = 0; i < taken; i++) {
        scratch[i] = *at(busy, from + i);
        busy->covered -= scratch[i].end - scratch[i].start;
    }
    busy->last = (busy->last - taken) % BUSY_HISTORY;
    return taken;
}

/* Puts back the union of the end of history and the batch. */
static void merge(struct busy *busy) {
    uint32_t taken = take_end(busy, first_near(busy, busy->batch[0].start)), t = 0;
    for (uint32_t b = 0; b < busy->collected || t < taken;) {
        bool old = b == busy->collected || (t < taken && scratch[t].start <= busy->batch[b].start);
        append(busy, old ? scratch[t++] : busy->batch[b++]);
    }
}

static void clip(struct busy *busy) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < busy->collected; i++) {
        struct busy_interval interval = busy->batch[i];
        uint64_t known = interval.end < busy->horizon ? interval.end : busy->horizon;
        if (interval.start < known) {
            segment_add_to(&busy->late, known - interval.start);
            interval.start = known;
        }
        if (interval.start < interval.end) busy->batch[kept++] = interval;
    }
    busy->collected = kept;
}

void busy_settle(struct busy *busy) {
    if (busy->unsorted) sort(busy->batch, busy->collected);
    if (busy->collected > 0 && busy->batch[0].start < busy->horizon) clip(busy);
    if (busy->collected > 0) merge(busy);
    busy->collected = 0;
    busy->unsorted = false;
    forget_oldest(busy);
}

void busy_add_late(struct busy *busy, uint64_t start, uint64_t end) {
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
