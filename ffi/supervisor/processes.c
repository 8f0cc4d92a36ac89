/* Starting processes: fork, the child's descriptors and signals, exec. */
#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors.h"

static void die_with_parent(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
}

/* Runs a script without `#!` with /bin/sh: glibc's execvp does that itself, musl's does not. */
static void execute_script(char **argv) {
    char path[PATH_MAX];
    const char *rest = strchr(argv[0], '/') ? NULL : getenv("PATH");
    snprintf(path, sizeof path, "%s", argv[0]);
    while (rest) {
        int length = (int)strcspn(rest, ":");
        snprintf(path, sizeof path, "%.*s%s%s", length, rest, length ? "/" : "./", argv[0]);
        if (access(path, X_OK) == 0) break;
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    size_t count = 0;
    while (argv[count]) count++;
    char **words = malloc((count + 2) * sizeof *words);
    if (!words) return;
    words[0] = "/bin/sh";
    words[1] = path;
    memcpy(words + 2, argv + 1, count * sizeof *words);
    execv(words[0], words);
}

/* Replaces this process by the command. On failure, writes the errno to `failed` and exits. */
static void execute(const struct workload *w, int failed) {
    for (int i = 0; i < 3; i++)
        if (w->fds[i] >= 0) dup2(w->fds[i], i);
    for (char **set = w->set; *set; set++) putenv(*set);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &w->mask, NULL);
    execvp(w->argv[0], w->argv);
    int error = errno;
    if (error == ENOEXEC) execute_script(w->argv);
    (void)!write(failed, &error, sizeof error);
    _exit(127);
}

#define KEPT_MAX 8

/* Keeps `fds`, at most KEPT_MAX, as the descriptors 0, 1, … and closes all others. */
static void keep_only(const int *fds, int count) {
    int high[KEPT_MAX];
    for (int i = 0; i < count; i++) high[i] = fcntl(fds[i], F_DUPFD, 16);
    for (int i = 0; i < count; i++) dup2(high[i], i);
    descriptors_close_from(count);
}

struct cpu_time cpu_time_of_children(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_CHILDREN, &usage) != 0) return (struct cpu_time){0};
    const struct timeval *user = &usage.ru_utime, *system = &usage.ru_stime;
    return (struct cpu_time){(int64_t)user->tv_sec * 1000000 + user->tv_usec,
                             (int64_t)system->tv_sec * 1000000 + system->tv_usec};
}

/* Process of the workload's parent in a session of its own: starts the workload and writes to
 * `reports` its pid, or the negative errno of a failed fork, and then a report of each status. */
static void run_parent(const struct workload *w, int reports, int failed) {
    setsid();
    ioctl(w->terminal, TIOCSCTTY, 0);
    pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        die_with_parent(self);
        setpgid(0, 0);
        tcsetpgrp(w->terminal, getpid());
        execute(w, failed);
    }
    if (pid > 0) setpgid(pid, pid);
    int started = pid < 0 ? -errno : pid;
    int kept[] = {w->terminal, reports};
    (void)!write(reports, &started, sizeof started);
    keep_only(kept, 2);
    struct report report = {0};
    while (pid > 0 && waitpid(pid, &report.status, WUNTRACED) == pid) {
        bool ended = !WIFSTOPPED(report.status);
        /* The end of a session sends SIGHUP to its foreground group: it must be the group of this
         * process, not one in which processes of the workload still run. */
        if (ended) tcsetpgrp(0, self);
        if (ended) report.used = cpu_time_of_children();
        (void)!write(1, &report, sizeof report);
        if (ended) break;
    }
    _exit(0);
}

int start_workload(struct workload *w) {
    int failed[2], reports[2] = {-1, -1}, error = 0;
    if (pipe2(failed, O_CLOEXEC) < 0) return errno;
    if (w->terminal >= 0 && pipe2(reports, O_CLOEXEC) < 0) return errno;
    pid_t self = getpid(), pid = fork();
    if (pid < 0) return errno;
    if (pid == 0) {
        die_with_parent(self);
        if (w->terminal < 0) execute(w, failed[1]);
        run_parent(w, reports[1], failed[1]);
    }
    close(failed[1]);
    w->pid = pid;
    w->reports = reports[0];
    if (w->terminal >= 0) {
        close(reports[1]);
        int started = -EAGAIN;
        w->parent = pid;
        (void)!read(w->reports, &started, sizeof started);
        if (started < 0) return -started;
        w->pid = started;
    }
    if (read(failed[0], &error, sizeof error) != (ssize_t)sizeof error) error = 0;
    close(failed[0]);
    return error;
}

pid_t start_watcher(char **argv, const int *fds, int count, const sigset_t *mask) {
    pid_t pid = fork();
    if (pid != 0) return pid;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC), kept[KEPT_MAX];
    for (int i = 0; i < count; i++) kept[i] = fds[i] >= 0 ? fds[i] : nothing;
    setsid();
    keep_only(kept, count);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(argv[0], argv);
    dprintf(2, "service-run: no profile, the workload runs without one: %s: %s\n", argv[0],
            strerror(errno));
    _exit(0);
}
