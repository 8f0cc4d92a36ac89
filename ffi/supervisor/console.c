/* The console: a flood begins when output uses up its credit, and ends when it has some again. */
#define _GNU_SOURCE
#include "console.h"

#include <errno.h>
#include <fcntl.h>
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

static void end_flood(void) {
    if (!flood || !scanner_has_finished()) return;
    scanner_flush();
    flood = false;
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

/* Reads at most `length` bytes into `bytes`. */
static ssize_t read_some(int fd, char *bytes, size_t length) {
    ssize_t n;
    do n = read(fd, bytes, length < READ_SIZE ? length : READ_SIZE);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Moves bytes to /dev/null, or reads them where there is none: what stayed in the pipe would be passed on
 * twice. */
static ssize_t discard_some(int fd, char *bytes, size_t length) {
    static int nowhere = -1;
    if (nowhere < 0) nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    ssize_t n = splice(fd, NULL, nowhere, NULL, length, SPLICE_F_NONBLOCK);
    return n > 0 ? n : read_some(fd, bytes, length);
}

void console_take(uint32_t stream, int fd, size_t length) {
    static char bytes[READ_SIZE];
    account(length);
    if (flood) length -= scanner_splice(stream, fd, length);
    while (length > 0) {
        ssize_t n = flood ? discard_some(fd, bytes, length) : read_some(fd, bytes, length);
        if (n <= 0) return;
        if (!flood) ring_write(stream, bytes, (size_t)n);
        length -= (size_t)n;
    }
}

void console_write(uint32_t stream, const char *bytes, size_t length) {
    account(length);
    if (flood) scanner_write(stream, bytes, length);
    else ring_write(stream, bytes, length);
}

void console_settle(int timeout_ms) {
    struct timespec pause = {0, 1000000};
    while (flood && timeout_ms-- > 0 && !scanner_has_finished()) nanosleep(&pause, NULL);
    end_flood();
}
