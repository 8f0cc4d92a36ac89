/* Histogram of durations in the bins of core/bins.ts: counted in private memory, published with answers. */
#ifndef SERVICE_DURATIONS_H
#define SERVICE_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "../segment/segment.h"

/* Bin 0 is for 0 ns. From bin 8 on there are eight to an octave, the first of them for 1 ns. */
#define DURATIONS_OCTAVE 8u
#define DURATIONS_FIRST_BIN (1023u << 3)
#define DURATIONS_BINS (65u * DURATIONS_OCTAVE)

struct durations_extremes {
    uint64_t least, greatest;
};

struct durations {
    uint32_t series;
    uint32_t sum_cell, extremes_cell;
    uint32_t cells[DURATIONS_BINS]; /* made when first hit */
    uint64_t counts[DURATIONS_BINS];
    uint64_t sum;
    struct durations_extremes fresh; /* since the last answer */
    struct durations_extremes kept;  /* of all answers since the last one that the reader took */
};

/* Begins, with an empty histogram in this series. */
void durations_open(struct durations *durations, uint32_t series);

/* The highest bit gives the octave, the three bits below it the part of it. Up to 2^61 ns, 73 years. */
static inline uint32_t durations_bin(uint64_t ns) {
    uint32_t octave = 63 ^ (uint32_t)__builtin_clzll(ns | 1);
    return octave * DURATIONS_OCTAVE + (uint32_t)(ns * DURATIONS_OCTAVE >> octave);
}

static inline void durations_add(struct durations *durations, uint64_t ns) {
    durations->counts[durations_bin(ns)]++;
    segment_add_to(&durations->sum, ns);
    if (ns < durations->fresh.least) durations->fresh.least = ns;
    if (ns > durations->fresh.greatest) durations->fresh.greatest = ns;
}

/* Puts everything into the segment, for an answer; `taken`: the reader has taken the answer before it. */
void durations_show(struct durations *durations, bool taken);

#endif
