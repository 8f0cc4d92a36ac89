/* The segment: the measured values of one process, in a file of shared memory. Only the process writes
 * it; the watcher reads it at any moment, also after the process was killed between two instructions.
 *
 * Layout, all integers little-endian: a struct segment_header, then the tables that it points to. Entries
 * of the tables never move, and only values change:
 *
 *   series   identity of each series: metric name, type and tags
 *   cells    the parts of a series: a frame of a profile, a bin of a histogram, the number of a counter
 *   names    every text, once: its length in 4 bytes, its bytes, zeros up to the next multiple of 4
 *   banks    two copies of the value of every cell
 *
 * Counts of series, cells and bytes of names only grow, and only after the counted entry was written.
 *
 * Values are published in generations. Generation g lies in bank g & 1. The writer sets `begun` to g,
 * writes that bank, then sets `published` to g. So the bank of `published` is valid until `begun`
 * reaches `published + 2`: a reader copies it, reads `begun` again, and starts over if it has.
 *
 * Asking: a reader that wants newer values sets `asked` to one more than the larger of `asked` and
 * `answered`, adds 1 to `bell` and wakes the thread that waits for it (futex). The writer flushes, publishes, and
 * sets `answered` to what was asked. Histograms change in such a publication (and in the last one of
 * the process) only; their least and greatest values count from the last answer that the reader has taken,
 * which it writes to `taken`. So they are exact for the time between two readings.
 *
 * A process is alive while it holds an flock on the file. Its pid is not used for this: it may belong to
 * another namespace. */
#ifndef SERVICE_SEGMENT_H
#define SERVICE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_MAGIC "svcsegm"
#define SEGMENT_VERSION 1
/* Capacities of the segments that a library writes; its build may define others. */
#ifndef SEGMENT_SIZE
#define SEGMENT_SIZE (4u << 20)
#define SEGMENT_SERIES 1024u
#define SEGMENT_CELLS 16384u
#endif
/* Limit of the cells of one series; further values go to the cell named "(other)". */
#define SEGMENT_SERIES_CELLS 4096u
/* Longer texts are cut, and end in "…" and a hash of the full text in 16 digits. */
#define SEGMENT_NAME_LENGTH 4096u
/* Names of at most so many bytes are whole. */
#define SEGMENT_WHOLE_LENGTH (SEGMENT_NAME_LENGTH - 19u)

enum { SEGMENT_GAUGE = 0, SEGMENT_COUNTER = 1, SEGMENT_HISTOGRAM = 2, SEGMENT_PROFILE = 3 };

/* Whether the process is captured. */
enum {
    SEGMENT_STARTING = 0,    /* nothing yet */
    SEGMENT_CAPTURING = 1,
    SEGMENT_INTERRUPTED = 2, /* another tool uses the interface at present */
    SEGMENT_REFUSED = 3,     /* never in this process */
    SEGMENT_ENDED = 4,       /* the process has exited normally */
};

