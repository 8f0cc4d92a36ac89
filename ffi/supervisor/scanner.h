/* The scanner: a thread of low priority that searches a flood of output for lines that may matter. It gets
 * the output through pipes of its own, whose pages are moved to it, not copied, and writes to the ring
 * until it has finished. */
#ifndef SERVICE_SCANNER_H
#define SERVICE_SCANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts the thread if there is none; it searches for the needles in `hex`. Returns whether it runs. From
 * then on the ring is the scanner's, until it has finished. */
bool scanner_start(const char *hex);

/* Moves `length` bytes of a stream from the pipe `fd` to the thread, or as many as there is room for.
 * Returns their number. */
size_t scanner_splice(uint32_t stream, int fd, size_t length);

/* Copies bytes of a stream to the thread, or as many as there is room for. Returns their number. */
size_t scanner_write(uint32_t stream, const char *bytes, size_t length);

/* Counts bytes for which there was no room. */
void scanner_lose(size_t length);

/* Whether all that it was given has been searched: then the ring is the caller's. */
bool scanner_has_finished(void);

/* Writes the last lines that were searched to the ring, once the scanner has finished: they may be the
 * last ones of the workload, and more of the last line may follow. */
void scanner_flush(void);

#endif
