/* Kernels of one device: time and number by symbol, added up in private memory until a publication. */
#ifndef SERVICE_KERNELS_H
#define SERVICE_KERNELS_H

#include <stdint.h>

#include "../segment/segment.h"
#include "symbols.h"

struct kernels_sum {
    uint64_t ns, count;
};

/* Starts as all zeros, but for the profile. */
struct kernels {
    uint32_t profile;
    uint32_t known; /* symbols with an entry in `cells` */
    struct kernels_sum sums[SYMBOLS];
    uint32_t cells[SYMBOLS]; /* made when first needed */
};

/* Adds a kernel by the number of its symbol. */
static inline void kernels_add(struct kernels *kernels, uint32_t symbol, uint64_t ns) {
    struct kernels_sum *sum = &kernels->sums[symbol];
    segment_add_to(&sum->ns, ns);
    sum->count++;
}

/* Puts all sums into the segment, for a publication. */
void kernels_show(struct kernels *kernels);

/* Before symbols_forget(). */
void kernels_forget_symbols(struct kernels *kernels);

#endif
