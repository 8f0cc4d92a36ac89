/* service-supervisor: runs one command as if it were that command.
 *
 *     service-supervisor [--set NAME=value]... [--watch N word...N] -- command [arguments]
 *
 * It is what the shell waits for: same streams, same signals, same end. Beside the command it starts
 * the watcher (the N words) and shows it the console through a ring in shared memory, but depends on
 * it for nothing. The watcher's stdin tells it "pid N" and at last "exit N" or "signal N". */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "processes.h"
#include "pump.h"
#include "ring.h"
#include "terminal.h"

/* How long the end waits for the watcher, whose last upload may take three seconds of it. */
#define PATIENCE_MS 4000
/* How often a file that the workload writes itself is looked at. */
#define FOLLOW_MS 100
/* How often we look whether the shell has put us to the foreground: it does not say so. */
#define FOREGROUND_MS 200

enum { OUTPUT, ERRORS, KEYBOARD, WATCHER, PUMPS };

static struct workload workload = {.terminal = -1, .reports = -1};
static struct pump pumps[PUMPS];
static struct follower followers[2] = {{.fd = -1}, {.fd = -1}};
static int tty = -1;         /* ours, where the workload has a session of its own */
static int slaves[2];        /* pseudo terminals, held open as long as the workload lives */
static int slave_count;
static int inherited[4096];  /* what we hold only for the workload */
static int inherited_count;
static int signals = -1;     /* where they arrive */
static sigset_t handled;
static pid_t watcher = -1;
static int status_pipe = -1; /* to the watcher */
static bool ended;
static bool hurried;         /* a signal after the end: leave at once */
static int ending;           /* wait status of the workload */
static uint64_t deadline_ms;

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void complain(const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    dprintf(2, "service-run: %s%s\n", text, terminal_is_raw() ? "\r" : "");
}

/* ---- Streams ---- */

static bool same_file(int a, int b) {
    struct stat sa, sb;
    return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino && sa.st_rdev == sb.st_rdev;
}

static void unblock(int fd) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* All three streams are one terminal: the workload gets one of its own, and ours becomes a wire. */
static bool take_terminal(void) {
    int master, slave;
    if (!isatty(0) || !isatty(1) || !isatty(2) || !same_file(0, 1) || !same_file(0, 2)) return false;
    if (terminal_pair(0, &master, &slave) < 0) return false;
    tty = terminal_reopen(0);
    for (int i = 0; i < 3; i++) workload.fds[i] = slave;
    workload.terminal = slaves[slave_count++] = slave;
    pump_open(&pumps[OUTPUT], master, tty, RING_TERMINAL);
    pump_open(&pumps[KEYBOARD], tty, fcntl(master, F_DUPFD_CLOEXEC, 3), NO_RING);
    pumps[OUTPUT].keeps_out = true;
    return true;
}

/* Part of a pipeline, others use the terminal too: it stays as it is, and the workload reads and is
 * controlled by it directly. Only what goes out to it passes through a pseudo terminal. */
static bool pass_terminal(int fd, bool both) {
    int master, slave;
    struct stat st;
    /* A pager or an editor at the end of a pipeline reads keys from where it writes to: from a
     * terminal that has none it would wait for ever. Then the terminal itself is passed on, unseen. */
    if (both && fstat(0, &st) == 0 && !S_ISCHR(st.st_mode)) return false;
    if (!isatty(fd) || terminal_pair(fd, &master, &slave) < 0) return false;
    terminal_pass_output(slave);
    workload.fds[fd] = slaves[slave_count++] = slave;
    pump_open(&pumps[fd - 1], master, terminal_reopen(fd), both ? RING_TERMINAL : (uint32_t)fd);
    return true;
}

static void pass_pipe(int fd) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return;
    unblock(ends[0]);
    workload.fds[fd] = ends[1];
    pump_open(&pumps[fd - 1], ends[0], fcntl(fd, F_DUPFD_CLOEXEC, 3), (uint32_t)fd);
}

/* Puts a pump between the workload and each stream that others read. A regular file stays the
 * workload's own: it may seek in it, truncate it, share it; we read behind it. */
static void open_streams(void) {
    struct stat st;
    for (int i = 0; i < PUMPS; i++) pumps[i].in = pumps[i].out = -1;
    for (int i = 0; i < 3; i++) workload.fds[i] = -1;
    if (take_terminal()) return;
    bool one = same_file(1, 2);
    for (int fd = 1; fd <= 2; fd++) {
        if (fd == 2 && one) {
            /* Two ways to one place stay one way, or what is written would change its order. */
            workload.fds[2] = workload.fds[1];
        } else if (!pass_terminal(fd, one) && fstat(fd, &st) == 0) {
            if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) pass_pipe(fd);
            if (S_ISREG(st.st_mode)) follow_open(&followers[fd - 1], fd, (uint32_t)fd);
        }
    }
}

