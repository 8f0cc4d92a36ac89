/* Test of symbols.c: the text of an address is the one that is there now. */
#include "symbols.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../segment/segment.h"
#include "../testdata/check.h"

#define NAMES 1000u
#define LONGEST 2000u
#define MANY 120000u

static char names[NAMES][LONGEST + 1];

/* Symbols that differ at their ends only. */
static void name_all(uint32_t version) {
    for (uint32_t i = 0; i < NAMES; i++) {
        uint32_t length = 300 + i * 17 % (LONGEST - 320);
        memset(names[i], 'k', length);
        snprintf(names[i] + length, 20, "%u.%u", version, i);
    }
}

/* Whether the lookup finds the text at the address; NULL: none. */
static bool is_found(const char *name) {
    const char *text = name ? name : "";
    if (!symbols_make_room(1)) symbols_forget();
    struct symbol *symbol = symbols_search(symbols_first(text), text);
    symbols_expect(symbol, text);
    uint32_t number = symbols_compare(symbol, text);
    symbol = symbols_search(symbols_first(text), text);
    CHECK(symbols_is_sure(symbol, text) && symbol->number == number && number < symbols_count);
    return symbols_text(number) == segment_name(text, strlen(text));
}

static void check_all(void) {
    symbols_begin_round();
    for (uint32_t i = 0; i < NAMES; i++) CHECK(is_found(names[i]));
}

static void know_all(void) {
    name_all(1);
    for (uint32_t round = 0; round < 10; round++) check_all();
}

/* Another text at the address, after a module was loaded: seen in the next round if the beginning differs, or if
 * there are few. */
static void see_others(void) {
    symbols_module_loaded();
    char few[2][LONGEST] = {"_Z1av", ""};
    for (uint32_t version = 0; version < 5; version++) {
        few[0][3] = (char)('a' + version);
        memset(few[1], 'k', 1000);
        few[1][1000] = (char)('a' + version);
        symbols_begin_round();
        for (uint32_t i = 0; i < 2; i++) CHECK(is_found(few[i]));
    }
}

/* A longer or a shorter text at the address, and one that is cut. */
static void see_lengths(void) {
    static char text[3 * SEGMENT_NAME_LENGTH];
    static const size_t lengths[] = {3, 2, 70, 63, 64, 65, 0, 9000, 9001, SEGMENT_WHOLE_LENGTH, 9001, 5};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(text, 'n', lengths[i]);
        text[lengths[i]] = '\0';
        symbols_module_loaded();
        symbols_begin_round();
        CHECK(is_found(text));
    }
    CHECK(is_found(NULL));
}

/* More texts than have numbers, and more addresses than are remembered. Addresses of one text share its number. */
static void see_many(void) {
    static char many[MANY][8];
    symbols_forget();
    symbols_begin_round();
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(many[i], sizeof many[i], "m%u", i % 100);
        CHECK(is_found(many[i]));
    }
    CHECK(symbols_count <= 100);
    for (uint32_t i = 0; i < 2 * SYMBOLS; i++) {
        snprintf(many[i], sizeof many[i], "t%u", i);
        CHECK(is_found(many[i]));
    }
}

/* Nothing was loaded: the text is not looked at until the next comparison of all. */
static void trust_names(void) {
    char name[] = "_Z5trustv";
    nanosleep(&(struct timespec){1, 10000000}, NULL);
    symbols_begin_round();
    CHECK(is_found(name));
    uint32_t round = symbols_round;
    symbols_begin_round();
    CHECK(symbols_round == round);
    nanosleep(&(struct timespec){0, 110000000}, NULL);
    name[2] = '6';
    symbols_begin_round();
    CHECK(symbols_round != round && is_found(name));
}

int main(int count, char **words) {
    CHECK(count == 2 && segment_open(words[1]) == 0);
    know_all();
    see_others();
    see_lengths();
    see_many();
    trust_names();
    return 0;
}
