/* Symbols: the lookup of a name that was not just seen. */
#include "symbols.h"

#include <stddef.h>
#include <string.h>

#include "../segment/segment.h"

/* At most three quarters are used. */
#define SLOTS (1u << SYMBOLS_BITS)
#define TEXT (1u << 20)

_Static_assert(SEGMENT_SERIES < SYMBOLS_SERIES, "a mark is of one series");

struct symbol symbols[SLOTS];
uint32_t symbols_round = SYMBOLS_SERIES;

/* Of each symbol: what only a comparison needs. */
static struct {
    uint32_t series;
    uint32_t text; /* offset of our copy in `texts` */
} origins[SLOTS];
static uint32_t count;
static char texts[TEXT];
static uint32_t used;

void symbols_begin_round(void) {
    symbols_round += SYMBOLS_SERIES;
    if (symbols_round != 0) return;
    for (uint32_t slot = 0; slot < SLOTS; slot++) symbols[slot].mark = 0;
    symbols_round = SYMBOLS_SERIES;
}

static uint32_t find(const char *name, uint32_t series, uint32_t slot) {
    while (symbols[slot].name && (symbols[slot].name != name || origins[slot].series != series))
        slot = (slot + 1) % SLOTS;
    return slot;
}

static void forget_all(void) {
    memset(symbols, 0, sizeof symbols);
    count = 0;
    used = 0;
}

static __attribute__((noinline)) uint32_t remember(const char *name, uint32_t series) {
    size_t length = strlen(name);
    uint32_t cell = segment_cell(series, segment_name(name, length));
    if (cell == SEGMENT_NONE) cell = SEGMENT_CELLS;
    segment_touch(cell);
    if (length >= TEXT / 16) return cell;
    if (count == SLOTS / 4 * 3 || length >= TEXT - used) forget_all();
    uint32_t slot = find(name, series, symbols_slot(name, series));
    if (!symbols[slot].name) count++;
    memcpy(texts + used, name, length + 1);
    symbols[slot] = (struct symbol){name, symbols_mark(series), cell};
    origins[slot].series = series;
    origins[slot].text = used;
    used += (uint32_t)length + 1;
    return cell;
}

uint32_t symbols_find(const char *name, uint32_t series, uint32_t slot) {
    if (!name) return symbols_cell("", series);
    slot = find(name, series, slot);
    struct symbol *symbol = &symbols[slot];
    if (!symbol->name) return remember(name, series);
    if (symbol->mark == symbols_mark(series)) return symbol->cell;
    if (strcmp(texts + origins[slot].text, name) != 0) return remember(name, series);
    symbol->mark = symbols_mark(series);
    segment_touch(symbol->cell);
    return symbol->cell;
}
