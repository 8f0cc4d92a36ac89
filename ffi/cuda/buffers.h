/* Activity buffers, which CUPTI writes records to: a fixed pool, lent and returned without locks.
 *
 * CUPTI asks for buffers on the application's threads and returns them on any thread. Returned buffers
 * wait in a queue for the collector's thread, which reads them, zeroes them and makes them free. If none
 * is free CUPTI gets none, and counts what it loses. Before 12.9 it would crash, and gets a small one that is never
 * read.
 *
 * Memory that was used is used again first. What was not needed for a while is given back to the system. */
#ifndef SERVICE_BUFFERS_H
#define SERVICE_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_COUNT 30u
/* The least, and the most: each is as large as the rate of records needs. */
#define BUFFER_LEAST (128u << 10)
#define BUFFER_SIZE (512u << 10)
/* Of those that are never read. */
#define DISCARD_COUNT 16u
#define DISCARD_SIZE (32u << 10)

struct buffer {
    uint8_t *data;
    size_t valid; /* bytes of records */
    bool first;   /* whether it was returned after the buffers before it were taken */
};

/* Reserves the memory; a buffer that is never used is never resident. `may_decline`: CUPTI does not crash if it
 * gets no buffer. */
bool buffers_open(bool may_decline);

/* CUPTI's two callbacks. Memory that is not of the pool, or not lent, is ignored. */
void buffers_request(uint8_t **buffer, size_t *size, size_t *max_records);
void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* The five below are for the collector's thread alone. */

/* Takes the oldest returned buffer. Returns whether there was one. */
bool buffers_take(struct buffer *buffer);

/* Zeroes the used part of a taken buffer, and makes it free. */
void buffers_recycle(struct buffer buffer);

/* Gives memory back that was not needed since the last call. To be called once a second. */
void buffers_trim(void);

/* Begins a new era: buffers of earlier ones may never be returned, as another client took the callbacks. */
void buffers_lose(void);

/* Makes free the buffers of earlier eras that were not returned. */
void buffers_reclaim(void);

/* Number of buffers that are lent. */
uint32_t buffers_lent(void);

/* Count of requests and returns. */
uint64_t buffers_activity(void);

/* Bytes of the records that went to buffers that are never read. */
uint64_t buffers_lost_bytes(void);

/* From now on CUPTI gets no buffers that are read. */
void buffers_close(void);

/* Closes, and from now on returned buffers are ignored. */
void buffers_end(void);

#endif
