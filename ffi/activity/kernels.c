/* Kernels: moves the private sums into the cells of the segment. */
#include "kernels.h"

static uint32_t *cell_of(struct kernels *kernels, uint32_t symbol) {
    while (kernels->known <= symbol) kernels->cells[kernels->known++] = SEGMENT_NONE;
    return &kernels->cells[symbol];
}

void kernels_show(struct kernels *kernels) {
    for (uint32_t symbol = 0; symbol < symbols_count; symbol++) {
        struct kernels_sum *sum = &kernels->sums[symbol];
        if (sum->count == 0) continue;
        uint32_t *cell = cell_of(kernels, symbol);
        if (*cell == SEGMENT_NONE) *cell = segment_cell(kernels->profile, symbols_text(symbol));
        segment_add(*cell, sum->ns, sum->count);
        *sum = (struct kernels_sum){0, 0};
    }
}

void kernels_forget_symbols(struct kernels *kernels) {
    kernels_show(kernels);
    kernels->known = 0;
}
