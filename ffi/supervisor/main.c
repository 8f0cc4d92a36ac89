/* `service-supervisor`: runs one command as if it were that command.
 *
 *     service-supervisor [--leave] [--set NAME=value]... [--needles HEX] [--watch N word...] -- command [arguments]
 *
 * The shell waits for this process: it carries the command's streams, forwards signals, and exits as
 * the command does. It also starts the watcher (the N words), which reads the console from a ring in
 * shared memory; the command does not depend on the watcher. A regular file that the command writes is
 * its descriptor 4 (stdout) or 5 (stderr). The watcher reads from its stdin
 * "pid N", "sent N" before signal N may end the command, and at the end "exit N T U S" or
 * "signal N T U S", with the time T in nanoseconds since the epoch, and the processor time U and S
 * (user, system) in microseconds of all processes that were waited for. Orphans of the command become
 * children of this process, so that it waits for them too.
 * With --leave this process does not wait for a watcher that has not read its first line by then. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "console.h"
#include "descriptors.h"
#include "ends.h"
#include "ring.h"
#include "signals.h"
#include "supervisor.h"

/* Milliseconds of a wait whose end is due. */
#define SHORT_MS 100
/* Milliseconds between two checks for the foreground: no signal reports it. */
#define FOREGROUND_MS 200

/* Reads the arguments; `watcher` becomes the watcher's words, or NULL. Returns false if they do not
 * match the usage. */
static bool read_arguments(int argc, char **argv, struct supervisor *s, char ***watcher) {
    struct workload *w = &s->workload;
    int i = 1, sets = 0;
    s->leaves = argc > i && strcmp(argv[i], "--leave") == 0;
    if (s->leaves) i++;
    w->set = calloc((size_t)argc + 1, sizeof *w->set);
    if (!w->set) abort();
    *watcher = NULL;
    while (i + 1 < argc && strcmp(argv[i], "--") != 0) {
        int count = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--set") == 0) {
            w->set[sets++] = argv[i + 1];
            i += 2;
        } else if (strcmp(argv[i], "--needles") == 0) {
            console_set_needles(argv[i + 1]);
            i += 2;
        } else if (strcmp(argv[i], "--watch") == 0 && count > 0 && count < argc - i - 2) {
            /* Moved by one, over their count: this makes room for the NULL. */
            *watcher = memmove(argv + i + 1, argv + i + 2, (size_t)count * sizeof *argv);
            (*watcher)[count] = NULL;
            i += 2 + count;
        } else {
            return false;
        }
    }
    w->argv = argv + i + 1;
    return i + 1 < argc;
}

static void open_watcher(struct supervisor *s, char **argv, int ring) {
    int status[2] = {-1, -1}, errors[2] = {-1, -1};
    struct pump *pump = &s->streams.pumps[WATCHER];
    const struct terminal *terminal = &s->streams.terminal;
    if (!argv) return;
    bool piped = pipe2(status, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0;
    const int fds[] = {status[0], -1, errors[1], ring, s->streams.files[0], s->streams.files[1]};
    if (piped) s->watcher = start_watcher(argv, fds, sizeof fds / sizeof *fds, &s->workload.mask);
    if (s->watcher < 0)
        terminal_log(terminal, "no profile, the workload runs without one: %s", strerror(errno));
    if (!piped) return;
    close(status[0]);
    close(errors[1]);
    descriptor_unblock(errors[0]);
    s->watcher_stdin = status[1];
    s->told = dprintf(s->watcher_stdin, "pid %d\n", s->workload.pid);
    pump_open(pump, errors[0], terminal->fd >= 0 ? terminal->fd : 2, NO_RING);
    pump->keeps_out = true;
}

/* Milliseconds that the next wait may take; -1: no limit. */
static int wait_ms(const struct supervisor *s) {
    int timeout = -1;
    if (has_own_session(s) && !s->ended && !s->streams.terminal.raw) timeout = FOREGROUND_MS;
    if (s->ended) {
        int left = milliseconds_left(s);
        if (left == 0) left = SHORT_MS;
        if (timeout < 0 || left < timeout) timeout = left;
    }
    return timeout;
}

static void run(struct supervisor *s) {
    streams_take_foreground(&s->streams);
    while (!is_over(s)) {
        struct pollfd others[STREAMS_OTHERS] = {
            {s->signals, POLLIN, 0},
            {s->workload.reports, POLLIN, 0},
        };
        streams_move(&s->streams, wait_ms(s), others, STREAMS_OTHERS);
        if (others[0].revents) signals_handle(s);
        if (others[1].revents) read_report(s);
        if (s->ended) continue;
        streams_take_foreground(&s->streams);
    }
}

int main(int argc, char **argv) {
    struct supervisor s = {.watcher = -1, .watcher_stdin = -1, .workload.reports = -1};
    char **watcher;
    if (!read_arguments(argc, argv, &s, &watcher)) {
        terminal_log(
            &s.streams.terminal,
            "usage: service-supervisor [--leave] [--set NAME=value]... [--needles HEX] [--watch N word...] "
            "-- command");
        return 2;
    }
    s.before = cpu_time_of_children();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    streams_open(&s.streams, &s.workload);
    int ring = ring_create(s.streams.outputs);
    signals_open(&s);
    int error = start_workload(&s.workload);
    if (error) return cannot_start(&s, error);
    open_watcher(&s, watcher, ring);
    if (ring >= 0) close(ring);
    streams_hand_over(&s.streams, &s.workload);
    run(&s);
    fork_delivery(&s);
    exit_as_workload(&s);
}
