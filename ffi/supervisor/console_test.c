/* The console holds its promises for any output: whole lines in order, and every one with a needle. */
#define _GNU_SOURCE
#include "console.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../testdata/check.h"
#include "ring.h"

#define LINES 400000
#define PAUSE_MS 5000
/* "erro" and "warn". */
#define NEEDLES "6572726f7761726e"

static uint64_t seed = 7;

/* Line `id`, whose number says whether it has a needle. */
static int write_line(char *to, unsigned id) {
    unsigned hash = id * 2654435761u >> 16;
    const char *word = hash % 997 != 0 ? "fine" : hash % 2 ? "ERROR" : "warning";
    return sprintf(to, "%08u %s %.*s\n", id, word, (int)(hash % 60),
                   "all is as it was, and nothing is to be done about it, today or then");
}

static int has_needle(unsigned id) {
    return (id * 2654435761u >> 16) % 997 == 0;
}

/* ---- The reader of the ring ---- */

static const struct ring_header *ring;
static uint64_t position;
static char text[2 * RING_CAPACITY];
static size_t size;
static unsigned next_id, found;

/* Lines must be whole, known, and in order; none with a needle may be left out. */
static void check_lines(void) {
    char expected[128], *line = text, *end;
    for (; (end = memchr(line, '\n', size - (size_t)(line - text))); line = end + 1) {
        unsigned id = (unsigned)atoi(line);
        for (; next_id < id; next_id++) CHECK(!has_needle(next_id));
        CHECK(id == next_id++);
        CHECK(write_line(expected, id) == end + 1 - line);
        CHECK(memcmp(expected, line, (size_t)(end + 1 - line)) == 0);
        found += has_needle(id);
    }
    size -= (size_t)(line - text);
    memmove(text, line, size);
}

static void read_ring(void) {
    const char *data = (const char *)ring + RING_DATA;
    CHECK(ring->oldest <= position);
    while (position < ring->end) {
        struct ring_record record;
        memcpy(&record, data + position % RING_CAPACITY, sizeof record);
        position += sizeof record;
        for (uint32_t i = 0; i < record.length; i++)
            text[size++] = data[(position + i) % RING_CAPACITY];
        position = (position + record.length + 7) & ~(uint64_t)7;
        check_lines();
    }
}

/* ---- The writer ---- */

/* Gives bytes to the console, in pieces that end anywhere, from a pipe or from memory. */
static void give(const char *bytes, size_t length, const int *ends) {
    while (length > 0) {
        size_t piece = 1 + random_below(&seed, 60000);
        if (piece > length) piece = length;
        if (random_below(&seed, 2)) {
            CHECK(write(ends[1], bytes, piece) == (ssize_t)piece);
            console_take(RING_STDOUT, ends[0], piece);
        } else {
            console_write(RING_STDOUT, bytes, piece);
        }
        bytes += piece;
        length -= piece;
    }
}

static char output[300000];

/* Much more than the thread can follow: what it has missed is counted, and the last line is there. */
static void overflow(const int *ends) {
    const char last[] = "fine\nthe last line\n";
    uint64_t before = ring->bytes, given = 0;
    memset(output, '-', sizeof output);
    for (int i = 0; i < 300; i++, given += 60000) {
        if (i % 2) {
            console_write(RING_STDOUT, output, 60000);
            continue;
        }
        CHECK(write(ends[1], output, 60000) == 60000);
        console_take(RING_STDOUT, ends[0], 60000);
    }
    console_write(RING_STDOUT, last, sizeof last - 1);
    console_settle(PAUSE_MS);
    CHECK(ring->bytes - before <= given + sizeof last + 300);
    const char *data = (const char *)ring + RING_DATA;
    struct ring_record record;
    for (position = ring->oldest, size = 0; position < ring->end;) {
        memcpy(&record, data + position % RING_CAPACITY, sizeof record);
        position += sizeof record;
        for (uint32_t i = 0; i < record.length; i++)
            text[size++] = data[(position + i) % RING_CAPACITY];
        position = (position + record.length + 7) & ~(uint64_t)7;
    }
    CHECK(size > 14 && memcmp(text + size - 14, "the last line\n", 14) == 0);
}

int main(void) {
    size_t length = 0;
    int ends[2];
    struct ring_stream streams[2] = {{RING_READ, 0}, {RING_READ, 0}};
    CHECK(pipe2(ends, O_NONBLOCK) == 0);
    int fd = ring_create(streams);
    ring = mmap(NULL, RING_DATA + RING_CAPACITY, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(fd >= 0 && ring != MAP_FAILED);
    console_set_needles(NEEDLES);
    unsigned expected = 0;
    for (unsigned id = 0; id < LINES; id++) {
        length += (size_t)write_line(output + length, id);
        expected += (unsigned)has_needle(id);
        if (length < sizeof output - 128 && id + 1 < LINES) continue;
        /* Now and then the end of a piece is in the midst of a line. */
        size_t rest = random_below(&seed, 40);
        give(output, length - rest, ends);
        console_settle(PAUSE_MS);
        memmove(output, output + length - rest, rest);
        length = rest;
        read_ring();
    }
    give(output, length, ends);
    console_settle(PAUSE_MS);
    read_ring();
    CHECK(found == expected && found > 100);
    CHECK(next_id == LINES && size == 0);
    CHECK(ring->bytes < (uint64_t)LINES * 45 / 2); /* most lines were left out */
    overflow(ends);
    return 0;
}
