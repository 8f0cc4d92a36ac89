/* The workload's standard streams: their connection, and the movement of their bytes. */
#ifndef SERVICE_STREAMS_H
#define SERVICE_STREAMS_H

#include <poll.h>
#include <stdbool.h>

#include "processes.h"
#include "pump.h"
#include "ring.h"
#include "terminal.h"

/* The pumps: two of the workload's output, one of its keyboard input, one of the watcher's
 * stderr. */
enum { OUTPUT, ERRORS, KEYBOARD, WATCHER, PUMPS };

/* Limit of the descriptors that streams_move() polls in addition to the pumps'. */
#define STREAMS_OTHERS 2

struct streams {
    struct pump pumps[PUMPS];
    struct ring_stream outputs[2]; /* stdout and stderr, as the reader of the ring sees them */
    int files[2];                 /* those that are regular files, opened for reading; -1: none */
    struct terminal terminal;     /* ours, if the workload has a session of its own */
    int slaves[2];                /* slave ends of pseudo terminals, open until the end */
    int slave_count;
    int *inherited;               /* list of descriptors held only for the workload */
};

/* Connects the workload's streams and sets `w->fds` and `w->terminal` to the ends for it. To be
 * called before anything else opens a descriptor.
 *
 * If all three are one terminal, the workload gets a pseudo terminal of its own. An output that
 * is another terminal passes through a pseudo terminal, a pipe or a socket through a pipe.
 * Everything else is left to the workload as it is; a regular file is opened for the watcher. */
void streams_open(struct streams *s, struct workload *w);

/* Closes our copies of descriptors that the workload has now: with them open, a reader would not
 * see the end. */
void streams_hand_over(struct streams *s, const struct workload *w);

/* Waits until there are bytes or one of `others` is ready, at most `timeout_ms` (-1: without
 * limit), and moves the bytes that are there, once. Returns whether any byte moved. */
bool streams_move(struct streams *s, int timeout_ms, struct pollfd *others, nfds_t other_count);

/* Moves the output written so far, without waiting. */
void streams_flush(struct streams *s);

/* Moves output until all of it is delivered and no process can write more. */
void streams_deliver(struct streams *s);

/* Whether all output so far has been delivered. */
bool streams_are_delivered(const struct streams *s);

/* Whether all output is delivered and no process can write more. */
bool streams_have_ended(const struct streams *s);

/* Sets raw mode on our terminal if we are in its foreground; forwards input typed before. */
void streams_take_foreground(struct streams *s);

/* Gives pseudo terminals the size of the terminals that they stand for. */
void streams_copy_sizes(const struct streams *s);

/* After the workload's end: delivers its output and restores our terminal. */
void streams_end(struct streams *s);

#endif
