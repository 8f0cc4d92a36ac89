/* Symbols of kernels and their cells, by the address of the name: the text is hashed and looked up in the
 * segment, which keeps it for all devices, once and not with every record.
 *
 * The driver may reuse the address for another name once a module is unloaded. So the text in the segment is
 * compared with the text at the address once for every buffer: the beginnings of all, and as many to their
 * ends as cost little. Several times a second all are compared to their ends. */
#ifndef SERVICE_SYMBOLS_H
#define SERVICE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#define SYMBOLS_BITS 16u
/* Twice the number of series, so that marks are unique, also that of SEGMENT_NONE. */
#define SYMBOLS_SERIES 2048u

/* A name, and when it was last compared with its text. */
struct symbol {
    const char *name; /* the driver's address; NULL: a free slot */
    uint32_t mark;    /* the round of the last comparison, plus the series */
    uint32_t cell;
};

extern struct symbol symbols[1u << SYMBOLS_BITS];
extern uint32_t symbols_round; /* a multiple of SYMBOLS_SERIES; never 0 */

/* Begins a round: each name is compared once more before its cell is used. For every buffer. */
void symbols_begin_round(void);

/* symbols_cell() of a name that was not compared in this round, or is not in its first slot. */
uint32_t symbols_find(const char *name, uint32_t series, uint32_t slot);

static inline uint32_t symbols_slot(const char *name, uint32_t series) {
    return (uint32_t)(((uintptr_t)name + series) * 0x9e3779b97f4a7c15u >> (64 - SYMBOLS_BITS));
}

static inline uint32_t symbols_mark(uint32_t series) { return symbols_round + series; }

/* The cell of the frame with this name, which may be NULL; touched in this round. SEGMENT_CELLS: none. */
static inline uint32_t symbols_cell(const char *name, uint32_t series) {
    uint32_t slot = symbols_slot(name, series);
    const struct symbol *symbol = &symbols[slot];
    if (__builtin_expect(symbol->name == name && symbol->mark == symbols_mark(series), true))
        return symbol->cell;
    return symbols_find(name, series, slot);
}

#endif
