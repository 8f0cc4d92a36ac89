/* The scanner: the stretches of the output that have a needle go to the ring, by whole lines. */
#define _GNU_SOURCE
#include "scanner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring.h"
#include "sieve.h"

/* Streams of the ring: the terminal, stdout, stderr. */
#define STREAMS 3
/* Capacity of a pipe to the thread. */
#define PIPE_SIZE (1 << 20)
#define READ_SIZE (256u << 10)
/* Bytes before the newest ones that are kept: a needle may be found at the end of its line. */
#define KEPT_SIZE (8u << 10)
/* Bytes that go to the ring behind a needle: the rest of a traceback, where it has no needles. */
#define BEHIND 2048
/* Priority: beside a workload that needs all processors the thread gets a tenth of one. */
#define NICE 10

/* What the thread has of one stream. Places are indices in `bytes`. */
struct lane {
    int in, out;    /* ends of the pipe */
    size_t size;    /* bytes that were searched */
    size_t passed;  /* up to here they are in the ring, or need not be */
    bool open;      /* the bytes from `passed` on go to the ring */
    size_t until;   /* at least up to here, and to the end of that line */
    char bytes[KEPT_SIZE + READ_SIZE];
};

static struct lane lanes[STREAMS];
static struct sieve *sieve;
static _Atomic uint64_t given;        /* bytes moved to the thread */
static _Atomic uint64_t searched;     /* those of them that it has finished */
static _Atomic uint64_t lost;         /* bytes for which there was no room, and that are not counted yet */

/* ---- The thread ---- */

/* Index behind the first newline in [from, size), or `size`. */
static size_t behind_line(const struct lane *l, size_t from) {
    const char *end = from < l->size ? memchr(l->bytes + from, '\n', l->size - from) : NULL;
    return end ? (size_t)(end - l->bytes) + 1 : l->size;
}

/* Index of the first byte of the line around `at`, not before what has passed nor far away. */
static size_t start_of_line(const struct lane *l, size_t at) {
    size_t least = at > KEPT_SIZE ? at - KEPT_SIZE : 0;
    if (least < l->passed) least = l->passed;
    while (at > least && l->bytes[at - 1] != '\n' && l->bytes[at - 1] != '\r') at--;
    return at;
}

static void pass(struct lane *l, size_t end) {
    ring_write((uint32_t)(l - lanes), l->bytes + l->passed, end - l->passed);
    l->passed = end;
}

/* Passes on the open stretch, as far as it goes. */
static void pass_stretch(struct lane *l) {
    size_t end = behind_line(l, l->until);
    pass(l, end);
    l->open = l->until >= end || l->bytes[end - 1] != '\n';
}

/* Searches `length` new bytes behind those that were searched before. */
static void search(struct lane *l, size_t length) {
    size_t at = l->size > SIEVE_NEEDLE - 1 ? l->size - (SIEVE_NEEDLE - 1) : 0;
    l->size += length;
    while ((at = sieve_find(sieve, (const uint8_t *)l->bytes, at, l->size)) != SIEVE_NONE) {
        if (l->open && start_of_line(l, at) >= behind_line(l, l->until)) pass_stretch(l);
        if (!l->open) l->passed = start_of_line(l, at);
        l->open = true;
        l->until = at++ + BEHIND;
    }
    if (l->open) pass_stretch(l);
    size_t gone = l->size > KEPT_SIZE ? l->size - KEPT_SIZE : 0;
    memmove(l->bytes, l->bytes + gone, l->size - gone);
    l->size -= gone;
    l->passed = l->passed > gone ? l->passed - gone : 0;
    l->until = l->until > gone ? l->until - gone : 0;
}

static void read_lane(struct lane *l) {
    atomic_load(&given); /* orders what scanner_start() has set before what follows */
    ssize_t n = read(l->out, l->bytes + l->size, READ_SIZE);
    if (n <= 0) return;
    ring_skip(atomic_exchange(&lost, 0));
    search(l, (size_t)n);
    atomic_fetch_add(&searched, (uint64_t)n);
}

static void *run(void *nothing) {
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    for (;;) {
        struct pollfd readable[STREAMS];
        for (int i = 0; i < STREAMS; i++) readable[i] = (struct pollfd){lanes[i].out, POLLIN, 0};
        poll(readable, STREAMS, -1);
        for (int i = 0; i < STREAMS; i++)
            if (readable[i].revents) read_lane(&lanes[i]);
    }
    return nothing;
}

/* ---- Its caller ---- */

static int digit(char c) {
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static struct sieve *sieve_of(const char *hex) {
    size_t length = strlen(hex) / 2;
    uint8_t *bytes = malloc(length + 1);
    if (!bytes) return NULL;
    for (size_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    struct sieve *made = sieve_create(bytes, length);
    free(bytes);
    return made;
}

static bool open_lanes(void) {
    for (int i = 0; i < STREAMS; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return false;
        fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE);
        lanes[i].out = ends[0];
        lanes[i].in = ends[1];
    }
    return true;
}

static bool start(const char *hex) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sieve = sieve_of(hex);
    if (!sieve || !open_lanes() || pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

bool scanner_start(const char *hex) {
    static enum { NEW, RUNS, FAILED } state;
    if (state == NEW) state = start(hex) ? RUNS : FAILED;
    /* The ring has the beginning of a line of which the scanner gets the rest. */
    for (int i = 0; i < STREAMS; i++) {
        struct lane *l = &lanes[i];
        l->size = l->passed = l->until = 0;
        l->open = true;
    }
    atomic_fetch_add(&given, 0);
    return state == RUNS;
}

static size_t count(ssize_t moved) {
    size_t n = moved > 0 ? (size_t)moved : 0;
    atomic_fetch_add(&given, n);
    return n;
}

size_t scanner_splice(uint32_t stream, int fd, size_t length) {
    return count(splice(fd, NULL, lanes[stream].in, NULL, length, SPLICE_F_NONBLOCK));
}

size_t scanner_write(uint32_t stream, const char *bytes, size_t length) {
    return count(write(lanes[stream].in, bytes, length));
}

void scanner_lose(size_t length) {
    atomic_fetch_add(&lost, length);
}

bool scanner_has_finished(void) {
    return atomic_load(&searched) == atomic_load(&given);
}

void scanner_flush(void) {
    ring_skip(atomic_exchange(&lost, 0));
    for (int i = 0; i < STREAMS; i++) {
        struct lane *l = &lanes[i];
        size_t line = behind_line(l, l->passed);
        /* The line at `passed` is not whole, but the last one of all is needed. */
        if (line < l->size) l->passed = line;
        pass(l, l->size);
    }
}
