/* Strict CUPTI: what its files share. */
#ifndef CUPTI_STRICT_H
#define CUPTI_STRICT_H

#include "strict.h"

typedef int CUptiResult;
enum {
    CUPTI_SUCCESS = 0,
    CUPTI_ERROR_INVALID_PARAMETER = 1,
    CUPTI_ERROR_INVALID_OPERATION = 7,
    CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT = 10,
    CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
    CUPTI_ERROR_NOT_COMPATIBLE = 14,
    CUPTI_ERROR_NOT_INITIALIZED = 15,
    CUPTI_ERROR_INVALID_KIND = 21,
    CUPTI_ERROR_NOT_SUPPORTED = 27,
    CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
    CUPTI_ERROR_UNKNOWN = 999,
};

typedef void request_function(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void complete_function(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                               size_t valid);
typedef void callback_function(void *user, int domain, uint32_t cbid, const void *data);

/* cupti_api.c: attributes, and what is enabled. */
extern const struct strict_driver *cupti_driver;
extern _Atomic uint8_t cupti_kinds[KINDS], cupti_calls[CBIDS], cupti_resources[RESOURCES];
extern _Atomic uint8_t cupti_zeroed, cupti_per_thread;
/* Error with which the function has to answer, or 0. */
CUptiResult cupti_enter(const char *function, int argument);
bool cupti_any_enabled(void);
uint64_t cupti_now(void);
enum strict_inside cupti_inside(void);
/* Sets what the thread is inside of; returns what it was inside of before. */
enum strict_inside cupti_set_inside(enum strict_inside);

/* cupti_activity.c: records that the profiler was given. */
uint64_t cupti_records_read(void);

/* cupti_callbacks.c */
int cupti_subscribers(void);
void cupti_tell_call(struct strict_call *, int site);
void cupti_tell_resource(uint32_t cbid, struct strict_context *, void *handle, void *descriptor);

/* cupti_layout.c: records in memory. */
size_t cupti_record_size(uint32_t kind);
void cupti_write_record(uint8_t *record, const struct strict_operation *, uint64_t end_ns);

/* cupti_lanes.c: from launches to buffers. */
bool cupti_record(const struct strict_operation *);
/* Closes buffers whose records are complete, or all of them. */
void cupti_close_lanes(bool forced);
void cupti_start_workers(void);
/* Records dropped since the last call, and since the start. */
uint64_t cupti_take_dropped(void);
uint64_t cupti_dropped(void);

#define OPEN_RECORDS ((int64_t)1 << 40)

/* cupti_delivery.c: buffers between their request and their delivery. */
struct buffer {
    uint8_t *data;
    size_t size, max_records;
    size_t claimed, records;
    /* Records to come, which is OPEN_RECORDS more while the buffer is open. */
    _Atomic int64_t left;
    struct buffer *next;
};
void cupti_register(request_function *, complete_function *);
bool cupti_is_registered(void);
void cupti_start_delivery(void);
struct buffer *cupti_request(void);
/* Queues the buffer for delivery. */
void cupti_give(struct buffer *);
/* Delivers what is queued, on this thread. */
void cupti_deliver_queued(void);
void cupti_wait_for_delivery(void);
bool cupti_delivers_inline(void);
bool cupti_delivers_late(void);
void cupti_lock_delivery(void);
void cupti_unlock_delivery(void);
/* Whether CUPTI has the buffer now. */
bool cupti_owns(const uint8_t *data);

#endif
