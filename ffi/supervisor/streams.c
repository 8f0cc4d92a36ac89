/* The workload's standard streams: connected before its start, moved while it runs. */
#define _GNU_SOURCE
#include "streams.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "descriptors.h"
#include "ring.h"

/* Limit of the steps of streams_flush(): other processes may write without end. */
#define FLUSH_STEPS 256

/* ---- Connecting ---- */

/* Opens each standard stream that is closed: its number must not go to one of our descriptors. It is
 * closed again when the workload is executed. */
static void fill_closed(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR | O_CLOEXEC);
}

static bool same_file(int a, int b) {
    struct stat sa, sb;
    return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino && sa.st_rdev == sb.st_rdev;
}

/* If all three streams are one terminal: the workload gets a pseudo terminal of its own, and the
 * supervisor copies the bytes. */
static bool open_terminal(struct streams *s, struct workload *w) {
    int master, slave;
    if (!isatty(0) || !isatty(1) || !isatty(2)) return false;
    if (!same_file(0, 1) || !same_file(0, 2)) return false;
    if (terminal_pair(0, &master, &slave) < 0) return false;
    int fd = s->terminal.fd = terminal_reopen(0);
    for (int i = 0; i < 3; i++) w->fds[i] = slave;
    w->terminal = s->slaves[s->slave_count++] = slave;
    pump_open(&s->pumps[OUTPUT], master, fd, RING_TERMINAL);
    pump_open(&s->pumps[KEYBOARD], fd, fcntl(master, F_DUPFD_CLOEXEC, 3), NO_RING);
    s->pumps[OUTPUT].keeps_out = true;
    return true;
}

/* If an output is a terminal that other processes use too (in a pipeline): it stays the controlling
 * terminal, and the workload reads from it directly. Only its output passes through a pseudo
 * terminal. `both`: stdout and stderr are the same terminal. */
static bool open_output_terminal(struct streams *s, struct workload *w, int fd, bool both) {
    int master, slave;
    struct stat st;
    /* A pager or an editor at the end of a pipeline reads keys from the terminal that it writes to.
     * A pseudo terminal has no keys, and it would wait for ever: it gets the terminal
     * itself, and its output is not recorded. */
    if (both && fstat(0, &st) == 0 && !S_ISCHR(st.st_mode)) return false;
    if (!isatty(fd) || terminal_pair(fd, &master, &slave) < 0) return false;
    terminal_pass_output(slave);
    w->fds[fd] = s->slaves[s->slave_count++] = slave;
    uint32_t stream = both ? RING_TERMINAL : (uint32_t)fd;
    pump_open(&s->pumps[fd - 1], master, terminal_reopen(fd), stream);
    return true;
}

static void open_pipe(struct streams *s, struct workload *w, int fd) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return;
    descriptor_unblock(ends[0]);
    w->fds[fd] = ends[1];
    pump_open(&s->pumps[fd - 1], ends[0], fcntl(fd, F_DUPFD_CLOEXEC, 3), (uint32_t)fd);
}

/* Opens the regular file behind `fd` for the watcher. The workload may seek in its file, truncate it,
 * share it: no pump could pass its bytes on. */
static void open_file(struct streams *s, int fd) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    s->files[fd - 1] = open(path, O_RDONLY | O_CLOEXEC);
}

/* Offset at which writes to `fd`, a regular file, begin. */
static uint64_t write_offset(int fd) {
    struct stat st;
    if (!(fcntl(fd, F_GETFL) & O_APPEND)) return (uint64_t)lseek(fd, 0, SEEK_CUR);
    return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* Describes stdout and stderr to the reader of the ring. */
static void describe(struct streams *s, bool both) {
    for (int fd = 1; fd <= 2; fd++) {
        struct stat st;
        struct ring_stream *output = &s->outputs[fd - 1];
        int i = both ? 0 : fd - 1;
        bool read = s->pumps[i].in >= 0 || s->files[i] >= 0;
        bool file = fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode));
        output->state = s->files[fd - 1] >= 0 ? RING_FILE
                        : read                ? RING_READ
                        : isatty(fd)          ? RING_KEYS
                        : file                ? RING_REFUSED
                                              : RING_NOWHERE;
        if (output->state != RING_FILE) continue;
        output->from = write_offset(fd);
        /* Another descriptor of the same file has an offset of its own. */
        if (both && write_offset(2) < output->from) output->from = write_offset(2);
    }
}

