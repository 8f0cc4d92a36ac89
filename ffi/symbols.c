#include "symbols.h"

#include <stddef.h>
#include <string.h>

#include "segment.h"

/* A power of two; at most three quarters are used. */
#define SLOTS (1u << 14)
#define TEXT (1u << 20)
#define UNNAMED "(unnamed)"

struct symbol {
    const char *name; /* the driver's; NULL: a free slot */
    const char *text; /* our copy */
    uint32_t series;
    uint32_t cell;
    uint32_t seen; /* when both were compared */
};

static struct symbol symbols[SLOTS];
static uint32_t count;
static char texts[TEXT];
static size_t used;
static uint32_t now = 1;

void symbols_doubt(void) { now++; }

static uint32_t cell_of(const char *name, size_t length, uint32_t series) {
    return segment_cell(series, segment_name(name, length));
}

static struct symbol *find(const char *name, uint32_t series) {
    uint64_t key = (uint64_t)(uintptr_t)name + ((uint64_t)series << 48);
    uint32_t slot = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 50);
    while (symbols[slot].name && (symbols[slot].name != name || symbols[slot].series != series))
        slot = (slot + 1) % SLOTS;
    return &symbols[slot];
}

static void forget_all(void) {
    memset(symbols, 0, sizeof symbols);
    count = 0;
    used = 0;
}

static uint32_t remember(const char *name, uint32_t series) {
    size_t length = strlen(name);
    uint32_t cell = cell_of(name, length, series);
    if (length >= TEXT / 16) return cell;
    if (count == SLOTS / 4 * 3 || length >= TEXT - used) forget_all();
    struct symbol *symbol = find(name, series);
    if (!symbol->name) count++;
    memcpy(texts + used, name, length + 1);
    *symbol = (struct symbol){name, texts + used, series, cell, now};
    used += length + 1;
    return cell;
}

uint32_t symbols_cell(const char *name, uint32_t series) {
    if (!name) name = UNNAMED;
    struct symbol *symbol = find(name, series);
    if (symbol->seen == now && symbol->name) return symbol->cell;
    if (!symbol->name || strcmp(symbol->text, name) != 0) return remember(name, series);
    symbol->seen = now;
    return symbol->cell;
}
