/* The console ring: the newest mebibyte of the workload's output, in a flood of what may matter in it,
 * in memory that a reader maps or reads. The writer never waits: output that was not read in time is overwritten, and counted.
 *
 * Layout: a header, then at RING_DATA the bytes. A position only ever grows; its byte lies at
 * RING_DATA + position % capacity. A record is a struct ring_record, its bytes, and zeros up to the
 * next multiple of 8. All records in [oldest, end) are complete: the writer moves `oldest` before it
 * overwrites the oldest records, and `end` after it has written, so that it may die between any two
 * instructions. A reader copies records, reads `oldest` again, and drops those below it.
 *
 * `before` of a record is the number of bytes before it since the start that were recorded, or that
 * nobody looked at: the gap between two records that a reader has is its loss. */
#ifndef SERVICE_RING_H
#define SERVICE_RING_H

#include <stddef.h>
#include <stdint.h>

#define RING_MAGIC "svcring"
#define RING_VERSION 3
#define RING_CAPACITY (1u << 20)
#define RING_DATA 4096

enum { RING_TERMINAL = 0, RING_STDOUT = 1, RING_STDERR = 2 };

/* Whether a stream is read; not: it leads to a device such as /dev/null or is closed, it is a terminal
 * whose keys the workload may read itself, or its file cannot be opened for reading. The reader reads a
 * regular file itself: none of its bytes are in the ring. */
enum ring_state { RING_READ = 1, RING_NOWHERE, RING_KEYS, RING_REFUSED, RING_FILE };

struct ring_stream {
    uint64_t state; /* enum ring_state */
    uint64_t from;  /* RING_FILE: offset at which the workload begins to write */
};

struct ring_header {
    char magic[8];
    uint32_t version;
    uint32_t capacity;
    uint64_t oldest; /* position of the oldest complete record */
    uint64_t end;    /* position after the newest one */
    uint64_t bytes;  /* bytes so far, recorded or not looked at */
    struct ring_stream streams[2]; /* stdout and stderr */
};

struct ring_record {
    uint32_t length;  /* bytes that follow */
    uint32_t stream;  /* RING_TERMINAL, RING_STDOUT or RING_STDERR */
    uint64_t time_ns; /* CLOCK_REALTIME when they were read */
    uint64_t before;  /* bytes before these, recorded or not looked at */
};

/* Creates the ring in anonymous memory, for stdout and stderr. Returns its descriptor (close-on-exec),
 * or -1: then the other functions do nothing. */
int ring_create(const struct ring_stream streams[2]);

/* Appends bytes of a stream. */
void ring_write(uint32_t stream, const char *bytes, size_t length);

/* Counts bytes that nobody looked at. */
void ring_skip(size_t length);

#endif
