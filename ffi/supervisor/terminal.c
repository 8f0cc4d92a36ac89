/* Terminals and pseudo terminals, by termios and ioctl. */
#define _GNU_SOURCE
#include "terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_reopen(int fd) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return own >= 0 ? own : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

int terminal_pair(int like, int *master, int *slave) {
    struct termios modes;
    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (*master < 0) return -1;
    int unlock = 0;
    *slave = -1;
    if (ioctl(*master, TIOCSPTLCK, &unlock) == 0)
        *slave = ioctl(*master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*slave < 0) {
        close(*master);
        return -1;
    }
    if (tcgetattr(like, &modes) == 0) tcsetattr(*slave, TCSANOW, &modes);
    terminal_copy_size(like, *master);
    return 0;
}

void terminal_copy_size(int from, int to) {
    struct winsize size, present;
    if (ioctl(from, TIOCGWINSZ, &size) < 0) return;
    if (ioctl(to, TIOCGWINSZ, &present) == 0 && memcmp(&size, &present, sizeof size) == 0) return;
    ioctl(to, TIOCSWINSZ, &size);
}

void terminal_pass_output(int fd) {
    struct termios modes;
    if (tcgetattr(fd, &modes) < 0 || !(modes.c_oflag & OPOST)) return;
    modes.c_oflag &= ~(tcflag_t)OPOST;
    tcsetattr(fd, TCSANOW, &modes);
}

bool terminal_is_ours(int fd) {
    pid_t foreground = tcgetpgrp(fd);
    /* Only the controlling terminal has a background. */
    return foreground < 0 || foreground == getpgrp();
}

static bool ends_line(char last, const struct termios *modes) {
    cc_t byte = (cc_t)last;
    return byte == '\n' || (byte != 0 && (byte == modes->c_cc[VEOL] || byte == modes->c_cc[VEOL2]));
}

size_t terminal_typed(int fd, char line[TERMINAL_LINE]) {
    struct termios modes;
    struct pollfd typed = {fd, POLLIN, 0};
    if (tcgetattr(fd, &modes) < 0 || !(modes.c_lflag & ICANON)) return 0;
    if (poll(&typed, 1, 0) <= 0 || typed.revents != POLLIN) return 0;
    ssize_t n = read(fd, line, TERMINAL_LINE - 1);
    if (n < 0) return 0;
    if (n == 0 || !ends_line(line[n - 1], &modes)) line[n++] = (char)modes.c_cc[VEOF];
    return (size_t)n;
}

void terminal_raw(struct terminal *t) {
    if (t->raw || tcgetattr(t->fd, &t->saved) < 0) return;
    struct termios modes = t->saved;
    cfmakeraw(&modes);
    t->raw = tcsetattr(t->fd, TCSADRAIN, &modes) == 0;
}

void terminal_restore(struct terminal *t) {
    if (t->raw) tcsetattr(t->fd, TCSADRAIN, &t->saved);
    t->raw = false;
}

void terminal_log(const struct terminal *t, const char *format, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    dprintf(2, "service-run: %s%s\n", text, t->raw ? "\r" : "");
    free(text);
}
