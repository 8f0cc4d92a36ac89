/* Test of durations.c: bins are those of core/bins.ts, extremes those between two taken answers. */
#include "durations.h"

#include <stddef.h>
#include <string.h>

#include "../segment/segment.h"
#include "../testdata/check.h"

static struct durations durations;

static struct segment_value extremes(void) { return segment_values[durations.extremes_cell]; }

static void count_in_bins(void) {
    uint64_t state = 7, sum = 0, counted = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        uint64_t ns = (((uint64_t)random_below(&state, 1u << 31) << 33) + i) >> (3 + random_below(&state, 61));
        durations_add(&durations, ns);
        segment_add_to(&sum, ns);
        double value = (double)ns;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        uint32_t cell = segment_cell(durations.series, (uint32_t)(bits >> 49));
        uint64_t before = segment_values[cell].a;
        durations_show(&durations, true);
        CHECK(segment_values[cell].a == before + 1);
    }
    CHECK(segment_values[durations.sum_cell].a == sum && segment_values[durations.sum_cell].b == 100000);
    for (uint32_t bin = 0; bin < DURATIONS_BINS; bin++) counted += durations.counts[bin];
    CHECK(counted == 100000);
    durations_show(&durations, true);
    durations_show(&durations, true);
}

static void find_extremes(void) {
    CHECK(extremes().a > extremes().b);
    durations_add(&durations, 5);
    durations_add(&durations, 9);
    CHECK(extremes().a > extremes().b);
    durations_show(&durations, true);
    CHECK(extremes().a == 5 && extremes().b == 9);
    /* The reader did not take that answer, so the next one has its extremes, too. */
    durations_add(&durations, 7);
    durations_show(&durations, false);
    CHECK(extremes().a == 5 && extremes().b == 9);
    durations_add(&durations, 6);
    durations_show(&durations, true);
    CHECK(extremes().a == 6 && extremes().b == 6);
}

int main(int count, char **words) {
    CHECK(count == 2 && segment_open(words[1]) == 0);
    durations_open(&durations, segment_series("durations", SEGMENT_HISTOGRAM, NULL));
    count_in_bins();
    find_extremes();
    return 0;
}