struct segment_header {
    char magic[8];
    uint32_t version;
    uint32_t size;           /* of the file */
    uint32_t pid;            /* as the process sees it */
    uint32_t state;
    uint64_t start_ticks;    /* of the process, field 22 of /proc/self/stat */
    uint32_t reason;         /* name: the reason for not capturing; 0: none */
    uint32_t series_at;      /* offsets of the tables */
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
    uint32_t bell;           /* futex that the writer's thread waits for */
    uint32_t asked;
    uint32_t answered;
    uint32_t taken;
    /* The call that the writer is in, if it calls what may hang. */
    uint32_t call;           /* name */
    uint32_t reserved;
    uint64_t call_began_ns;  /* CLOCK_REALTIME; 0: it is in none */
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

/* Gauge: a / b; b 0: not measured at present. Counter: a / b; b 0 is read as 1, and b never changes once
 * a is above 0. Profile: a value, b samples. Bin: a. */
struct segment_value {
    uint64_t a, b;
};

#define SEGMENT_NONE UINT32_MAX

/* Creates the segment of this process in the first of the directories (separated by ':', made with mode
 * 0700 if they are missing) that has room. Once in a process. Returns 0 or a negative errno; then all below do
 * nothing. */
int segment_open(const char *directories);

/* Opens the first of the directories that can be made and belongs to this user alone. Returns its
 * descriptor, or a negative errno. */
int segment_directory(const char *directories);

/* Removes the file; those that have opened it read on. */
void segment_remove(void);

/* In the child of a fork: detaches from the segment, which is the parent's. */
void segment_forget(void);

/* The next three append, and return the existing entry if there is one with the same identity. For the
 * writer's thread alone. */

/* Adds a text. Returns its offset, or 0 if there is no room. */
uint32_t segment_name(const char *text, size_t length);

/* Fetches the beginning of what segment_text() returns, before it is read. */
void segment_expect(uint32_t name);

/* The bytes of a name, which may be cut. They never change. */
const char *segment_text(uint32_t name, size_t *length);

/* Adds a series; `tags` are pairs of texts, ended by NULL. Returns SEGMENT_NONE if there is no room. */
uint32_t segment_series(const char *metric, uint32_t type, const char *const tags[]);

/* Adds a cell; beyond the limits of a profile, its cell "(other)". SEGMENT_NONE if there is no room. */
uint32_t segment_cell(uint32_t series, uint32_t name);

/* Values in private memory of the process; readers see them after publication. */
extern struct segment_value segment_values[SEGMENT_CELLS];
extern uint32_t segment_changed[SEGMENT_CELLS];
extern uint32_t segment_changed_count;
extern bool segment_is_changed[SEGMENT_CELLS];

/* Marks a cell, which may be SEGMENT_NONE, as changed since the last publication. */
static inline void segment_touch(uint32_t cell) {
    if (cell >= SEGMENT_CELLS || segment_is_changed[cell]) return;
    segment_is_changed[cell] = true;
    segment_changed[segment_changed_count++] = cell;
}

/* Sets a sum to the greatest value; a function, so that the usual case has a branch only. */
__attribute__((cold)) void segment_limit(uint64_t *sum);

/* Adds to a sum, which stays the greatest value if it passes 64 bits: a reader refuses one that falls. */
static inline void segment_add_to(uint64_t *sum, uint64_t more) {
    if (__builtin_add_overflow(*sum, more, sum)) segment_limit(sum);
}

/* Adds to a cell, which may be SEGMENT_NONE. */
static inline void segment_add(uint32_t cell, uint64_t a, uint64_t b) {
    if (cell >= SEGMENT_CELLS) return;
    segment_touch(cell);
    segment_add_to(&segment_values[cell].a, a);
    segment_values[cell].b += b;
}

static inline void segment_set(uint32_t cell, uint64_t a, uint64_t b) {
    if (cell >= SEGMENT_CELLS) return;
    segment_values[cell] = (struct segment_value){a, b};
    segment_touch(cell);
}

/* Publishes all values; `answered` is the result of segment_asked() before they were gathered. */
void segment_publish(uint32_t answered);

/* The number of the answer that readers ask for, or of the last one. */
uint32_t segment_asked(void);

/* The last answer that the reader has taken. */
uint32_t segment_taken(void);

/* Sets the state and its reason, which may be NULL. */
void segment_state(uint32_t state, const char *reason);

/* Says that the writer begins the call with this name. */
void segment_call_begins(uint32_t name);

/* Says that the call is over. */
void segment_call_ends(void);

/* Present count of the bell; the writer's thread reads it before it looks for work. */
uint32_t segment_bell(void);

/* Waits until the bell has rung since its count was `bell`, at most `timeout_ms`. */
void segment_wait(uint32_t bell, uint32_t timeout_ms);

/* Rings the bell; for any thread, never blocks. */
void segment_ring(void);

#endif
