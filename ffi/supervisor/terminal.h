/* Terminals: ours, and the pseudo terminal that stands for it in the workload. */
#ifndef SERVICE_TERMINAL_H
#define SERVICE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* More than the longest line, with an end mark, that a terminal takes. */
#define TERMINAL_LINE 8192

/* A descriptor of its own for what `fd` refers to, which does not block and does not change how the
 * others' descriptors behave; a plain duplicate where that is not allowed. */
int terminal_reopen(int fd);

/* A pseudo terminal with the size and the modes of `like`. Returns 0, or -1. */
int terminal_pair(int like, int *master, int *slave);

/* Carries the size of `from` over to `to`. */
void terminal_copy_size(int from, int to);

/* Stops a terminal from changing what is written to it: another one will. */
void terminal_pass_output(int fd);

/* Whether we may read from and set the terminal now: not so in the background. */
bool terminal_is_ours(int fd);

/* Takes a line that was typed before terminal_raw(), or an end mark: beyond it, a mark would be a NUL.
 * Returns its length, 0 where there is none. A mark, which no byte stands for, is put as the
 * character that makes one. */
size_t terminal_typed(int fd, char line[TERMINAL_LINE]);

/* Lets every byte through, until terminal_restore(). */
void terminal_raw(int fd);
void terminal_restore(void);
bool terminal_is_raw(void);

#endif
