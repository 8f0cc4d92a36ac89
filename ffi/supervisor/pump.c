/* Pumps: tee and splice of pages between pipes, a buffer for everything else. */
#define _GNU_SOURCE
#include "pump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "console.h"

/* Limit of the bytes that one step moves, so that no stream waits long for the others. */
#define STEP_MAX (1u << 20)

/* Capacity of the pipes in a flood: the bytes that arrive in PUMP_GATHER_NS at several GB/s. */
#define WIDE_PIPE (1 << 20)

static bool is_kind(int fd, mode_t kind) {
    struct stat st;
    return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

void pump_open(struct pump *p, int in, int out, uint32_t stream) {
    memset(p, 0, sizeof *p);
    p->in = in;
    p->out = out;
    p->stream = stream;
    p->tees = is_kind(in, S_IFIFO) && is_kind(out, S_IFIFO);
    p->sends = is_kind(out, S_IFSOCK);
    p->buffer = malloc(PUMP_BUFFER);
    if (!p->buffer) abort();
}

static void close_in(struct pump *p) {
    if (p->in >= 0) close(p->in);
    p->in = -1;
}

static void close_out(struct pump *p) {
    if (p->out >= 0 && !p->keeps_out) close(p->out);
    p->out = -1;
}

/* After the reader has closed: the workload's next write fails, as without the supervisor. */
static void close_both(struct pump *p) {
    p->from = p->to = 0;
    close_in(p);
    close_out(p);
}

bool pump_watch(const struct pump *p, struct pollfd watched[2]) {
    bool in = !p->blocked && !p->gathers, out = !p->gathers;
    /* poll() reports errors without being asked: a closed reader is noticed in any case. */
    watched[0] = (struct pollfd){in ? p->in : -1, POLLIN, 0};
    watched[1] = (struct pollfd){out ? p->out : -1, p->blocked ? POLLOUT : 0, 0};
    return p->gathers;
}

static size_t waiting(const struct pump *p) {
    int bytes = 0;
    return p->in < 0 || ioctl(p->in, FIONREAD, &bytes) < 0 ? 0 : (size_t)bytes;
}

bool pump_is_idle(const struct pump *p) {
    return p->from == p->to && waiting(p) == 0;
}

static void widen_pipe(int fd) {
    if (fcntl(fd, F_GETPIPE_SZ) < WIDE_PIPE) fcntl(fd, F_SETPIPE_SZ, WIDE_PIPE);
}

static void widen(struct pump *p) {
    if (p->wide) return;
    p->wide = true;
    widen_pipe(p->in);
    widen_pipe(p->out);
}

static bool move_pages(struct pump *p, bool hung_up) {
    bool recorded = p->stream != NO_RING;
    ssize_t n = recorded ? tee(p->in, p->out, STEP_MAX, SPLICE_F_NONBLOCK)
                         : splice(p->in, NULL, p->out, NULL, STEP_MAX, SPLICE_F_NONBLOCK);
    /* While `out` is full, tee() does not report the end of `in`. */
    if (n < 0 && errno == EAGAIN && hung_up && pump_is_idle(p)) n = 0;
    if (n > 0) {
        p->blocked = false;
        if (recorded) console_take(p->stream, p->in, (size_t)n);
        p->gathers = recorded && console_is_busy();
        if (p->gathers) widen(p);
        return true;
    }
    if (n == 0) {
        close_in(p);
        close_out(p);
        return true;
    }
    if (errno == EPIPE) close_both(p);
    /* Either end may have blocked: if there are bytes to read, it was `out`. */
    else if (errno == EAGAIN) p->blocked = !pump_is_idle(p);
    else if (errno != EINTR) p->tees = false;
    return false;
}

static bool fill(struct pump *p) {
    ssize_t n = read(p->in, p->buffer, p->crlf ? PUMP_BUFFER / 2 : PUMP_BUFFER);
    if (n > 0) {
        p->from = 0;
        p->to = (size_t)n;
        if (p->stream != NO_RING) console_write(p->stream, p->buffer, p->to);
        for (size_t i = p->to; p->crlf && i-- > 0;) {
            if (p->buffer[i] != '\n') continue;
            memmove(p->buffer + i + 1, p->buffer + i, p->to - i);
            p->buffer[i] = '\r';
            p->to++;
        }
        return true;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    /* The end of a pipe is 0, that of a pseudo terminal EIO. */
    close_in(p);
    return false;
}

static bool drain(struct pump *p) {
    bool moved = false;
    while (p->from < p->to) {
        const char *bytes = p->buffer + p->from;
        size_t length = p->to - p->from;
        ssize_t n = p->sends ? send(p->out, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL)
                             : write(p->out, bytes, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) {
            p->blocked = true;
            return moved;
        }
        if (n < 0) {
            close_both(p);
            return moved;
        }
        p->from += (size_t)n;
        moved = true;
    }
    p->blocked = false;
    return moved;
}

bool pump_move(struct pump *p, const struct pollfd watched[2]) {
    bool moved = false, gathered = p->gathers;
    p->gathers = false;
    if (p->out < 0) return false;
    if (watched[1].revents & (POLLERR | POLLNVAL)) {
        close_both(p);
        return false;
    }
    if (p->from < p->to) {
        if (watched[1].revents || !p->blocked) moved = drain(p);
    } else if (p->in >= 0 &&
               (gathered || watched[0].revents || (p->blocked && watched[1].revents))) {
        if (p->tees) return move_pages(p, watched[0].revents & POLLHUP);
        p->blocked = false;
        if (fill(p)) moved = drain(p) || true;
    }
    if (p->in < 0 && p->from == p->to) close_out(p);
    return moved;
}

void pump_put(struct pump *p, const char *bytes, size_t length) {
    memmove(p->buffer, p->buffer + p->from, p->to - p->from);
    p->to -= p->from;
    p->from = 0;
    if (length > PUMP_BUFFER - p->to) length = PUMP_BUFFER - p->to;
    memcpy(p->buffer + p->to, bytes, length);
    p->to += length;
    drain(p);
}
