/* Internals of the fake CUPTI. FAKE_CUPTI is the version of the toolkit: 1108, 1201, 1204, 1208, 1300 or 1305. */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include "fake.h"

#if FAKE_CUPTI >= 1305
#define FAKE_CUPTI_VERSION 130500
#elif FAKE_CUPTI >= 1300
#define FAKE_CUPTI_VERSION 130000
#elif FAKE_CUPTI >= 1208
#define FAKE_CUPTI_VERSION 26
#elif FAKE_CUPTI >= 1204
#define FAKE_CUPTI_VERSION 22
#else
#define FAKE_CUPTI_VERSION 18 /* 12.1 returns the same */
#endif

enum {
    CUPTI_SUCCESS = 0,
    CUPTI_ERROR_INVALID_PARAMETER = 1,
    CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
    CUPTI_ERROR_NOT_INITIALIZED = 15,
    CUPTI_ERROR_MULTIPLE_SUBSCRIBERS = 39,
    CUPTI_ERROR_UNKNOWN = 999,
};
enum { ATTRIBUTE_ZEROED = 5, ATTRIBUTE_PER_THREAD = 9 };

typedef void (*buffer_requested)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*buffer_completed)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid);

/* Error of a call without a driver, or after its end. Notes a violation if the call is never allowed. */
int cupti_refuses(const char *function);
bool cupti_kind_enabled(uint32_t kind);

/* The driver, or NULL. */
extern const struct fake_driver *driver;

/* Notes that a function of the tool is entered or left. */
void callback_entered(void);
void callback_left(void);

/* Bytes of a record of a kind; 0: unknown. */
size_t record_size(uint32_t kind);
/* Writes a record, with garbage in all fields without a meaning. */
void record_write(uint8_t *at, const struct fake_operation *operation);
/* The end time of the record at `at`; clears it if it is later than `now`. */
void record_cut(uint8_t *at, uint64_t now);

void buffers_record(const struct fake_operation *operation);
int buffers_register(buffer_requested requested, buffer_completed completed);
/* Whether one tool has taken the buffers from another. */
bool buffers_disputed(void);
int buffers_flush(bool forced);
int buffers_next_record(uint8_t *buffer, size_t valid, void **record);
size_t buffers_dropped(void);
void buffers_drop(size_t records);
void buffers_settle(void);
void buffers_gate(bool closed);
void buffers_start(void);
void buffers_end(void);
extern _Atomic size_t attribute_zeroed, attribute_per_thread;

#endif
