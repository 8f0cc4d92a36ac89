/* Strict CUPTI: the activity interface, and what it refuses. */
#include "cupti.h"

#include <string.h>

enum { ATTRIBUTE_ZEROED = 5, ATTRIBUTE_PER_THREAD = 9, ATTRIBUTES = 25 };

static size_t sizes[ATTRIBUTES];

STRICT_API CUptiResult cuptiActivityRegisterCallbacks(request_function *request,
                                                      complete_function *complete)
{
    CUptiResult error = cupti_enter("cuptiActivityRegisterCallbacks", -1);
    if (error && (error != CUPTI_ERROR_UNKNOWN || cupti_driver))
        return error;
    if (!request || !complete)
        return CUPTI_ERROR_INVALID_PARAMETER;
    cupti_register(request, complete);
    return CUPTI_SUCCESS;
}

static CUptiResult set_kind(const char *function, uint32_t kind, uint8_t on)
{
    CUptiResult error = cupti_enter(function, (int)kind);
    if (error)
        return error;
    if (!kind || kind >= KINDS)
        return CUPTI_ERROR_INVALID_KIND;
    cupti_kinds[kind] = on;
    return CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiActivityEnable(uint32_t kind)
{
    return set_kind("cuptiActivityEnable", kind, 1);
}

STRICT_API CUptiResult cuptiActivityDisable(uint32_t kind)
{
    return set_kind("cuptiActivityDisable", kind, 0);
}

STRICT_API CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    CUptiResult error = cupti_enter("cuptiActivityFlushAll", (int)flag);
    if (error)
        return error;
    enum strict_inside within = cupti_inside();
    if (within == INSIDE_REQUEST || within == INSIDE_COMPLETE || within == INSIDE_RESOURCE)
        strict_fatal("cuptiActivityFlushAll called inside a callback that may not call it");
    if (!cupti_is_registered())
        return CUPTI_ERROR_INVALID_OPERATION;
    cupti_close_lanes(flag == 1);
    if (cupti_delivers_inline())
        cupti_deliver_queued();
    else if (!cupti_delivers_late())
        cupti_wait_for_delivery();
    return CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiActivityFlushPeriod(uint32_t period_ms)
{
    return cupti_enter("cuptiActivityFlushPeriod", (int)period_ms);
}

STRICT_API CUptiResult cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream,
                                                         size_t *count)
{
    (void)context, (void)stream;
    CUptiResult error = cupti_enter("cuptiActivityGetNumDroppedRecords", -1);
    if (error && (error != CUPTI_ERROR_UNKNOWN || cupti_driver))
        return error;
    bool completes = cupti_inside() == INSIDE_COMPLETE;
    if (!completes)
        cupti_lock_delivery();
    uint64_t dropped = cupti_take_dropped();
    if (!completes)
        cupti_unlock_delivery();
    /* Graphsignal asks with NULL. */
    if (!count)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *count = dropped;
    return CUPTI_SUCCESS;
}

static _Atomic uint64_t records_read;

uint64_t cupti_records_read(void)
{
    return records_read;
}

/* The record that the thread was given last: the only one it may go on from. */
static _Thread_local struct {
    const uint8_t *buffer, *record;
} read_last;

STRICT_API CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record)
{
    if (!buffer || !record)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (strict_checks) {
        if (!*record && cupti_owns(buffer))
            strict_misuse("cuptiActivityGetNextRecord of a buffer that CUPTI has");
        if (*record && (read_last.buffer != buffer || read_last.record != *record))
            strict_misuse("cuptiActivityGetNextRecord after a record that it did not give");
    }
    uint8_t *next = *record ? *record + cupti_record_size(*(uint32_t *)*record) : buffer;
    if (next >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    if (!cupti_record_size(*(uint32_t *)next))
        return CUPTI_ERROR_INVALID_KIND;
    *record = next;
    /* One thread reads at a time: no need of a locked addition. */
    atomic_store_explicit(&records_read, records_read + 1, memory_order_relaxed);
    if (strict_checks) {
        read_last.buffer = buffer;
        read_last.record = next;
    }
    return CUPTI_SUCCESS;
}

static size_t attribute_size(uint32_t attribute)
{
    return attribute == ATTRIBUTE_ZEROED || attribute == ATTRIBUTE_PER_THREAD || attribute == 8
               ? 1 : sizeof(size_t);
}

/* Notes a call of `function`, and checks what is common to reading and setting an attribute. */
static CUptiResult enter_attribute(const char *function, uint32_t attribute, const size_t *size,
                                   const void *value)
{
    CUptiResult error = cupti_enter(function, (int)attribute);
    if (error)
        return error;
    if (!size || !value || attribute >= ATTRIBUTES)
        return CUPTI_ERROR_INVALID_PARAMETER;
    return *size < attribute_size(attribute) ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT
                                             : CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
    CUptiResult error = enter_attribute("cuptiActivitySetAttribute", attribute, size, value);
    if (error)
        return error;
    if (attribute == ATTRIBUTE_ZEROED)
        cupti_zeroed = *(uint8_t *)value;
    else if (attribute == ATTRIBUTE_PER_THREAD) {
        if (cupti_is_registered() || cupti_any_enabled())
            strict_misuse("buffers per thread chosen after callbacks were registered");
        cupti_per_thread = *(uint8_t *)value;
    } else {
        memcpy(&sizes[attribute], value, attribute_size(attribute));
    }
    return CUPTI_SUCCESS;
}

STRICT_API CUptiResult cuptiActivityGetAttribute(uint32_t attribute, size_t *size, void *value)
{
    CUptiResult error = enter_attribute("cuptiActivityGetAttribute", attribute, size, value);
    if (error)
        return error;
    *size = attribute_size(attribute);
    if (attribute == ATTRIBUTE_ZEROED)
        *(uint8_t *)value = cupti_zeroed;
    else if (attribute == ATTRIBUTE_PER_THREAD)
        *(uint8_t *)value = cupti_per_thread;
    else
        memcpy(value, &sizes[attribute], *size);
    return CUPTI_SUCCESS;
}

/* Waits for all devices and stops everything: safe only where a call of the driver ends. */
STRICT_API CUptiResult cuptiFinalize(void)
{
    CUptiResult error = cupti_enter("cuptiFinalize", -1);
    if (error && (error != CUPTI_ERROR_UNKNOWN || cupti_driver))
        return error;
    if (cupti_driver && cupti_inside() != INSIDE_API_EXIT)
        strict_misuse("cuptiFinalize called outside the exit callback of a call");
    if (cupti_subscribers() > 1)
        return CUPTI_SUCCESS;
    for (int kind = 0; kind < KINDS; kind++)
        cupti_kinds[kind] = 0;
    for (int cbid = 0; cbid < CBIDS; cbid++)
        cupti_calls[cbid] = 0;
    for (int cbid = 0; cbid < RESOURCES; cbid++)
        cupti_resources[cbid] = 0;
    return CUPTI_SUCCESS;
}
