/* Inside of the fake CUPTI. FAKE_CUPTI says which toolkit's: 1108, 1201, 1204, 1208 or 1300. */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include "fake.h"

#if FAKE_CUPTI >= 1300
#define FAKE_CUPTI_VERSION 130000
#elif FAKE_CUPTI >= 1208
#define FAKE_CUPTI_VERSION 26
#elif FAKE_CUPTI >= 1204
#define FAKE_CUPTI_VERSION 22
#else
#define FAKE_CUPTI_VERSION 18 /* 12.1 says so too */
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

/* Why a call cannot be: no driver, or it is gone. Notes a call where there must be none. */
int cupti_refuses(const char *function);
bool cupti_kind_enabled(uint32_t kind);

/* The driver, or NULL. */
extern const struct fake_driver *driver;

/* A tool's function is entered or left. */
void callback_entered(void);
void callback_left(void);

/* Bytes of a record of a kind; 0: unknown. */
size_t record_size(uint32_t kind);
/* Writes one, with garbage in all that has no meaning. */
void record_write(uint8_t *at, const struct fake_operation *operation);
/* The end of the one at `at`; clears it where it is later than `now`. */
void record_cut(uint8_t *at, uint64_t now);

void buffers_record(const struct fake_operation *operation);
int buffers_register(buffer_requested requested, buffer_completed completed);
/* Whether tools have taken the buffers from each other. */
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
