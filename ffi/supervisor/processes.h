/* Starting processes: the workload, whose parent watches over it, and the watcher. */
#ifndef SERVICE_PROCESSES_H
#define SERVICE_PROCESSES_H

#include <signal.h>
#include <sys/types.h>

/* How the workload is started. */
struct workload {
    char **argv;
    char **set;      /* NAME=value to add to its environment, NULL at the end */
    int fds[3];      /* its standard streams; -1: ours */
    int terminal;    /* the pseudo terminal that is to be its controlling one, or -1 */
    sigset_t mask;   /* of blocked signals, as we were given it */
    pid_t pid;
    int reports;     /* with a terminal: where its wait statuses arrive as ints; else -1 */
};

/* Starts the workload. Returns 0, or the errno for which it could not be executed.
 *
 * With a terminal of its own it needs a session of its own, and in that session a parent: a group
 * without one is not stopped by Ctrl-Z. That parent is a second process of ours, which does nothing
 * but wait. The workload is killed when its parent dies, and the parent when we do. */
int start_workload(struct workload *w);

/* Starts the watcher in a session of its own with `status` as its stdin, `errors` as its stderr and
 * `ring` as descriptor 3, and nothing else of ours. Returns its pid, or -1. */
pid_t start_watcher(char **argv, int status, int errors, int ring, const sigset_t *mask);

#endif
