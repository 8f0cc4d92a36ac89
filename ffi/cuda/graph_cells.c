/* Cells of graphs, in a hash table by profile and graph id. */
#include "graph_cells.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../segment/segment.h"
#include "graphs.h"

/* A power of two. When three quarters are used all are forgotten. */
#define SLOTS 4096u

static struct {
    uint32_t profile, id, cell;
    bool used;
} slots[SLOTS];
static uint32_t count;
static uint32_t unidentified_cell;

void graph_cells_open(uint32_t cell) { unidentified_cell = cell; }

static uint32_t add_frame(uint32_t profile, uint32_t id) {
    char name[32];
    uint64_t signature = graphs_signature(id);
    if (signature != 0) snprintf(name, sizeof name, "%016llx", (unsigned long long)signature);
    else snprintf(name, sizeof name, "graph_%u", id);
    uint32_t cell = segment_cell(profile, segment_name(name, strlen(name)));
    /* A graph whose slot was forgotten still has its frame, and was counted before. */
    if (signature == 0 && cell < SEGMENT_CELLS && segment_values[cell].b == 0)
        segment_add(unidentified_cell, 1, 0);
    return cell;
}

static uint32_t first_slot(uint32_t profile, uint32_t id) { return (id + profile * 769u) % SLOTS; }

uint32_t graph_cell(uint32_t profile, uint32_t id) {
    uint32_t slot = first_slot(profile, id);
    for (; slots[slot].used; slot = (slot + 1) % SLOTS)
        if (slots[slot].id == id && slots[slot].profile == profile) return slots[slot].cell;
    if (count == SLOTS / 4 * 3) {
        memset(slots, 0, sizeof slots);
        count = 0;
        slot = first_slot(profile, id);
    }
    slots[slot].profile = profile;
    slots[slot].id = id;
    slots[slot].cell = add_frame(profile, id);
    slots[slot].used = true;
    count++;
    return slots[slot].cell;
}
