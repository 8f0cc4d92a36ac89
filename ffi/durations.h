/* A histogram of durations, in the bins of core/bins.ts, counted in private and shown when asked. */
#ifndef SERVICE_DURATIONS_H
#define SERVICE_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Index 0 is zero; from 1 on eight an octave. */
#define DURATIONS_FIRST_BIN (1023u << 3)
#define DURATIONS_BINS (1u + (65u << 3))

struct durations_extremes {
    uint64_t least, greatest;
};

struct durations {
    uint32_t series;
    uint32_t sum_cell, extremes_cell;
    uint32_t cells[DURATIONS_BINS]; /* made when first hit */
    uint64_t counts[DURATIONS_BINS];
    uint64_t sum, count;
    struct durations_extremes fresh; /* since the last answer */
    struct durations_extremes kept;  /* between the last answer that was taken, and the last one */
};

void durations_open(struct durations *durations, uint32_t series);

static inline void durations_add(struct durations *durations, uint64_t ns) {
    double value = (double)ns;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    durations->counts[ns == 0 ? 0 : (bits >> 49) - DURATIONS_FIRST_BIN + 1]++;
    durations->sum += ns;
    durations->count++;
    if (ns < durations->fresh.least) durations->fresh.least = ns;
    if (ns > durations->fresh.greatest) durations->fresh.greatest = ns;
}

/* Puts everything into the segment, for an answer; `taken`: whether the reader has taken the last one. */
void durations_show(struct durations *durations, bool taken);

#endif
