/* The console: the workload's output on its way to the ring. Little output goes there whole. In a flood,
 * more than the ring's reader can follow, a thread of low priority searches it for lines that may matter,
 * and only those go to the ring. What that thread cannot follow either is counted.
 *
 * No function here waits for the thread but console_settle(). */
#ifndef SERVICE_CONSOLE_H
#define SERVICE_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Has the thread search for the needles that follow each other in `hex`. Without it, or without memory
 * for it, floods go to the ring whole, which keeps their newest bytes. */
void console_set_needles(const char *hex);

/* Takes `length` bytes of a stream out of the pipe `fd`; tee() has passed them on. */
void console_take(uint32_t stream, int fd, size_t length);

/* Takes bytes of a stream. */
void console_write(uint32_t stream, const char *bytes, size_t length);

/* Whether so much is written that fewer, larger steps are better. */
bool console_is_busy(void);

/* Waits until the thread has searched all that it was given, at most `timeout_ms`. */
void console_settle(int timeout_ms);

#endif