void streams_open(struct streams *s, struct workload *w) {
    struct stat st;
    fill_closed();
    *s = (struct streams){.terminal.fd = -1, .inherited = descriptors_from(3)};
    for (int i = 0; i < PUMPS; i++) s->pumps[i].in = s->pumps[i].out = -1;
    s->files[0] = s->files[1] = -1;
    for (int i = 0; i < 3; i++) w->fds[i] = -1;
    w->terminal = -1;
    bool both = same_file(1, 2);
    if (open_terminal(s, w)) {
        describe(s, both);
        return;
    }
    for (int fd = 1; fd <= 2; fd++) {
        if (fd == 2 && both) {
            /* Two pumps to one destination would change the order of the output. */
            w->fds[2] = w->fds[1];
        } else if (!open_output_terminal(s, w, fd, both) && fstat(fd, &st) == 0) {
            if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) open_pipe(s, w, fd);
            if (S_ISREG(st.st_mode)) open_file(s, fd);
        }
    }
    describe(s, both);
}

/* stderr stays, for our own messages. */
static void hide_streams(void) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, 0);
    dup2(nothing, 1);
    close(nothing);
}

void streams_hand_over(struct streams *s, const struct workload *w) {
    descriptors_close(s->inherited);
    s->inherited = NULL;
    for (int i = 0; i < 2; i++)
        if (s->files[i] >= 0) close(s->files[i]);
    for (int fd = 1; fd <= 2; fd++) {
        bool shared = fd == 2 && w->fds[2] == w->fds[1];
        if (w->fds[fd] >= 0 && !shared && !isatty(w->fds[fd])) close(w->fds[fd]);
    }
    hide_streams();
}

/* ---- Moving ---- */

bool streams_move(struct streams *s, int timeout_ms, struct pollfd *others, nfds_t other_count) {
    struct pollfd watched[2 * PUMPS + STREAMS_OTHERS];
    bool moved = false, gathers = false, raw = s->terminal.raw;
    for (int i = 0; i < PUMPS; i++) gathers |= pump_watch(&s->pumps[i], &watched[2 * i]);
    if (!raw) watched[2 * KEYBOARD].fd = -1;
    for (nfds_t i = 0; i < other_count; i++) watched[2 * PUMPS + i] = others[i];
    struct timespec wait = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
    if (gathers && timeout_ms != 0) wait = (struct timespec){0, PUMP_GATHER_NS};
    ppoll(watched, 2 * PUMPS + other_count, gathers || timeout_ms >= 0 ? &wait : NULL, NULL);
    for (nfds_t i = 0; i < other_count; i++) others[i] = watched[2 * PUMPS + i];
    s->pumps[WATCHER].crlf = raw;
    for (int i = 0; i < PUMPS; i++)
        if (i != KEYBOARD || raw || s->pumps[i].from < s->pumps[i].to)
            moved |= pump_move(&s->pumps[i], &watched[2 * i]);
    return moved;
}

void streams_flush(struct streams *s) {
    for (int i = 0; i < FLUSH_STEPS && streams_move(s, 0, NULL, 0); i++) continue;
}

bool streams_are_delivered(const struct streams *s) {
    return pump_is_idle(&s->pumps[OUTPUT]) && pump_is_idle(&s->pumps[ERRORS]);
}

bool streams_have_ended(const struct streams *s) {
    return s->pumps[OUTPUT].in < 0 && s->pumps[ERRORS].in < 0 && streams_are_delivered(s);
}

void streams_deliver(struct streams *s) {
    if (s->terminal.fd >= 0) terminal_pass_output(s->pumps[OUTPUT].in);
    for (int i = KEYBOARD; i <= WATCHER; i++) s->pumps[i].in = s->pumps[i].out = -1;
    while (!streams_have_ended(s) && (s->pumps[OUTPUT].out >= 0 || s->pumps[ERRORS].out >= 0))
        streams_move(s, -1, NULL, 0);
}

/* ---- Terminals ---- */

void streams_take_foreground(struct streams *s) {
    char line[TERMINAL_LINE];
    struct terminal *t = &s->terminal;
    if (t->fd < 0 || t->raw || !terminal_is_ours(t->fd)) return;
    for (size_t n; (n = terminal_typed(t->fd, line)) > 0;) pump_put(&s->pumps[KEYBOARD], line, n);
    terminal_raw(t);
    terminal_copy_size(t->fd, s->pumps[OUTPUT].in);
}

void streams_copy_sizes(const struct streams *s) {
    for (int i = OUTPUT; i <= ERRORS; i++)
        if (s->pumps[i].in >= 0 && s->pumps[i].out >= 0 && isatty(s->pumps[i].out))
            terminal_copy_size(s->pumps[i].out, s->pumps[i].in);
}

void streams_end(struct streams *s) {
    while (s->slave_count > 0) close(s->slaves[--s->slave_count]);
    streams_flush(s);
    terminal_restore(&s->terminal);
}
