/* Symbols: the lookup of a name that was not just seen. */
#include "symbols.h"

#include <stddef.h>
#include <string.h>

#include "../segment/segment.h"
#include "overhead.h"

/* At most three quarters are used: three times the frames of a segment, as most addresses beyond those share
 * the frame "(other)". */
#define SLOTS (1u << SYMBOLS_BITS)
#define MOST (SLOTS / 4 * 3)

/* Bytes of a text that every round compares, and of all texts that a round compares to their ends. */
#define BEGINNING 64u
#define BUDGET (16u << 10)
/* At least this often a round has no budget. */
#define THOROUGH_NS 100000000u

_Static_assert(SEGMENT_SERIES < SYMBOLS_SERIES, "a mark is of one series");

struct symbol symbols[SLOTS];
uint32_t symbols_round = SYMBOLS_SERIES;

/* Of each symbol: what only a comparison needs. */
static struct {
    uint32_t series;
    uint32_t text; /* name in the segment; 0: it had no room for it */
} origins[SLOTS];
static uint32_t count;
static size_t budget; /* bytes left in this round */

void symbols_begin_round(void) {
    static uint64_t thorough_ns;
    uint64_t now_ns = monotonic_ns();
    bool thorough = now_ns - thorough_ns >= THOROUGH_NS;
    if (thorough) thorough_ns = now_ns;
    budget = thorough ? SIZE_MAX : BUDGET;
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

/* Whether the text at the address is this one, as far as the budget allows. */
static bool is_same(const char *name, uint32_t text) {
    size_t length;
    if (text == 0) return budget <= BUDGET;
    const char *known = segment_text(text, &length);
    if (length > BEGINNING && length > budget) return strncmp(known, name, BEGINNING) == 0;
    budget -= length < budget ? length : budget;
    if (length > SEGMENT_WHOLE_LENGTH) return segment_name(name, strlen(name)) == text;
    return strncmp(known, name, length) == 0 && name[length] == '\0';
}

static void forget_all(void) {
    memset(symbols, 0, sizeof symbols);
    count = 0;
}

static __attribute__((noinline)) uint32_t remember(const char *name, uint32_t series) {
    if (count == MOST) forget_all();
    uint32_t slot = find(name, series, symbols_slot(name, series));
    if (!symbols[slot].name) count++;
    uint32_t text = segment_name(name, strlen(name)), cell = segment_cell(series, text);
    if (cell == SEGMENT_NONE) cell = SEGMENT_CELLS;
    segment_touch(cell);
    symbols[slot] = (struct symbol){name, symbols_mark(series), cell};
    origins[slot].series = series;
    origins[slot].text = text;
    return cell;
}

uint32_t symbols_find(const char *name, uint32_t series, uint32_t slot) {
    if (!name) return symbols_cell("", series);
    slot = find(name, series, slot);
    struct symbol *symbol = &symbols[slot];
    if (!symbol->name) return remember(name, series);
    if (symbol->mark == symbols_mark(series)) return symbol->cell;
    if (!is_same(name, origins[slot].text)) return remember(name, series);
    symbol->mark = symbols_mark(series);
    segment_touch(symbol->cell);
    return symbol->cell;
}
