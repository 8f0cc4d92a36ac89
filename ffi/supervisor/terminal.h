/* Terminals: ours, and the pseudo terminal that stands for it in the workload. */
#ifndef SERVICE_TERMINAL_H
#define SERVICE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/* More than the longest line, with an end mark, that a terminal accepts. */
#define TERMINAL_LINE 8192

/* The terminal that we were started on. */
struct terminal {
    int fd;               /* -1: none, or the workload uses it directly */
    bool raw;             /* in raw mode, set by us */
    struct termios saved; /* its modes before that */
};

/* Opens the terminal behind `fd` once more: the new descriptor does not block, and other processes'
 * descriptors stay as they are. A duplicate of `fd` if opening is not allowed. */
int terminal_reopen(int fd);

/* Makes a pseudo terminal with the size and the modes of `like`. Returns 0, or -1. */
int terminal_pair(int like, int *master, int *slave);

/* Copies the size of the terminal `from` to `to`. */
void terminal_copy_size(int from, int to);

/* Turns off output processing (newlines, tabs): the terminal behind this one does it. */
void terminal_pass_output(int fd);

/* Whether we may read from and set the terminal now: a process in the background may not. */
bool terminal_is_ours(int fd);

/* Reads a line, or an end mark (Ctrl-D), that was typed before terminal_raw(): in raw mode an end
 * mark would be read as a NUL. An end mark is returned as the character that makes one. Returns the
 * length; 0: nothing was typed. */
size_t terminal_typed(int fd, char line[TERMINAL_LINE]);

/* Puts the terminal in raw mode: every byte passes unchanged. */
void terminal_raw(struct terminal *t);

/* Restores the modes from before terminal_raw(). */
void terminal_restore(struct terminal *t);

/* Writes a message for the user to stderr, as one line that begins with `service-run:`. */
void terminal_log(const struct terminal *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
