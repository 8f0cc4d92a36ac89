/* Symbols of kernels: the number of the text at each address of a name. The segment keeps a text once for all
 * addresses and devices.
 *
 * The driver may reuse the address of a module that was unloaded for a name of another one. So in each round the
 * text in the segment is compared with the text at the address when that comes first: its beginning, and as many
 * texts to their ends as cost little. A round is all that returned at once, if modules were loaded lately or the
 * source does not tell of modules. Else rounds begin several times a second, and compare all texts to their ends. */
#ifndef SERVICE_SYMBOLS_H
#define SERVICE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

/* Limit of the numbers: as many as a segment has cells. */
#define SYMBOLS 16384u

struct symbol {
    const char *name; /* the driver's address; NULL: a free slot */
    uint32_t round;   /* of the last comparison with the text */
    uint32_t number;
};

/* A hash table, and its size less one. */
extern struct symbol *symbols;
extern uint32_t symbols_mask;
extern uint32_t symbols_round; /* never 0 */
extern uint32_t symbols_count; /* numbers in use */

/* A module was loaded: an address may have another name from now on. From any thread. */
void symbols_module_loaded(void);

/* Begins a round, if names may have changed. To be called before records that may have been made after the last
 * round began. */
void symbols_begin_round(void);

/* Makes room for so many further names; slots move. Returns false if there is none until symbols_forget(). */
bool symbols_make_room(uint32_t names);

/* Forgets all numbers. */
void symbols_forget(void);

/* The slot where the search for a name begins. */
static inline struct symbol *symbols_first(const char *name) {
    uint64_t hash = (uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u;
    /* Addresses may have equal distances: one product alone then fills few parts of the table. */
    return &symbols[(hash >> 32 ^ hash >> 48) & symbols_mask];
}

/* Whether a slot has this name, compared in this round. */
static inline bool symbols_is_sure(const struct symbol *symbol, const char *name) {
    return symbol->name == name && symbol->round == symbols_round;
}

/* The slot of a name, or a free one for it; the search goes on from this slot. */
struct symbol *symbols_search(struct symbol *from, const char *name);

/* Fetches what symbols_compare() compares. */
void symbols_expect(const struct symbol *symbol, const char *name);

/* The number of a name, after a comparison in the slot that was found for it. */
uint32_t symbols_compare(struct symbol *found, const char *name);

/* The text with this number: a name in the segment; 0: it has no room for it. */
uint32_t symbols_text(uint32_t number);

#endif
