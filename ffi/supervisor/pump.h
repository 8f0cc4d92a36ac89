/* Pumps: each moves the bytes of one stream from where the workload writes them to where it would
 * have written them without us, and shows the console ones to the ring. None ever waits. */
#ifndef SERVICE_PUMP_H
#define SERVICE_PUMP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PUMP_BUFFER (64u << 10)
#define NO_RING UINT32_MAX

/* A flood is moved in few large steps: with a wake-up for every write, writer, pump and reader would
 * spend on changing places what they need for the bytes. What is no flood never waits. */
#define PUMP_GATHER_NS 100000

struct pump {
    int in, out;        /* -1 once closed */
    uint32_t stream;    /* of the ring, or NO_RING */
    bool tees;          /* both ends are pipes: pages are handed on, not copied */
    bool sends;         /* `out` is a socket */
    bool keeps_out;     /* `out` is not ours to close */
    bool blocked;       /* `out` took no more */
    bool crlf;          /* what we say ourselves on a terminal in raw mode */
    size_t from, to;    /* what of `buffer` is still to be written */
    char *buffer;       /* PUMP_BUFFER bytes */
    double credit;      /* bytes that may be copied to the ring now; little is left in a flood */
    uint64_t at_ns;     /* when credit was last given */
    bool wide;          /* both pipes have been made larger */
    bool gathers;       /* in a flood: lets bytes gather before the next step */
};

/* Prepares a pump; `in` must not block. */
void pump_open(struct pump *p, int in, int out, uint32_t stream);

/* Fills the two entries that poll() is to watch. Returns whether it is to wait PUMP_GATHER_NS only. */
bool pump_watch(const struct pump *p, struct pollfd watched[2]);

/* Moves what can be moved after poll() looked, closes what has ended. Returns whether any moved. */
bool pump_move(struct pump *p, const struct pollfd watched[2]);

/* Hands on bytes that did not come through `in`. */
void pump_put(struct pump *p, const char *bytes, size_t length);

/* Whether all that was written so far has been handed on. */
bool pump_is_idle(const struct pump *p);

/* A regular file that the workload writes itself: what it gains is shown to the ring. */
struct follower {
    int fd; /* -1: none */
    off_t at;
    uint32_t stream;
};

/* Follows the file behind descriptor `fd` from its present end on. */
void follow_open(struct follower *f, int fd, uint32_t stream);

/* Shows what the file gained. */
void follow(struct follower *f);

#endif
