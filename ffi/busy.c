#include "busy.h"

#include <string.h>

/* All of a process is settled by one thread. */
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

static void forget_oldest(struct busy *busy) {
    uint32_t half = BUSY_HISTORY / 2;
    busy->horizon = busy->history[half - 1].end;
    busy->count -= half;
    memmove(busy->history, busy->history + half, busy->count * sizeof busy->history[0]);
}

/* The first interval in history that ends at `time` or later. */
static uint32_t first_near(const struct busy *busy, uint64_t time) {
    uint32_t low = 0, high = busy->count;
    if (high > 0 && busy->history[high - 1].end < time) return high;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (busy->history[middle].end < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Appends to history, which is in order and may touch its last one. */
static void append(struct busy *busy, struct busy_interval interval) {
    if (busy->count > 0) {
        struct busy_interval *last = &busy->history[busy->count - 1];
        if (interval.start <= last->end) {
            if (interval.end <= last->end) return;
            busy->covered += interval.end - last->end;
            last->end = interval.end;
            return;
        }
    }
    busy->covered += interval.end - interval.start;
    busy->history[busy->count++] = interval;
}

/* Takes the end of history out, and puts it back together with the batch: the union of both. */
static void merge(struct busy *busy) {
    uint32_t first = first_near(busy, busy->batch[0].start), tail = busy->count - first, t = 0;
    memcpy(scratch, busy->history + first, tail * sizeof scratch[0]);
    for (uint32_t i = 0; i < tail; i++) busy->covered -= scratch[i].end - scratch[i].start;
    busy->count = first;
    for (uint32_t b = 0; b < busy->collected || t < tail;) {
        bool old = b == busy->collected || (t < tail && scratch[t].start <= busy->batch[b].start);
        append(busy, old ? scratch[t++] : busy->batch[b++]);
    }
}

static void clip(struct busy *busy) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < busy->collected; i++) {
        struct busy_interval interval = busy->batch[i];
        if (interval.end <= busy->horizon) continue;
        if (interval.start < busy->horizon) interval.start = busy->horizon;
        busy->batch[kept++] = interval;
    }
    busy->collected = kept;
}

void busy_settle(struct busy *busy) {
    if (busy->collected == 0) return;
    if (busy->unsorted) sort(busy->batch, busy->collected);
    if (busy->count + busy->collected > BUSY_HISTORY) forget_oldest(busy);
    if (busy->batch[0].start < busy->horizon) clip(busy);
    if (busy->collected > 0) merge(busy);
    busy->collected = 0;
    busy->unsorted = false;
}