static void list_inherited(void) {
    DIR *directory = opendir("/proc/self/fd");
    if (!directory) return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        int fd = atoi(entry->d_name);
        if (fd > 2 && fd != dirfd(directory) && inherited_count < 4096)
            inherited[inherited_count++] = fd;
    }
    closedir(directory);
}

/* Our own streams lead nowhere from here on; stderr stays, for what we may have to say. */
static void hide_streams(void) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, 0);
    dup2(nothing, 1);
    close(nothing);
}

/* The workload has them now. A second holder would keep a reader from seeing the end. */
static void let_go(void) {
    for (int i = 0; i < inherited_count; i++) close(inherited[i]);
    for (int fd = 1; fd <= 2; fd++) {
        bool shared = fd == 2 && workload.fds[2] == workload.fds[1];
        if (workload.fds[fd] >= 0 && !shared && !isatty(workload.fds[fd])) close(workload.fds[fd]);
    }
    hide_streams();
}

static void follow_all(void) {
    for (int i = 0; i < 2; i++) follow(&followers[i]);
}

/* Moves what there is, once; waits for it at most `timeout` milliseconds. */
static bool move(int timeout, struct pollfd *others, nfds_t other_count) {
    struct pollfd watched[2 * PUMPS + 2];
    bool moved = false, gathers = false;
    for (int i = 0; i < PUMPS; i++) gathers |= pump_watch(&pumps[i], &watched[2 * i]);
    if (!terminal_is_raw()) watched[2 * KEYBOARD].fd = -1;
    memcpy(watched + 2 * PUMPS, others, other_count * sizeof *others);
    struct timespec wait = {timeout / 1000, timeout % 1000 * 1000000L};
    if (gathers && timeout != 0) wait = (struct timespec){0, PUMP_GATHER_NS};
    ppoll(watched, 2 * PUMPS + other_count, gathers || timeout >= 0 ? &wait : NULL, NULL);
    memcpy(others, watched + 2 * PUMPS, other_count * sizeof *others);
    pumps[WATCHER].crlf = terminal_is_raw();
    for (int i = 0; i < PUMPS; i++)
        if (i != KEYBOARD || terminal_is_raw() || pumps[i].from < pumps[i].to)
            moved |= pump_move(&pumps[i], &watched[2 * i]);
    return moved;
}

/* Moves what the workload has written so far; what others go on writing would have no end. */
static void move_what_is_there(void) {
    for (int i = 0; i < 256 && move(0, NULL, 0); i++) continue;
}

/* ---- The terminal ---- */

static void take_foreground(void) {
    char line[TERMINAL_LINE];
    if (tty < 0 || ended || terminal_is_raw() || !terminal_is_ours(tty)) return;
    for (size_t n; (n = terminal_typed(tty, line)) > 0;) pump_put(&pumps[KEYBOARD], line, n);
    terminal_raw(tty);
    terminal_copy_size(tty, pumps[OUTPUT].in);
}

static void copy_sizes(void) {
    for (int i = OUTPUT; i <= ERRORS; i++)
        if (pumps[i].in >= 0 && pumps[i].out >= 0 && isatty(pumps[i].out))
            terminal_copy_size(pumps[i].out, pumps[i].in);
}

/* The workload has stopped: so do we, and when we go on, so does it. */
static void stop(int signal_number) {
    sigset_t only;
    struct timespec now = {0, 0};
    move_what_is_there();
    terminal_restore();
    sigemptyset(&only);
    sigaddset(&only, signal_number);
    raise(signal_number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    sigprocmask(SIG_BLOCK, &handled, NULL);
    sigemptyset(&only);
    sigaddset(&only, SIGCONT);
    while (sigtimedwait(&only, NULL, &now) > 0) continue;
    take_foreground();
    kill(-workload.pid, SIGCONT);
}

/* ---- Signals and ends ---- */

static void end(int status) {
    if (ended) return;
    /* What it wrote comes first, so that the watcher finds it in the ring. */
    for (int i = 0; i < slave_count; i++) close(slaves[i]);
    slave_count = 0;
    move_what_is_there();
    follow_all();
    terminal_restore();
    ended = true;
    ending = status;
    deadline_ms = now_ms() + PATIENCE_MS;
    if (WIFSIGNALED(status)) dprintf(status_pipe, "signal %d\n", WTERMSIG(status));
    else dprintf(status_pipe, "exit %d\n", WEXITSTATUS(status));
    close(status_pipe);
    status_pipe = -1;
}

static void reap(void) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid == watcher) {
            watcher = -1;
            if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
                complain("no profile, the workload runs without: the watcher exited with %d",
                         WEXITSTATUS(status));
        } else if (pid == workload.pid) {
            end(status);
        }
    }
}

