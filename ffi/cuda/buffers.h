/* The memory that CUPTI writes records to: a fixed pool, handed out and taken back without locks.
 *
 * CUPTI asks on the application's threads and returns on whichever thread it likes. What it returns
 * waits in a queue for the writer's thread, which empties it, zeroes it and puts it back. Where no
 * buffer is free CUPTI gets one that all share and nobody reads: declining crashes it before 12.9. */
#ifndef SERVICE_BUFFERS_H
#define SERVICE_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_COUNT 30u
#define BUFFER_SIZE (512u << 10)
/* A kernel's record of CUPTI 12; later ones are a few bytes longer. How many were lost is told by it. */
#define BUFFER_RECORD 208u

struct buffer {
    uint8_t *data;
    size_t valid; /* bytes of records */
};

/* Reserves the memory; what is never used is never resident. */
bool buffers_open(void);

/* CUPTI's two callbacks. Memory that is not ours, or not lent, is left alone. */
void buffers_request(uint8_t **buffer, size_t *size, size_t *max_records);
void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* The four below: the writer's thread alone. */

/* The oldest buffer that came back and was not taken yet. */
bool buffers_take(struct buffer *buffer);

/* Zeroes what was used of a taken one, and makes it free. */
void buffers_recycle(struct buffer buffer);

/* What is lent now may not come back, as another client took the callbacks: begins a new era, */
void buffers_lose(void);

/* in which what was lent before, and did not come back, is made free. */
void buffers_reclaim(void);

/* How many are lent. */
uint32_t buffers_lent(void);

/* Grows with every request and every return. */
uint64_t buffers_activity(void);

/* Records that went to the shared buffer: its bytes over the size of a kernel's record, an estimate. */
uint64_t buffers_dropped(void);

/* From now on CUPTI gets the shared buffer only, */
void buffers_close(void);

/* and what it returns is left alone. */
void buffers_end(void);

#endif
