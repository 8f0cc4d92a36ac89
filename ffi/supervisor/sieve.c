/* The sieve of console output: eight bytes at a time as pairs of bytes, then byte by byte where two
 * neighbouring pairs may be a needle. */
#include "sieve.h"

#include <stdlib.h>
#include <string.h>

#include "../export.h"

/* Of a byte: its lower five bits, and the one that letters have and digits have not. */
#define BITS 6
#define LETTERS (1u << BITS)
#define BLOCK 8

/* Needles are dealt to groups, one bit for each: a pair that begins a needle and one that ends another
 * seldom have a bit in common. */
#define GROUPS 16

/* The groups of a pair: in the lower half those of needles that begin at its first byte, in the upper half
 * those of needles that begin at its second one. */
struct pair {
    uint32_t begins; /* needles whose beginning it has: two letters, or one */
    uint32_t goes_on; /* needles whose next two letters it has */
};

struct sieve {
    struct pair pairs[LETTERS * LETTERS];
    uint8_t needles[1u << SIEVE_NEEDLE * BITS >> 3]; /* one bit for each four letters */
};

static uint32_t letter(uint8_t byte) {
    return (byte & 0x1f) | (byte & 0x40) >> 1;
}

static uint32_t pair_of(uint32_t first, uint32_t second) {
    return second << BITS | first;
}

static uint32_t code_of(const uint8_t *four) {
    uint32_t code = 0;
    for (int i = 0; i < SIEVE_NEEDLE; i++) code = code << BITS | letter(four[i]);
    return code;
}

static int in_order(const void *a, const void *b) {
    uint32_t left = code_of(a), right = code_of(b);
    return left < right ? -1 : left > right;
}

static void add(struct sieve *s, const uint8_t *needle, unsigned group) {
    uint32_t code = code_of(needle), even = 1u << group, odd = even << GROUPS;
    s->needles[code >> 3] |= (uint8_t)(1u << (code & 7));
    uint32_t a = letter(needle[0]), b = letter(needle[1]);
    uint32_t c = letter(needle[2]), d = letter(needle[3]);
    s->pairs[pair_of(a, b)].begins |= even;
    s->pairs[pair_of(c, d)].goes_on |= even;
    for (uint32_t any = 0; any < LETTERS; any++) s->pairs[pair_of(any, a)].begins |= odd;
    s->pairs[pair_of(b, c)].goes_on |= odd;
}

/* Whether a sorted needle begins with another pair than the one before it. */
static int begins_anew(const uint8_t *sorted, size_t i) {
    const uint8_t *needle = sorted + i * SIEVE_NEEDLE;
    return i == 0 || code_of(needle) >> 2 * BITS != code_of(needle - SIEVE_NEEDLE) >> 2 * BITS;
}

SERVICE_EXPORT struct sieve *sieve_create(const uint8_t *needles, size_t length) {
    struct sieve *s = calloc(1, sizeof *s);
    uint8_t *sorted = malloc(length + 1);
    size_t count = length / SIEVE_NEEDLE;
    if (!s || !sorted) return NULL;
    memcpy(sorted, needles, length);
    /* Neighbours begin alike: a group has few beginnings. */
    qsort(sorted, count, SIEVE_NEEDLE, in_order);
    size_t beginnings = 0, nth = 0;
    for (size_t i = 0; i < count; i++) beginnings += begins_anew(sorted, i);
    for (size_t i = 0; i < count; i++) {
        nth += begins_anew(sorted, i);
        add(s, sorted + i * SIEVE_NEEDLE, (unsigned)((nth - 1) * GROUPS / beginnings));
    }
    free(sorted);
    return s;
}

/* The first needle that ends in [from, end); all of it lies behind `start`. */
static size_t look(const struct sieve *s, const uint8_t *bytes, size_t from, size_t end) {
    for (size_t at = from; at < end; at++) {
        uint32_t code = code_of(bytes + at - (SIEVE_NEEDLE - 1));
        if (s->needles[code >> 3] >> (code & 7) & 1) return at;
    }
    return SIEVE_NONE;
}

SERVICE_EXPORT size_t sieve_find(const struct sieve *s, const uint8_t *bytes, size_t from, size_t end) {
    /* Before `first` no needle can end. */
    size_t first = from + SIEVE_NEEDLE - 1, at = from;
    uint32_t begun = 0;
    for (; at + BLOCK < end; at += BLOCK) {
        uint64_t word; /* the first byte is the lowest one */
        memcpy(&word, bytes + at, sizeof word);
        word = (word & 0x1f1f1f1f1f1f1f1f) | (word & 0x4040404040404040) >> 1;
        word = (word & 0x003f003f003f003f) | (word >> 2 & 0x0fc00fc00fc00fc0);
        const struct pair *a = &s->pairs[word & 0xffff], *b = &s->pairs[word >> 16 & 0xffff];
        const struct pair *c = &s->pairs[word >> 32 & 0xffff], *d = &s->pairs[word >> 48];
        uint32_t hits = (begun & a->goes_on) | (a->begins & b->goes_on) | (b->begins & c->goes_on) |
                        (c->begins & d->goes_on);
        begun = d->begins;
        if (!hits) continue;
        /* A needle at an odd place ends one byte behind its last pair. */
        size_t found = look(s, bytes, at > first ? at : first, at + BLOCK + 1);
        if (found != SIEVE_NONE) return found;
    }
    return look(s, bytes, at > first ? at : first, end);
}
