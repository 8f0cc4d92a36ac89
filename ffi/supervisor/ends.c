/* Ends and stops of the workload: reported to the watcher, and repeated by the supervisor. */
#define _GNU_SOURCE
#include "ends.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "console.h"

/* Milliseconds that the exit waits for the watcher, whose last upload may take three seconds. */
#define WATCHER_END_MS 4000

/* Milliseconds that the end waits for the search of a flood: few, unless all processors are busy. */
#define SETTLE_MS 1000

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static sigset_t only(int signal_number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal_number);
    return set;
}

/* ---- The workload and the watcher ---- */

/* Processor time of all that has been waited for since our start. `by_parent` is what the workload's
 * parent has waited for, which is not ours before we have waited for that parent. */
static struct cpu_time waited_for(const struct supervisor *s, struct cpu_time by_parent) {
    struct cpu_time here = cpu_time_of_children();
    if (s->workload.parent == 0) by_parent = (struct cpu_time){0};
    return (struct cpu_time){here.user_us - s->before.user_us + by_parent.user_us,
                             here.system_us - s->before.system_us + by_parent.system_us};
}

static void tell_end(struct supervisor *s, struct cpu_time used) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    bool killed = WIFSIGNALED(s->wait_status);
    int number = killed ? WTERMSIG(s->wait_status) : WEXITSTATUS(s->wait_status);
    s->told += dprintf(s->watcher_stdin, "%s %d %lld%09ld %lld %lld\n",
                       killed ? "signal" : "exit", number, (long long)now.tv_sec, now.tv_nsec,
                       (long long)used.user_us, (long long)used.system_us);
}

void tell_signal(struct supervisor *s, int signal_number) {
    int unread;
    if (ioctl(s->watcher_stdin, FIONREAD, &unread) < 0 || unread > 0) return;
    int written = dprintf(s->watcher_stdin, "sent %d\n", signal_number);
    if (written > 0) s->told += written;
}

/* Whether the watcher has yet to read its first line: then it reads all at once, and begins nothing
 * that takes time to end. */
static bool has_read_nothing(const struct supervisor *s) {
    int unread;
    return ioctl(s->watcher_stdin, FIONREAD, &unread) == 0 && unread == s->told;
}

/* The workload has ended; its parent, if it has one of its own, has reported `by_parent`. */
static void end(struct supervisor *s, int status, struct cpu_time by_parent) {
    if (s->ended) return;
    /* First its output, so that the watcher finds all of it in the ring. */
    streams_end(&s->streams);
    console_settle(SETTLE_MS);
    s->ended = true;
    s->wait_status = status;
    tell_end(s, waited_for(s, by_parent));
    s->deadline_ms = now_ms() + (s->leaves && has_read_nothing(s) ? 0 : WATCHER_END_MS);
    close(s->watcher_stdin);
    s->watcher_stdin = -1;
}

/* The workload has stopped: stops this process too, and continues the workload when this process is
 * continued. */
static void stop(struct supervisor *s, int signal_number) {
    sigset_t set = only(signal_number);
    streams_flush(&s->streams);
    terminal_restore(&s->streams.terminal);
    raise(signal_number);
    sigprocmask(SIG_UNBLOCK, &set, NULL); /* this process stops here */
    sigprocmask(SIG_BLOCK, &s->handled, NULL);
    set = only(SIGCONT);
    struct timespec none = {0, 0};
    while (sigtimedwait(&set, NULL, &none) > 0) continue;
    if (!s->ended) streams_take_foreground(&s->streams);
    kill(-s->workload.pid, SIGCONT);
}

void reap(struct supervisor *s) {
    int status, workload_status = 0;
    bool ended = false;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid == s->watcher) {
            s->watcher = -1;
            if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
                terminal_log(&s->streams.terminal,
                             "no profile, the workload runs without one: the watcher exited with %d",
                             WEXITSTATUS(status));
        } else if (pid == s->workload.parent) {
            s->workload.parent = 0;
        } else if (pid == s->workload.pid) {
            workload_status = status;
            ended = true;
        }
    }
    /* After all orphans that have ended too: their processor time is known then. */
    if (ended) end(s, workload_status, (struct cpu_time){0});
}

