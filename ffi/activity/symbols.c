/* Symbols: the lookup of a name that was not just seen. */
#include "symbols.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "../segment/segment.h"
#include "overhead.h"
#include "reserve.h"

/* Slots of the table at first, and at most. At most a quarter of them is used before it grows: nearly every
 * name is in its first slot. */
#define FIRST_BITS 9u
#define LAST_BITS 17u
/* Slots of numbers by text. */
#define TEXT_BITS 15u
#define TEXT_SLOTS (1u << TEXT_BITS)

/* Bytes of a text that every round compares, and of all texts that a round compares to their ends. */
#define BEGINNING 64u
#define BUDGET (16u << 10)
/* At least this often a round has no budget. */
#define THOROUGH_NS 100000000u
/* So long after a module was loaded its names may still be new. */
#define NEW_NS 1000000000u

_Static_assert(SYMBOLS <= TEXT_SLOTS / 2, "numbers are found by the hash of their texts");

static struct symbol first_slots[1u << FIRST_BITS];
static uint32_t bits = FIRST_BITS, used; /* slots */

struct symbol *symbols = first_slots;
uint32_t symbols_mask = (1u << FIRST_BITS) - 1;
uint32_t symbols_round = 1;
uint32_t symbols_count;

static uint32_t texts[SYMBOLS];         /* by number */
static uint32_t text_slots[TEXT_SLOTS]; /* numbers + 1 */
static size_t budget;                   /* bytes left in this round */
static _Atomic uint64_t loaded_ns;      /* 0: the source has not told of a module */

void symbols_module_loaded(void) { atomic_store_explicit(&loaded_ns, monotonic_ns(), memory_order_relaxed); }

void symbols_begin_round(void) {
    static uint64_t thorough_ns;
    uint64_t now_ns = monotonic_ns();
    bool thorough = now_ns - thorough_ns >= THOROUGH_NS;
    uint64_t told_ns = atomic_load_explicit(&loaded_ns, memory_order_relaxed);
    if (!thorough && told_ns != 0 && now_ns - told_ns > NEW_NS) return;
    if (thorough) thorough_ns = now_ns;
    budget = thorough ? SIZE_MAX : BUDGET;
    if (++symbols_round != 0) return;
    for (uint32_t slot = 0; slot < 1u << bits; slot++) symbols[slot].round = 0;
    symbols_round = 1;
}

/* ---- The table ---- */

static size_t size_of(uint32_t table_bits) { return sizeof(struct symbol) << table_bits; }

struct symbol *symbols_search(struct symbol *from, const char *name) {
    while (from->name && from->name != name) from = from == symbols + symbols_mask ? symbols : from + 1;
    return from;
}

static void release(struct symbol *table, uint32_t table_bits) {
    if (table != first_slots) munmap(table, size_of(table_bits));
}

static void use(struct symbol *table, uint32_t table_bits) {
    symbols = table;
    bits = table_bits;
    symbols_mask = (1u << bits) - 1;
}

/* Moves all into a table of twice the size. */
static bool grow(void) {
    struct symbol *before = symbols, *table = bits < LAST_BITS ? reserve(size_of(bits + 1)) : NULL;
    if (!table) return false;
    use(table, bits + 1);
    for (uint32_t slot = 0; slot < 1u << (bits - 1); slot++)
        if (before[slot].name) *symbols_search(symbols_first(before[slot].name), before[slot].name) = before[slot];
    release(before, bits - 1);
    return true;
}

bool symbols_make_room(uint32_t names) {
    while (used + names > 1u << (bits - 2))
        if (!grow()) break;
    return symbols_count + names <= SYMBOLS && used + names <= (1u << bits) / 4 * 3;
}

void symbols_forget(void) {
    release(symbols, bits);
    use(first_slots, FIRST_BITS);
    memset(first_slots, 0, sizeof first_slots);
    memset(text_slots, 0, sizeof text_slots);
    used = symbols_count = 0;
}

/* ---- Comparisons ---- */

uint32_t symbols_text(uint32_t number) { return texts[number]; }

void symbols_expect(const struct symbol *symbol, const char *name) {
    __builtin_prefetch(name);
    __builtin_prefetch(name + BEGINNING - 1);
    if (symbol->name && texts[symbol->number] != 0) segment_expect(texts[symbol->number]);
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

/* The number of the text at the address, which is made if there is none. */
static uint32_t number_of(const char *name) {
    uint32_t text = segment_name(name, strlen(name)), slot = text * 0x9e3779b1u >> (32 - TEXT_BITS);
    for (; text_slots[slot] != 0; slot = (slot + 1) % TEXT_SLOTS)
        if (texts[text_slots[slot] - 1] == text) return text_slots[slot] - 1;
    texts[symbols_count] = text;
    text_slots[slot] = ++symbols_count;
    return symbols_count - 1;
}

uint32_t symbols_compare(struct symbol *found, const char *name) {
    /* Another name may have taken the slot, or a comparison of this one may have come first. */
    struct symbol *symbol = symbols_search(found, name);
    if (symbols_is_sure(symbol, name)) return symbol->number;
    if (!symbol->name || !is_same(name, texts[symbol->number])) {
        used += !symbol->name;
        *symbol = (struct symbol){name, 0, number_of(name)};
    }
    symbol->round = symbols_round;
    return symbol->number;
}
