/* Activity buffers, which CUPTI writes records to: a fixed pool, lent and returned without locks.
 *
 * CUPTI asks for buffers on the application's threads and returns them on any thread. Returned buffers
 * wait in a queue for the collector's thread, which reads them, zeroes them and makes them free. If none
 * is free CUPTI gets a shared buffer that is never read: before 12.9 it crashes if it is given none. */
#ifndef SERVICE_BUFFERS_H
#define SERVICE_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_COUNT 30u
#define BUFFER_SIZE (512u << 10)

struct buffer {
    uint8_t *data;
    size_t valid; /* bytes of records */
};

/* Reserves the memory; a buffer that is never used is never resident. */
bool buffers_open(void);

/* CUPTI's two callbacks. Memory that is not of the pool, or not lent, is ignored. */
void buffers_request(uint8_t **buffer, size_t *size, size_t *max_records);
void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* The four below are for the collector's thread alone. */

/* Takes the oldest returned buffer. Returns whether there was one. */
bool buffers_take(struct buffer *buffer);

/* Zeroes the used part of a taken buffer, and makes it free. */
void buffers_recycle(struct buffer buffer);

/* Begins a new era: buffers of earlier ones may never be returned, as another client took the callbacks. */
void buffers_lose(void);

/* Makes free the buffers of earlier eras that were not returned. */
void buffers_reclaim(void);

/* Number of buffers that are lent. */
uint32_t buffers_lent(void);

/* Count of requests and returns. */
uint64_t buffers_activity(void);

/* Bytes of the records in the shared buffer so far. */
uint64_t buffers_lost_bytes(void);

/* From now on CUPTI gets the shared buffer only. */
void buffers_close(void);

/* Closes, and from now on returned buffers are ignored. */
void buffers_end(void);

#endif
