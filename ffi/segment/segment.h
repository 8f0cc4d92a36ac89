/* The segment: what one process has measured, in a file of shared memory that it alone writes and the
 * watcher reads at any moment, also after the process was killed between any two instructions.
 *
 * Layout, all integers little-endian: a struct segment_header, then the tables it points to. Nothing in
 * them ever moves or changes but the values:
 *
 *   series   what is measured: metric name, type and tags
 *   cells    the parts of a series: a frame of a profile, a bin of a histogram, a counter's one number
 *   names    every text, once: its length in 4 bytes, its bytes, zeros up to the next multiple of 4
 *   banks    two copies of the value of every cell
 *
 * Counts of series, cells and bytes of names only grow, and grow after what they count was written.
 *
 * Values are published in generations. Generation g lies in bank g & 1. The writer sets `begun` to g,
 * writes that bank, then sets `published` to g. So the bank of `published` is whole until `begun`
 * reaches `published + 2`: a reader copies it, reads `begun` again, and starts over if it has.
 *
 * Asking: a reader that wants newer values sets `asked` to one more than the larger of `asked` and
 * `answered`, adds 1 to `bell` and wakes who waits for it (futex). The writer flushes, publishes, and
 * sets `answered` to what was asked. Histograms change in such a publication (and in the last one of
 * the process) only; their least and greatest value are of what came after the last answer that the
 * reader has taken, which it says in `taken`. So they are exact for what lies between two readings.
 *
 * Alive is who holds an flock on the file: no pid is needed to tell, which may be of another namespace. */
#ifndef SERVICE_SEGMENT_H
#define SERVICE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_MAGIC "svcsegm"
#define SEGMENT_VERSION 1
#define SEGMENT_SIZE (4u << 20)
#define SEGMENT_SERIES 1024u
#define SEGMENT_CELLS 16384u
/* Cells of one series; past them values go to the cell named "(other)". */
#define SEGMENT_SERIES_CELLS 4096u
/* Longer texts are cut, and end in a hash of the whole. */
#define SEGMENT_NAME_LENGTH 4096u

enum { SEGMENT_GAUGE = 0, SEGMENT_COUNTER = 1, SEGMENT_HISTOGRAM = 2, SEGMENT_PROFILE = 3 };

/* What the process captures. */
enum {
    SEGMENT_STARTING = 0,    /* nothing yet */
    SEGMENT_CAPTURING = 1,
    SEGMENT_INTERRUPTED = 2, /* another tool has it for now */
    SEGMENT_REFUSED = 3,     /* never in this process */
    SEGMENT_ENDED = 4,       /* the process has left in good order */
};

struct segment_header {
    char magic[8];
    uint32_t version;
    uint32_t size;           /* of the file */
    uint32_t pid;            /* as the process sees it */
    uint32_t state;
    uint64_t start_ticks;    /* of the process, field 22 of /proc/self/stat */
    uint32_t reason;         /* name: why it does not capture; 0: none */
    uint32_t series_at;      /* where the tables lie */
    uint32_t cells_at;
    uint32_t banks_at[2];
    uint32_t names_at;
    uint32_t series_capacity;
    uint32_t cell_capacity;
    uint32_t name_capacity;  /* bytes */
    uint32_t series_count;
    uint32_t cell_count;
    uint32_t name_bytes;
    uint64_t begun;
    uint64_t published;
    uint64_t published_ns;   /* CLOCK_REALTIME */
    uint32_t bell;           /* what the writer's thread waits for */
    uint32_t asked;
    uint32_t answered;
    uint32_t taken;
};

struct segment_series {
    uint32_t name; /* name of the metric */
    uint32_t tags; /* name: each key and each value ended by a NUL; 0: none */
    uint32_t type;
    uint32_t reserved;
};

struct segment_cell {
    uint32_t series;
    /* Profile: the frame's name. Histogram: the bin's index as in core/bins.ts, or one of the two below.
     * Else 0. */
    uint32_t name;
};

#define SEGMENT_SUM UINT32_MAX            /* a: sum, b: count */
#define SEGMENT_EXTREMES (UINT32_MAX - 1) /* a: least, b: greatest; least > greatest: nothing counted */

/* Gauge: a. Counter: a. Profile: a value, b samples. Bin: a. */
struct segment_value {
    uint64_t a, b;
};

#define SEGMENT_NONE UINT32_MAX

/* Creates the segment of this process in the first of the directories (separated by ':', made with mode
 * 0700 where they are missing) that has room. Returns 0 or a negative errno; then all below do nothing. */
int segment_open(const char *directories);

/* The child of a fork: what its parent measures is not its own. */
void segment_forget(void);

/* The three below append; to be called by the writer's thread alone. They return what is there already
 * under the same identity. */

/* A text. Returns its place, or 0 where there is no room. */
uint32_t segment_name(const char *text, size_t length);

/* A series; `tags` are pairs of texts, ended by NULL. Returns SEGMENT_NONE where there is no room. */
uint32_t segment_series(const char *metric, uint32_t type, const char *const tags[]);

/* A cell. Past the limits of a profile: its cell "(other)". SEGMENT_NONE where there is none. */
uint32_t segment_cell(uint32_t series, uint32_t name);

/* Values are gathered in memory of the process alone, and seen by others once they are published. */
extern struct segment_value segment_values[SEGMENT_CELLS + 1]; /* the last: of what has no cell */
extern uint32_t segment_changed[SEGMENT_CELLS];
extern uint32_t segment_changed_count;
extern bool segment_is_changed[SEGMENT_CELLS];

/* Says that a cell, which may be SEGMENT_NONE, changes before the next publication, */
static inline void segment_touch(uint32_t cell) {
    if (cell >= SEGMENT_CELLS || segment_is_changed[cell]) return;
    segment_is_changed[cell] = true;
    segment_changed[segment_changed_count++] = cell;
}

/* so that this is all there is to adding to it; SEGMENT_CELLS is none. */
static inline void segment_add_touched(uint32_t cell, uint64_t a, uint64_t b) {
    segment_values[cell].a += a;
    segment_values[cell].b += b;
}

/* Adds to a cell, which may be SEGMENT_NONE. */
static inline void segment_add(uint32_t cell, uint64_t a, uint64_t b) {
    if (cell >= SEGMENT_CELLS) return;
    segment_touch(cell);
    segment_add_touched(cell, a, b);
}

static inline void segment_set(uint32_t cell, uint64_t a, uint64_t b) {
    if (cell >= SEGMENT_CELLS) return;
    segment_values[cell] = (struct segment_value){a, b};
    segment_touch(cell);
}

/* Shows all values to readers; `answered` is what segment_asked() said before they were gathered. */
void segment_publish(uint32_t answered);

/* What is asked for and not answered yet, or the last answer. */
uint32_t segment_asked(void);

/* The last answer that the reader has taken. */
uint32_t segment_taken(void);

/* Sets the state, and says why; `reason` may be NULL. */
void segment_state(uint32_t state, const char *reason);

/* The writer's thread: the bell's present count, to be read before looking for work, */
uint32_t segment_bell(void);

/* then waits until it has rung since, or for so long. */
void segment_wait(uint32_t bell, uint32_t timeout_ms);

/* Rings it: from any thread, and where nothing may block. */
void segment_ring(void);

#endif
