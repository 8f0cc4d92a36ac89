/* Busy time: merges the intervals that come out of order, in batches. Their order is random for the processor,
 * so neither the sort nor the union has a branch that depends on it. */
#include "busy.h"

#include <string.h>

#include "../segment/segment.h"

#define DIGIT_BITS 8u
#define DIGITS (1u << DIGIT_BITS)

/* One for all devices: one thread settles them. */
static struct busy_interval scratch[BUSY_HISTORY];

static uint64_t least_start(const struct busy_interval *batch, uint32_t count) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) least = batch[i].start < least ? batch[i].start : least;
    return least;
}

static uint64_t greatest_start(const struct busy_interval *batch, uint32_t count) {
    uint64_t greatest = 0;
    for (uint32_t i = 0; i < count; i++) greatest = batch[i].start > greatest ? batch[i].start : greatest;
    return greatest;
}

/* Sorts by one digit of the start; equal digits keep their order. */
static void sort_by_digit(const struct busy_interval *from, struct busy_interval *to, uint32_t count,
                          uint64_t least, uint32_t shift) {
    uint32_t places[DIGITS] = {0}, place = 0;
    for (uint32_t i = 0; i < count; i++) places[(from[i].start - least) >> shift & (DIGITS - 1)]++;
    for (uint32_t digit = 0; digit < DIGITS; digit++) {
        uint32_t here = places[digit];
        places[digit] = place;
        place += here;
    }
    for (uint32_t i = 0; i < count; i++) to[places[(from[i].start - least) >> shift & (DIGITS - 1)]++] = from[i];
}

static void sort(struct busy_interval *batch, uint32_t count) {
    uint64_t least = least_start(batch, count), range = greatest_start(batch, count) - least;
    struct busy_interval *from = batch, *to = scratch;
    for (uint32_t shift = 0; shift < 64 && range >> shift != 0; shift += DIGIT_BITS) {
        sort_by_digit(from, to, count, least, shift);
        struct busy_interval *swap = from;
        from = to;
        to = swap;
    }
    if (from != batch) memcpy(batch, from, count * sizeof *batch);
}

/* ---- The union ---- */

static uint32_t count_of(const struct busy *busy) { return (busy->last - busy->before) % BUSY_HISTORY; }

static void forget_oldest(struct busy *busy) {
    uint32_t count = count_of(busy);
    if (count <= BUSY_KEPT) return;
    busy->before += count - BUSY_KEPT;
    busy->horizon = busy->history[busy->before % BUSY_HISTORY].end;
}

/* An interval of history; the oldest has index 0. */
static const struct busy_interval *at(const struct busy *busy, uint32_t index) {
    return &busy->history[(busy->before + 1 + index) % BUSY_HISTORY];
}

/* The first interval in history that ends at `time` or later. */
static uint32_t first_near(const struct busy *busy, uint64_t time) {
    uint32_t low = 0, high = count_of(busy);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (at(busy, middle)->end < time) low = middle + 1;
        else high = middle;
    }
    return low;
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

/* Adds an interval to a union in history that ends at `last`; it starts no earlier than the last one there.
 * Returns the index of the new end. */
static inline uint32_t unite(struct busy_interval *history, uint32_t last, struct busy_interval next) {
    struct busy_interval before = history[last];
    bool apart = next.start > before.end;
    last = (last + apart) % BUSY_HISTORY;
    history[last].start = apart ? next.start : before.start;
    history[last].end = next.end > before.end ? next.end : before.end;
    return last;
}

/* Puts back the union of the end of history and the batch. The first of them is apart from what is left. */
static void merge(struct busy *busy) {
    uint32_t taken = take_end(busy, first_near(busy, busy->batch[0].start)), first, last;
    const struct busy_interval *a = scratch, *a_end = a + taken;
    const struct busy_interval *b = busy->batch, *b_end = b + busy->collected;
    first = last = (busy->last + 1) % BUSY_HISTORY;
    busy->history[first] = taken > 0 && a->start <= b->start ? *a : *b;
    while (a < a_end && b < b_end) {
        bool old = a->start <= b->start;
        last = unite(busy->history, last, *(old ? a : b));
        a += old;
        b += !old;
    }
    while (a < a_end) last = unite(busy->history, last, *a++);
    while (b < b_end) last = unite(busy->history, last, *b++);
    busy->last = last;
    for (uint32_t i = first; i != (last + 1) % BUSY_HISTORY; i = (i + 1) % BUSY_HISTORY)
        busy->covered += busy->history[i].end - busy->history[i].start;
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