static void pass_on(const struct signalfd_siginfo *signal) {
    int number = (int)signal->ssi_signo;
    /* From a terminal a signal reaches the whole group: the workload too, if it is in ours. */
    bool from_kernel = signal->ssi_code > 0;
    bool own_session = tty >= 0;
    if (number == SIGWINCH) {
        copy_sizes();
        /* Its own terminal has told it. One that is in our group may have looked too early. */
        if (from_kernel && (own_session || (pumps[OUTPUT].in < 0 && pumps[ERRORS].in < 0))) return;
        kill(workload.pid, number);
    } else if (number == SIGCONT && own_session) {
        take_foreground();
        kill(-workload.pid, number);
    } else if (!from_kernel) {
        kill(workload.pid, number);
    } else if (own_session) {
        kill(-workload.pid, number);
    }
}

static void handle_signals(void) {
    struct signalfd_siginfo signal;
    while (read(signals, &signal, sizeof signal) == (ssize_t)sizeof signal) {
        int number = (int)signal.ssi_signo;
        if (number == SIGCHLD) reap();
        else if (number == SIGTTIN || number == SIGTTOU) continue;
        else if (!ended) pass_on(&signal);
        else if (number != SIGWINCH && number != SIGCONT) hurried = true;
    }
}

static void block_signals(void) {
    static const int all[] = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,
                              SIGCONT, SIGWINCH, SIGCHLD, SIGTTIN, SIGTTOU};
    sigemptyset(&handled);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct sigaction action;
        /* What nohup or a shell had ignored stays ignored, by the workload too. */
        if (sigaction(all[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN && all[i] != SIGCHLD)
            continue;
        sigaddset(&handled, all[i]);
    }
    if (tty >= 0) sigaddset(&handled, SIGTSTP);
    sigprocmask(SIG_BLOCK, &handled, &workload.mask);
    signals = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
    signal(SIGPIPE, SIG_IGN);
}

static void hear_reports(void) {
    int status;
    ssize_t n = read(workload.reports, &status, sizeof status);
    if (n < 0 && errno == EINTR) return;
    if (n == (ssize_t)sizeof status && WIFSTOPPED(status)) {
        stop(WSTOPSIG(status));
        return;
    }
    /* No last word: its parent was killed, and so was it. */
    end(n == (ssize_t)sizeof status ? status : SIGKILL);
    close(workload.reports);
    workload.reports = -1;
}

/* ---- The run ---- */

static bool all_delivered(void) {
    return pump_is_idle(&pumps[OUTPUT]) && pump_is_idle(&pumps[ERRORS]);
}

static bool is_over(void) {
    if (!ended) return false;
    if (hurried) return true;
    /* What the first process leaves behind ends with it. */
    if (getpid() == 1 && !all_delivered()) return false;
    return watcher < 0 || now_ms() >= deadline_ms;
}

static int patience(void) {
    int timeout = -1;
    if (tty >= 0 && !ended && !terminal_is_raw()) timeout = FOREGROUND_MS;
    if (followers[0].fd >= 0 || followers[1].fd >= 0) timeout = FOLLOW_MS;
    if (ended) {
        uint64_t now = now_ms();
        int left = now < deadline_ms ? (int)(deadline_ms - now) : FOLLOW_MS;
        if (timeout < 0 || left < timeout) timeout = left;
    }
    return timeout;
}

static void run(void) {
    take_foreground();
    while (!is_over()) {
        struct pollfd others[2] = {{signals, POLLIN, 0}, {workload.reports, POLLIN, 0}};
        move(patience(), others, 2);
        if (others[0].revents) handle_signals();
        if (others[1].revents) hear_reports();
        if (!ended) follow_all();
        if (!ended && !terminal_is_raw()) take_foreground();
    }
}

/* What the workload has started may still write, or what was written may still wait for its reader.
 * We leave, as the workload has; a process of its own goes on until the last of it is delivered. */
