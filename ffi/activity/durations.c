/* Durations: moves the private counts into the segment when an answer is due. */
#include "durations.h"

#include <string.h>

#include "../segment/segment.h"

static const struct durations_extremes NOTHING = {UINT64_MAX, 0};

void durations_open(struct durations *durations, uint32_t series) {
    memset(durations, 0, sizeof *durations);
    memset(durations->cells, 0xff, sizeof durations->cells); /* SEGMENT_NONE */
    durations->series = series;
    durations->sum_cell = segment_cell(series, SEGMENT_SUM);
    durations->extremes_cell = segment_cell(series, SEGMENT_EXTREMES);
    durations->fresh = durations->kept = NOTHING;
    durations_show(durations, true);
}

static void show_bin(struct durations *durations, uint32_t bin) {
    uint32_t *cell = &durations->cells[bin];
    uint64_t count = durations->counts[bin];
    if (count == 0) return;
    if (*cell == SEGMENT_NONE)
        *cell = segment_cell(durations->series, bin == 0 ? 0 : DURATIONS_FIRST_BIN + bin - DURATIONS_OCTAVE);
    if (*cell != SEGMENT_NONE && segment_values[*cell].a != count) segment_set(*cell, count, 0);
}

void durations_show(struct durations *durations, bool taken) {
    struct durations_extremes *kept = &durations->kept, *fresh = &durations->fresh;
    if (taken) *kept = NOTHING;
    if (fresh->least < kept->least) kept->least = fresh->least;
    if (fresh->greatest > kept->greatest) kept->greatest = fresh->greatest;
    *fresh = NOTHING;
    uint64_t count = 0;
    for (uint32_t bin = 0; bin < DURATIONS_BINS; bin++) {
        show_bin(durations, bin);
        count += durations->counts[bin];
    }
    segment_set(durations->sum_cell, durations->sum, count);
    segment_set(durations->extremes_cell, kept->least, kept->greatest);
}
