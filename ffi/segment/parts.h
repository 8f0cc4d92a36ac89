/* Shared by the files of the segment's writer: the memory, and the offsets of the tables in it. */
#ifndef SERVICE_SEGMENT_PARTS_H
#define SERVICE_SEGMENT_PARTS_H

#include "segment.h"

#define SERIES_AT 4096u
#define CELLS_AT (SERIES_AT + SEGMENT_SERIES * (uint32_t)sizeof(struct segment_series))
#define BANK_AT(bank) (CELLS_AT + SEGMENT_CELLS * (uint32_t)sizeof(struct segment_cell) + (bank) * BANK_SIZE)
#define BANK_SIZE (SEGMENT_CELLS * (uint32_t)sizeof(struct segment_value))
#define NAMES_AT BANK_AT(2)

/* NULL: there is no segment. */
extern struct segment_header *segment;

static inline void *segment_at(uint32_t offset) { return (char *)segment + offset; }

static inline void segment_set32(uint32_t *field, uint32_t value) {
    __atomic_store_n(field, value, __ATOMIC_SEQ_CST);
}

/* Creates and maps the file, all zeros, in the first directory that has room. Returns its descriptor,
 * which holds the lock, or a negative errno. */
int segment_file_create(const char *directories, uint64_t ticks, struct segment_header **memory);

/* Starts the tables, after the header was written. */
void segment_tables_begin(void);

#endif