static void leave_the_rest(void) {
    if (pumps[OUTPUT].in < 0 && pumps[ERRORS].in < 0 && all_delivered()) return;
    if (fork() != 0) return;
    setsid();
    close(signals);
    dup2(0, 2);
    if (tty >= 0) terminal_pass_output(pumps[OUTPUT].in);
    pumps[WATCHER].in = pumps[WATCHER].out = pumps[KEYBOARD].in = pumps[KEYBOARD].out = -1;
    while (pumps[OUTPUT].out >= 0 || pumps[ERRORS].out >= 0) {
        if (pumps[OUTPUT].in < 0 && pumps[ERRORS].in < 0 && all_delivered()) break;
        move(-1, NULL, 0);
    }
    _exit(0);
}

/* The end tells whether a core was written, and the kernel alone says so: by writing one. Ours is a
 * page in a directory of its own, which a last process removes; the workload's is where it belongs.
 * Not so where cores go to a program or to one place: there ours would be one too many. */
static bool leave_a_core(void) {
    char pattern[256] = "", directory[] = "/tmp/service-core-XXXXXX";
    int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC), gone[2];
    if (fd < 0 || read(fd, pattern, sizeof pattern - 1) <= 0) return false;
    close(fd);
    if (strpbrk(pattern, "|/@") || !mkdtemp(directory) || pipe2(gone, O_CLOEXEC) < 0) return false;
    if (fork() == 0) {
        close(gone[1]);
        (void)!read(gone[0], pattern, 1); /* ends with us */
        DIR *left = opendir(directory);
        for (struct dirent *entry; left && (entry = readdir(left));)
            unlinkat(dirfd(left), entry->d_name, 0);
        rmdir(directory);
        _exit(0);
    }
    struct rlimit page = {4096, 4096};
    return chdir(directory) == 0 && setrlimit(RLIMIT_CORE, &page) == 0;
}

/* Ends as the workload did. */
static void leave(void) {
    if (!WIFSIGNALED(ending)) exit(WEXITSTATUS(ending));
    int number = WTERMSIG(ending);
    struct rlimit none = {0, 0};
    sigset_t only;
    if (!WCOREDUMP(ending) || !leave_a_core()) setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    exit(128 + number); /* the first process of a namespace does not die of its own signals */
}

static void open_watcher(char **argv, int ring) {
    int status[2], errors[2];
    if (!argv) return;
    if (pipe2(status, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0) return;
    watcher = start_watcher(argv, status[0], errors[1], ring, &workload.mask);
    if (watcher < 0) complain("no profile, the workload runs without: %s", strerror(errno));
    close(status[0]);
    close(errors[1]);
    unblock(errors[0]);
    status_pipe = status[1];
    dprintf(status_pipe, "pid %d\n", workload.pid);
    pump_open(&pumps[WATCHER], errors[0], tty >= 0 ? tty : 2, NO_RING);
    pumps[WATCHER].keeps_out = true;
}

static int cannot_start(const char *command, int error) {
    struct stat st;
    bool there = strchr(command, '/') && stat(command, &st) == 0;
    bool missing = error == ENOENT && !there;
    const char *why = error == EACCES ? "permission denied" : strerror(error);
    complain("%s: %s", command, missing ? "command not found" : why);
    return missing ? 127 : 126;
}

int main(int argc, char **argv) {
    char *set[64] = {NULL};
    char **watch = NULL;
    int i = 1;
    for (int sets = 0; i + 1 < argc && strcmp(argv[i], "--") != 0;) {
        if (strcmp(argv[i], "--set") == 0 && sets < 63) {
            set[sets++] = argv[i + 1];
            i += 2;
        } else if (strcmp(argv[i], "--watch") == 0 && i + 2 + atoi(argv[i + 1]) < argc) {
            int count = atoi(argv[i + 1]);
            watch = memmove(argv + i + 1, argv + i + 2, (size_t)count * sizeof *argv);
            watch[count] = NULL;
            i += 2 + count;
        } else {
            break;
        }
    }
    if (i + 1 >= argc || strcmp(argv[i], "--") != 0) {
        complain("usage: service-supervisor [--set NAME=value]... [--watch N word...] -- command");
        return 2;
    }
    workload.argv = argv + i + 1;
    workload.set = set;
    list_inherited();
    int ring = ring_create();
    open_streams();
    block_signals();
    int error = start_workload(&workload);
    if (error) return cannot_start(workload.argv[0], error);
    open_watcher(watch, ring);
    if (ring >= 0) close(ring);
    let_go();
    run();
    leave_the_rest();
    leave();
}
