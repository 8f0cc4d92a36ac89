/* Test of busy.c: its unions of intervals equal those computed by sorting. */
#include "busy.h"

#include <string.h>

#include "../testdata/check.h"

#define TIMES 20000u

static struct busy busy;
static struct busy_interval all[TIMES];

static int by_start(const void *a, const void *b) {
    uint64_t x = ((const struct busy_interval *)a)->start, y = ((const struct busy_interval *)b)->start;
    return x < y ? -1 : x > y;
}

static uint64_t plain_union(uint32_t count) {
    qsort(all, count, sizeof all[0], by_start);
    uint64_t covered = 0, until = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t start = all[i].start > until ? all[i].start : until;
        if (all[i].end > start) covered += all[i].end - start;
        if (all[i].end > until) until = all[i].end;
    }
    return covered;
}

/* `spread`: how far out of order intervals come; `longest`: their length, with gaps of 100. */
static void compare(uint64_t seed, uint32_t count, uint32_t spread, uint32_t longest) {
    memset(&busy, 0, sizeof busy);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t start = 1000000 + 100 * (uint64_t)i + random_below(&seed, spread) - spread / 2;
        all[i] = (struct busy_interval){start, start + random_below(&seed, longest)};
        busy_add(&busy, all[i].start, all[i].end);
        if (random_below(&seed, 1000) == 0) busy_settle(&busy);
    }
    busy_settle(&busy);
    CHECK(busy.covered == plain_union(count) && busy.late == 0);
}

/* The part of a late interval after the horizon counts, and nothing counts twice. */
static void forget(void) {
    memset(&busy, 0, sizeof busy);
    for (uint64_t i = 1; i <= 2 * BUSY_HISTORY; i++) busy_add(&busy, 10 * i, 10 * i + 5);
    busy_settle(&busy);
    CHECK(busy.covered == 2 * BUSY_HISTORY * 5);
    busy_add(&busy, 10, 20 * BUSY_HISTORY + 5);
    busy_settle(&busy);
    CHECK(busy.covered > 2 * BUSY_HISTORY * 5 && busy.covered < 20 * BUSY_HISTORY);
    CHECK(busy.late == busy.horizon - 10);
    uint64_t covered = busy.covered;
    for (uint64_t i = 1; i <= 2 * BUSY_HISTORY; i++) busy_add(&busy, 10 * i, 10 * i + 5);
    busy_settle(&busy);
    CHECK(busy.covered == covered);
}

int main(void) {
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint64_t state = seed;
        uint32_t count = 1 + random_below(&state, TIMES);
        compare(seed, count, 1, 100);
        compare(seed, count, 1 + random_below(&state, 50000), 1 + random_below(&state, 1000));
        compare(seed, 1 + count % 2000, 1000000, 1 + random_below(&state, 500));
    }
    forget();
    return 0;
}
