/* Pumps: each forwards the bytes of one stream to their original destination, and copies console
 * bytes to the console. No function here blocks. */
#ifndef SERVICE_PUMP_H
#define SERVICE_PUMP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PUMP_BUFFER (64u << 10)

/* Stream of a pump whose bytes are not recorded. */
#define NO_RING UINT32_MAX

/* Nanoseconds that a pump waits between two steps in a flood (output faster than the ring is read),
 * so that it moves many bytes at once: with a wake-up for every write, context switches would cost
 * as much as the bytes. Other output never waits. */
#define PUMP_GATHER_NS 100000

struct pump {
    int in, out;        /* descriptors; -1 once closed */
    uint32_t stream;    /* of the ring, or NO_RING */
    bool tees;          /* both ends are pipes: pages are moved, no bytes copied */
    bool sends;         /* `out` is a socket */
    bool keeps_out;     /* `out` must not be closed: it is shared */
    bool blocked;       /* the last write to `out` would have blocked */
    bool crlf;          /* adds a carriage return to each newline: for a terminal in raw mode */
    size_t from, to;    /* range of `buffer` that is still to be written */
    char *buffer;       /* PUMP_BUFFER bytes */
    bool wide;          /* both pipes have been enlarged */
    bool gathers;       /* in a flood: the next step comes after PUMP_GATHER_NS */
};

/* Prepares a pump; `in` must be non-blocking. */
void pump_open(struct pump *p, int in, int out, uint32_t stream);

/* Sets the two entries for poll(). Returns whether poll() must wait at most PUMP_GATHER_NS. */
bool pump_watch(const struct pump *p, struct pollfd watched[2]);

/* Moves bytes as poll() allows, and closes ended streams. Returns whether any byte moved. */
bool pump_move(struct pump *p, const struct pollfd watched[2]);

/* Writes bytes to `out` that were not read from `in`. */
void pump_put(struct pump *p, const char *bytes, size_t length);

/* Whether everything written to `in` so far is in `out`. */
bool pump_is_idle(const struct pump *p);

#endif
