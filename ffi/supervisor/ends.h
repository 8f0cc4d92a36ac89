/* Ends and stops: those of the workload and the watcher, and ours, which is like the workload's. */
#ifndef SERVICE_ENDS_H
#define SERVICE_ENDS_H

#include "supervisor.h"

/* Collects children that have ended: the workload, the watcher, orphans where we are process 1. */
void reap(struct supervisor *s);

/* Reads a wait status of a workload with its own session from `s->workload.reports`. */
void read_report(struct supervisor *s);

/* Milliseconds until the end no longer waits for the watcher; 0 once that time is over. */
int milliseconds_left(const struct supervisor *s);

/* Whether we may exit: the workload has ended, and the watcher too or its time is over. */
bool is_over(const struct supervisor *s);

/* Leaves a process that delivers the output which is still on its way, if there is any: processes
 * that the workload has started may go on writing. */
void leave_the_rest(struct supervisor *s);

/* Exits as the workload did: with its code, or by its signal. */
_Noreturn void exit_as_workload(const struct supervisor *s);

/* Says why the command could not be executed. Returns the exit code that a shell has for that. */
int cannot_start(const struct supervisor *s, int error);

#endif