void read_report(struct supervisor *s) {
    struct report report;
    ssize_t n = read(s->workload.reports, &report, sizeof report);
    if (n < 0 && errno == EINTR) return;
    bool complete = n == (ssize_t)sizeof report;
    if (complete && WIFSTOPPED(report.status)) {
        stop(s, WSTOPSIG(report.status));
        return;
    }
    reap(s);
    /* Closed without a report of the end: the workload's parent was killed, and so was the
     * workload. */
    if (!complete) report = (struct report){.status = SIGKILL};
    end(s, report.status, report.used);
    close(s->workload.reports);
    s->workload.reports = -1;
}

/* ---- The supervisor's exit ---- */

int milliseconds_left(const struct supervisor *s) {
    uint64_t now = now_ms();
    return now < s->deadline_ms ? (int)(s->deadline_ms - now) : 0;
}

bool is_over(const struct supervisor *s) {
    if (!s->ended) return false;
    if (s->hurried) return true;
    /* With process 1 its whole namespace ends, and a process left behind too. */
    if (getpid() == 1 && !streams_are_delivered(&s->streams)) return false;
    return s->watcher < 0 || milliseconds_left(s) == 0;
}

void fork_delivery(struct supervisor *s) {
    if (streams_have_ended(&s->streams)) return;
    if (fork() != 0) return;
    setsid();
    close(s->signals);
    dup2(0, 2); /* /dev/null: a reader of stderr must see the end of file */
    streams_deliver(&s->streams);
    _exit(0);
}

static void remove_directory(const char *path) {
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        unlinkat(dirfd(directory), entry->d_name, 0);
    rmdir(path);
}

/* Prepares for a core file of this process. If the workload dumped core, our wait status must say so
 * too, and only the kernel sets that flag, when it writes a core file. Ours has one page, in a
 * directory of its own that a forked process removes; the workload's stays where it is. Returns
 * false if core files go to a program or to one fixed path: a second one would replace the first. */
static bool prepare_core(void) {
    char pattern[256] = "", directory[] = "/tmp/service-core-XXXXXX";
    int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC), ended[2];
    if (fd < 0 || read(fd, pattern, sizeof pattern - 1) <= 0) return false;
    close(fd);
    if (strpbrk(pattern, "|/@") || !mkdtemp(directory) || pipe2(ended, O_CLOEXEC) < 0) return false;
    if (fork() == 0) {
        close(ended[1]);
        (void)!read(ended[0], pattern, 1); /* returns when we have ended */
        remove_directory(directory);
        _exit(0);
    }
    struct rlimit page = {4096, 4096};
    return chdir(directory) == 0 && setrlimit(RLIMIT_CORE, &page) == 0;
}

_Noreturn void exit_as_workload(const struct supervisor *s) {
    int status = s->wait_status;
    if (!WIFSIGNALED(status)) exit(WEXITSTATUS(status));
    int number = WTERMSIG(status);
    sigset_t set = only(number);
    struct rlimit none = {0, 0};
    if (!WCOREDUMP(status) || !prepare_core()) setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    exit(128 + number); /* process 1 of a namespace does not die of its own signals */
}

int cannot_start(const struct supervisor *s, int error) {
    const char *command = s->workload.argv[0];
    struct stat st;
    bool exists = strchr(command, '/') && stat(command, &st) == 0;
    bool missing = error == ENOENT && !exists;
    const char *reason = error == EACCES ? "permission denied" : strerror(error);
    terminal_log(&s->streams.terminal, "%s: %s", command, missing ? "command not found" : reason);
    return missing ? 127 : 126;
}
