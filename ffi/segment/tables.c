/* The tables of a segment: names, series and cells, with hash tables in private memory. */
#include <stdio.h>
#include <string.h>

#include "parts.h"

/* Powers of two, at most three quarters full. */
#define NAME_SLOTS (1u << 16)
#define CELL_SLOTS (1u << 15)

#define OTHER "(other)"
#define HASH_DIGITS 16
#define ELLIPSIS "\u2026"
_Static_assert(SEGMENT_WHOLE_LENGTH == SEGMENT_NAME_LENGTH - HASH_DIGITS - (sizeof ELLIPSIS - 1), "its end");

_Static_assert(SEGMENT_CELLS <= CELL_SLOTS / 4 * 3, "cells are found by their hash");

static uint32_t name_slots[NAME_SLOTS]; /* offsets of names */
static uint32_t name_count;
static uint32_t cell_slots[CELL_SLOTS]; /* cells + 1 */
static uint32_t cells_of[SEGMENT_SERIES];
static uint32_t other_name;

void segment_tables_begin(void) {
    other_name = segment_name(OTHER, strlen(OTHER));
}

/* ---- Names ---- */

static uint64_t hash(const char *text, size_t length) {
    uint64_t value = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) value = (value ^ (unsigned char)text[i]) * 0x100000001b3u;
    return value ^ value >> 32;
}

static bool is_name(uint32_t offset, const char *text, size_t length) {
    const char *name = segment_at(NAMES_AT + offset);
    uint32_t size;
    memcpy(&size, name, sizeof size);
    return size == length && memcmp(name + sizeof size, text, length) == 0;
}

static uint32_t append_name(const char *text, size_t length) {
    uint32_t offset = segment->name_bytes, size = (uint32_t)length;
    uint32_t taken = (uint32_t)((sizeof size + length + 3) & ~(size_t)3);
    if (name_count >= NAME_SLOTS / 4 * 3 || taken > SEGMENT_SIZE - NAMES_AT - offset) return 0;
    char *name = segment_at(NAMES_AT + offset);
    memcpy(name, &size, sizeof size);
    memcpy(name + sizeof size, text, length);
    segment_set32(&segment->name_bytes, offset + taken);
    name_count++;
    return offset;
}

/* Cuts a text before a character, and appends the hash of the full text. */
static size_t cut(const char *text, size_t length, char *out) {
    size_t kept = SEGMENT_WHOLE_LENGTH;
    while (kept > 0 && (text[kept] & 0xc0) == 0x80) kept--;
    if (kept == 0) kept = SEGMENT_WHOLE_LENGTH;
    memcpy(out, text, kept);
    return kept + (size_t)sprintf(out + kept, ELLIPSIS "%016llx", (unsigned long long)hash(text, length));
}

uint32_t segment_name(const char *text, size_t length) {
    if (!segment) return 0;
    char shorter[SEGMENT_NAME_LENGTH + 1];
    if (length > SEGMENT_NAME_LENGTH) {
        length = cut(text, length, shorter);
        text = shorter;
    }
    uint32_t slot = (uint32_t)hash(text, length) % NAME_SLOTS;
    for (; name_slots[slot] != 0; slot = (slot + 1) % NAME_SLOTS)
        if (is_name(name_slots[slot], text, length)) return name_slots[slot];
    return name_slots[slot] = append_name(text, length);
}

void segment_expect(uint32_t name) {
    const char *text = segment_at(NAMES_AT + name);
    __builtin_prefetch(text);
    __builtin_prefetch(text + 64);
}

const char *segment_text(uint32_t name, size_t *length) {
    const char *text = segment_at(NAMES_AT + name);
    uint32_t size;
    memcpy(&size, text, sizeof size);
    *length = size;
    return text + sizeof size;
}

static uint32_t tags_name(const char *const tags[]) {
    char text[SEGMENT_NAME_LENGTH];
    size_t used = 0;
    for (; tags && *tags; tags++) {
        size_t length = strlen(*tags) + 1;
        if (length > sizeof text - used) return 0;
        memcpy(text + used, *tags, length);
        used += length;
    }
    return segment_name(text, used);
}

/* ---- Series ---- */

static struct segment_series *series_table(void) { return segment_at(SERIES_AT); }

uint32_t segment_series(const char *metric, uint32_t type, const char *const tags[]) {
    if (!segment) return SEGMENT_NONE;
    bool tagged = tags && tags[0];
    struct segment_series series = {segment_name(metric, strlen(metric)), 0, type, 0};
    if (tagged) series.tags = tags_name(tags);
    if (series.name == 0 || (tagged && series.tags == 0)) return SEGMENT_NONE;
    uint32_t count = segment->series_count;
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(&series_table()[i], &series, sizeof series) == 0) return i;
    if (count == SEGMENT_SERIES) return SEGMENT_NONE;
    series_table()[count] = series;
    segment_set32(&segment->series_count, count + 1);
    return count;
}

/* ---- Cells ---- */

static struct segment_cell *cell_table(void) { return segment_at(CELLS_AT); }

static uint32_t *find_cell(struct segment_cell cell) {
    uint32_t slot = (cell.series * 0x9e3779b1u ^ cell.name * 0x85ebca6bu) >> 7 & (CELL_SLOTS - 1);
    for (; cell_slots[slot] != 0; slot = (slot + 1) % CELL_SLOTS)
        if (memcmp(&cell_table()[cell_slots[slot] - 1], &cell, sizeof cell) == 0) break;
    return &cell_slots[slot];
}

/* A frame leaves room for the cell "(other)" of its profile, and of all profiles to come. */
static bool has_room(struct segment_cell cell) {
    uint32_t count = segment->cell_count;
    if (series_table()[cell.series].type != SEGMENT_PROFILE || cell.name == other_name)
        return count < SEGMENT_CELLS;
    return cells_of[cell.series] < SEGMENT_SERIES_CELLS - 1 && count < SEGMENT_CELLS - SEGMENT_SERIES;
}

uint32_t segment_cell(uint32_t series, uint32_t name) {
    if (!segment || series >= segment->series_count) return SEGMENT_NONE;
    bool profile = series_table()[series].type == SEGMENT_PROFILE;
    struct segment_cell cell = {series, profile && name == 0 ? other_name : name};
    uint32_t *slot = find_cell(cell);
    if (*slot == 0 && !has_room(cell)) {
        if (!profile || cell.name == other_name) return SEGMENT_NONE;
        return segment_cell(series, other_name);
    }
    if (*slot == 0) {
        uint32_t count = segment->cell_count;
        cell_table()[count] = cell;
        cells_of[series]++;
        *slot = count + 1;
        segment_set32(&segment->cell_count, count + 1);
    }
    return *slot - 1;
}
