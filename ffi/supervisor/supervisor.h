/* The supervisor's state: one run of one workload. */
#ifndef SERVICE_SUPERVISOR_H
#define SERVICE_SUPERVISOR_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "processes.h"
#include "streams.h"

struct supervisor {
    struct workload workload;
    struct streams streams;
    int signals;          /* signalfd for `handled` */
    sigset_t handled;     /* signals that are blocked and read from `signals` */
    pid_t watcher;        /* -1: none, or it has ended */
    int watcher_stdin;    /* pipe with the workload's pid and end; -1: none */
    int told;             /* bytes written to it */
    bool leaves;          /* the exit does not wait for a watcher that is still starting */
    bool ended;           /* the workload has ended */
    int wait_status;      /* of the workload, once it has ended */
    struct cpu_time before; /* of children that this process had waited for before its start */
    uint64_t deadline_ms; /* CLOCK_MONOTONIC until which the exit waits for the watcher */
    bool hurried;         /* a signal came after the workload's end: exit at once */
};

/* Whether the workload has a session and a terminal of its own. */
static inline bool has_own_session(const struct supervisor *s) {
    return s->streams.terminal.fd >= 0;
}

#endif
