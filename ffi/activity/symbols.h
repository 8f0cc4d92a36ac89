/* Which cell a kernel's time goes to, found by the address of its name: a text is hashed and looked up
 * in the segment once, not with every record.
 *
 * The driver may put another name at an address once a module is gone. So what is remembered of an
 * address is compared with the text that is there once in every buffer. */
#ifndef SERVICE_SYMBOLS_H
#define SERVICE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#define SYMBOLS_BITS 14u
/* Twice as many as there are series, so that no mark is another's, that of SEGMENT_NONE included. */
#define SYMBOLS_SERIES 2048u

/* A name as it was when it was last compared with its text. */
struct symbol {
    const char *name; /* the driver's; NULL: a free slot */
    uint32_t mark;    /* when it was compared, and its series */
    uint32_t cell;
};

extern struct symbol symbols[1u << SYMBOLS_BITS];
extern uint32_t symbols_now; /* changes in steps of SYMBOLS_SERIES; never 0 */

/* What is remembered needs a look again. */
void symbols_doubt(void);

/* As the last below, of a name that needs a look, or is not in its first slot. */
uint32_t symbols_look(const char *name, uint32_t series, uint32_t slot);

static inline uint32_t symbols_slot(const char *name, uint32_t series) {
    return (uint32_t)(((uintptr_t)name + series) * 0x9e3779b97f4a7c15u >> (64 - SYMBOLS_BITS));
}

static inline uint32_t symbols_mark(uint32_t series) { return symbols_now + series; }

/* The cell of a frame of this name, touched until the next doubt, or SEGMENT_CELLS; `name` may be
 * NULL. */
static inline uint32_t symbols_cell(const char *name, uint32_t series) {
    uint32_t slot = symbols_slot(name, series);
    const struct symbol *symbol = &symbols[slot];
    if (__builtin_expect(symbol->name == name && symbol->mark == symbols_mark(series), true))
        return symbol->cell;
    return symbols_look(name, series, slot);
}

#endif
