/* Start of processes: the workload, its parent if it has a terminal, and the watcher. */
#ifndef SERVICE_PROCESSES_H
#define SERVICE_PROCESSES_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/* Processor time, in microseconds. */
struct cpu_time {
    int64_t user_us, system_us;
};

/* A wait status of the workload. */
struct report {
    int status;
    struct cpu_time used; /* by the workload and all that it has waited for, once it has ended */
};

/* The profiled command: how to start it, and its process. */
struct workload {
    char **argv;
    char **set;      /* NAME=value to add to its environment, NULL at the end */
    int fds[3];      /* its standard streams; -1: ours */
    int terminal;    /* pseudo terminal that controls it (slave end); -1: it has ours */
    sigset_t mask;   /* signals that were blocked when we started */
    pid_t pid;
    pid_t parent;    /* of a workload with `terminal`; 0: none, or it has been waited for */
    int reports;     /* pipe with `struct report`s; -1 without `terminal` */
};

/* Starts the workload. Returns 0, or the errno for which it could not be executed.
 *
 * With a pseudo terminal the workload needs a session of its own, and a parent in that session:
 * Ctrl-Z does not stop a process group without one. This parent is a fork of the supervisor, which
 * only waits. The workload is killed when its parent dies, and the parent when the supervisor dies. */
int start_workload(struct workload *w);

/* Processor time of all processes that this one has waited for, and that those have. */
struct cpu_time cpu_time_of_children(void);

/* Starts the watcher in a session of its own with `fds` as its descriptors 0, 1, … (/dev/null for a
 * -1), and no other open descriptor. Its signal mask is `mask`. Returns its pid, or -1. */
pid_t start_watcher(char **argv, const int *fds, int count, const sigset_t *mask);

#endif
