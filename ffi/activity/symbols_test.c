/* Test of symbols.c: the cell of an address is that of the text that is there now. */
#include "symbols.h"

#include <stdio.h>
#include <string.h>

#include "../segment/segment.h"
#include "../testdata/check.h"

#define NAMES 1000u
#define DEVICES 8u
#define LONGEST 2000u

static char names[NAMES][LONGEST + 1];
static uint32_t series[DEVICES];

/* Symbols that differ at their ends only. */
static void name_all(uint32_t version) {
    for (uint32_t i = 0; i < NAMES; i++) {
        uint32_t length = 300 + i * 17 % (LONGEST - 320);
        memset(names[i], 'k', length);
        snprintf(names[i] + length, 20, "%u.%u", version, i);
    }
}

static uint32_t cell_of(uint32_t device, const char *name) {
    return segment_cell(series[device], segment_name(name, strlen(name)));
}

static void check_all(void) {
    symbols_begin_round();
    for (uint32_t device = 0; device < DEVICES; device++)
        for (uint32_t i = 0; i < NAMES; i++)
            CHECK(symbols_cell(names[i], series[device]) == cell_of(device, names[i]));
}

static void know_all(void) {
    name_all(1);
    for (uint32_t round = 0; round < 10; round++) check_all();
}

/* Another text at the address: seen in the next round if the beginning differs, or if there are few. */
static void see_others(void) {
    char few[2][LONGEST] = {"_Z1av", ""};
    for (uint32_t version = 0; version < 5; version++) {
        few[0][3] = (char)('a' + version);
        memset(few[1], 'k', 1000);
        few[1][1000] = (char)('a' + version);
        symbols_begin_round();
        for (uint32_t i = 0; i < 2; i++) CHECK(symbols_cell(few[i], series[0]) == cell_of(0, few[i]));
    }
}

/* A longer or a shorter text at the address, and one that is cut. */
static void see_lengths(void) {
    static char text[3 * SEGMENT_NAME_LENGTH];
    static const size_t lengths[] = {3, 2, 70, 63, 64, 65, 0, 9000, 9001, SEGMENT_WHOLE_LENGTH, 9001, 5};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(text, 'n', lengths[i]);
        text[lengths[i]] = '\0';
        symbols_begin_round();
        CHECK(symbols_cell(text, series[0]) == cell_of(0, text));
    }
    CHECK(symbols_cell(NULL, series[0]) == cell_of(0, ""));
}

/* More addresses than are remembered. */
static void see_many(void) {
    static char many[60000][8];
    symbols_begin_round();
    for (uint32_t i = 0; i < 60000; i++) {
        snprintf(many[i], sizeof many[i], "m%u", i % 100);
        CHECK(symbols_cell(many[i], series[0]) == cell_of(0, many[i]));
    }
}

int main(int count, char **words) {
    CHECK(count == 2 && segment_open(words[1]) == 0);
    for (uint32_t device = 0; device < DEVICES; device++) {
        const char *const tags[] = {"device.uuid", (char[]){(char)('0' + device), '\0'}, NULL};
        series[device] = segment_series("kernels", SEGMENT_PROFILE, tags);
    }
    know_all();
    see_others();
    see_lengths();
    see_many();
    return 0;
}
