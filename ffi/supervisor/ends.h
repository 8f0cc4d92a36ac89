/* Ends and stops of the workload and the watcher, and the supervisor's exit, which repeats the
 * workload's. */
#ifndef SERVICE_ENDS_H
#define SERVICE_ENDS_H

#include "supervisor.h"

/* Reaps children that have ended: the workload, the watcher, and orphans. */
void reap(struct supervisor *s);

/* Tells the watcher of a signal that may end the workload, unless it has not read the last message yet. */
void tell_signal(struct supervisor *s, int signal_number);

/* Reads a wait status of a workload with its own session from `s->workload.reports`. */
void read_report(struct supervisor *s);

/* Milliseconds for which the exit still waits for the watcher; 0 once that time is over. */
int milliseconds_left(const struct supervisor *s);

/* Whether the supervisor may exit: the workload has ended, and the watcher too or its time is over. */
bool is_over(const struct supervisor *s);

/* Forks a process that delivers the remaining output, if there may be any: processes that the
 * workload has started can still write. */
void fork_delivery(struct supervisor *s);

/* Exits as the workload did: with its code, or by its signal. */
_Noreturn void exit_as_workload(const struct supervisor *s);

/* Prints why the command could not be executed. Returns the exit code that a shell has for it. */
int cannot_start(const struct supervisor *s, int error);

#endif
