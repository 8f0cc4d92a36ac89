/* The console: a flood begins when output uses up its credit, and ends when it has some again. */
#define _GNU_SOURCE
#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ring.h"
#include "scanner.h"

#define READ_SIZE (64u << 10)

/* Credit for bytes: it grows by `rate` in a second, up to `most`. */
struct credit {
    double rate, most, left;
};

/* The reader of the ring, which holds a mebibyte, may pause for 0.4 s. */
static struct credit reading = {1.2e6, 512e3, 512e3};
/* Output above this comes in so many writes that each wake-up costs as much as the bytes. */
static struct credit moving = {32e6, 4e6, 4e6};

/* Newest bytes of a stream that the scanner had no room for: they may be the last ones of all. */
#define MISSED_SIZE (8u << 10)
#define STREAMS 3

static struct missed {
    size_t size;
    char bytes[MISSED_SIZE];
} missed[STREAMS];

static const char *needles;
/* Whether the output goes to the scanner, and the ring is the scanner's to write. */
static bool flood;

void console_set_needles(const char *hex) {
    needles = hex;
}

bool console_is_busy(void) {
    return moving.left < moving.most / 2;
}

/* Takes `length` bytes after `seconds`. Returns whether there was credit for them. */
static bool spend(struct credit *c, double seconds, size_t length) {
    c->left += seconds * c->rate;
    if (c->left > c->most) c->left = c->most;
    bool enough = c->left >= (double)length;
    c->left = enough ? c->left - (double)length : 0;
    return enough;
}

/* Writes to the ring what the scanner had no room for, if nothing came after it. */
static void write_missed(uint32_t stream) {
    struct missed *m = &missed[stream];
    const char *newline = memchr(m->bytes, '\n', m->size);
    size_t from = newline ? (size_t)(newline - m->bytes) + 1 : 0;
    if (m->size > 0) ring_write(stream, "\n", 1);
    ring_write(stream, m->bytes + from, m->size - from);
    m->size = 0;
}

static void end_flood(void) {
    if (!flood || !scanner_has_finished()) return;
    scanner_flush();
    for (uint32_t stream = 0; stream < STREAMS; stream++) write_missed(stream);
    flood = false;
}

/* Whether the scanner may have the next bytes of a stream: what it has missed ends the line before. */
static bool closes_gap(uint32_t stream) {
    struct missed *m = &missed[stream];
    if (m->size == 0) return true;
    if (scanner_write(stream, "\n", 1) == 0) return false;
    scanner_lose(m->size);
    m->size = 0;
    return true;
}

/* Makes room for the newest of `length` missed bytes, and counts the others. Returns their number. */
static size_t begin_missed(uint32_t stream, size_t length) {
    size_t kept = length < MISSED_SIZE ? length : MISSED_SIZE;
    scanner_lose(missed[stream].size + length - kept);
    missed[stream].size = 0;
    return kept;
}

/* Notes that `length` bytes were written, and chooses their way. */
static void account(size_t length) {
    static uint64_t at_ns;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    double seconds = at_ns ? (double)(now_ns - at_ns) / 1e9 : 0;
    at_ns = now_ns;
    spend(&moving, seconds, length);
    bool enough = spend(&reading, seconds, length);
    if (enough && reading.left > reading.most / 2) end_flood();
    if (!enough && !flood) flood = needles && scanner_start(needles);
}

/* Moves bytes to /dev/null, or reads them where there is none: what stayed in the pipe would be passed on
 * twice. */
static ssize_t discard_some(int fd, size_t length) {
    static int nowhere = -1;
    char bytes[4096];
    if (nowhere < 0) nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    ssize_t n = splice(fd, NULL, nowhere, NULL, length, SPLICE_F_NONBLOCK);
    return n > 0 ? n : read(fd, bytes, length < sizeof bytes ? length : sizeof bytes);
}

/* Takes bytes out of the pipe for which the scanner has no room. */
static void miss(uint32_t stream, int fd, size_t length) {
    struct missed *m = &missed[stream];
    size_t kept = begin_missed(stream, length);
    while (length > 0) {
        ssize_t n = length > kept ? discard_some(fd, length - kept)
                                  : read(fd, m->bytes + m->size, length);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        if (length <= kept) m->size += (size_t)n;
        length -= (size_t)n;
    }
}

void console_take(uint32_t stream, int fd, size_t length) {
    static char bytes[READ_SIZE];
    account(length);
    if (flood) {
        if (closes_gap(stream)) length -= scanner_splice(stream, fd, length);
        if (length > 0) miss(stream, fd, length);
        return;
    }
    while (length > 0) {
        ssize_t n = read(fd, bytes, length < READ_SIZE ? length : READ_SIZE);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        ring_write(stream, bytes, (size_t)n);
        length -= (size_t)n;
    }
}

void console_write(uint32_t stream, const char *bytes, size_t length) {
    account(length);
    if (!flood) {
        ring_write(stream, bytes, length);
        return;
    }
    size_t given = closes_gap(stream) ? scanner_write(stream, bytes, length) : 0;
    if (given == length) return;
    size_t kept = begin_missed(stream, length - given);
    memcpy(missed[stream].bytes, bytes + length - kept, kept);
    missed[stream].size = kept;
}

void console_settle(int timeout_ms) {
    struct timespec pause = {0, 1000000};
    while (flood && timeout_ms-- > 0 && !scanner_has_finished()) nanosleep(&pause, NULL);
    end_flood();
}
