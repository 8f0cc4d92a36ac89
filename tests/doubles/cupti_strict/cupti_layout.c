/* Strict CUPTI: layouts of records of 12.8 to 13.5; the sizes differ between versions. */
#include "cupti.h"

#include <string.h>

enum {
    KERNEL_BYTES = STRICT_CUPTI < 1300 ? 208 : STRICT_CUPTI < 1305 ? 216 : 248,
    MEMCPY_BYTES = STRICT_CUPTI < 1305 ? 96 : 112,
    MEMCPY2_BYTES = 96,
    MEMSET_BYTES = STRICT_CUPTI < 1305 ? 88 : 104,
    CONTEXT_BYTES = STRICT_CUPTI < 1305 ? 32 : 40,
    GRAPH_TRACE_BYTES = 56,
    SYNCHRONIZATION_BYTES = 56,
    /* Fields up to here are in every layout of a kernel. */
    KERNEL_COMMON_BYTES = 176,
};

#define PUT(type, offset, value) (*(type *)(record + (offset)) = (type)(value))

size_t cupti_record_size(uint32_t kind)
{
    switch (kind) {
    case KIND_MEMCPY:
        return MEMCPY_BYTES;
    case KIND_MEMSET:
        return MEMSET_BYTES;
    case KIND_KERNEL:
    case KIND_CONCURRENT_KERNEL:
        return KERNEL_BYTES;
    case KIND_MEMCPY2:
        return MEMCPY2_BYTES;
    case KIND_SYNCHRONIZATION:
        return SYNCHRONIZATION_BYTES;
    case KIND_CONTEXT:
        return CONTEXT_BYTES;
    case KIND_GRAPH_TRACE:
        return GRAPH_TRACE_BYTES;
    default:
        return 0;
    }
}

static void write_kernel(uint8_t *record, const struct strict_operation *o, uint64_t end_ns)
{
    PUT(uint16_t, 6, 32);
    PUT(uint64_t, 16, o->start_ns);
    PUT(uint64_t, 24, end_ns);
    PUT(uint32_t, 40, o->device);
    PUT(uint32_t, 44, o->context);
    PUT(uint32_t, 48, o->stream);
    for (int i = 0; i < 3; i++) {
        PUT(int32_t, 52 + 4 * i, o->grid[i]);
        PUT(int32_t, 64 + 4 * i, o->block[i]);
    }
    PUT(uint32_t, 92, o->correlation);
    PUT(int64_t, 96, o->correlation);
    PUT(const char *, 104, o->name);
    PUT(uint64_t, 144, o->node);
    PUT(uint32_t, 156, o->graph);
    PUT(uint32_t, 168, 1);
    /* What follows differs: nobody who knows the version only by its name may read it. */
    if (strict_checks)
        memset(record + KERNEL_COMMON_BYTES, 0xee, KERNEL_BYTES - KERNEL_COMMON_BYTES);
}

static void write_memcpy(uint8_t *record, const struct strict_operation *o, uint64_t end_ns)
{
    PUT(uint8_t, 4, o->what);
    PUT(uint8_t, 5, o->source_kind);
    PUT(uint8_t, 6, o->target_kind);
    PUT(uint8_t, 7, 1);
    PUT(uint64_t, 8, o->bytes);
    PUT(uint64_t, 16, o->start_ns);
    PUT(uint64_t, 24, end_ns);
    PUT(uint32_t, 32, o->device);
    PUT(uint32_t, 36, o->context);
    PUT(uint32_t, 40, o->stream);
    PUT(uint32_t, 44, o->correlation);
    PUT(uint64_t, 64, o->node);
    PUT(uint32_t, 72, o->graph);
}

static void write_memcpy2(uint8_t *record, const struct strict_operation *o, uint64_t end_ns)
{
    write_memcpy(record, o, end_ns);
    PUT(uint32_t, 44, o->source_device);
    PUT(uint32_t, 48, 0);
    PUT(uint32_t, 52, o->target_device);
    PUT(uint32_t, 56, 0);
    PUT(uint32_t, 60, o->correlation);
    PUT(uint64_t, 72, o->node);
    PUT(uint32_t, 80, o->graph);
}

static void write_memset(uint8_t *record, const struct strict_operation *o, uint64_t end_ns)
{
    PUT(uint32_t, 4, o->what);
    PUT(uint64_t, 8, o->bytes);
    PUT(uint64_t, 16, o->start_ns);
    PUT(uint64_t, 24, end_ns);
    PUT(uint32_t, 32, o->device);
    PUT(uint32_t, 36, o->context);
    PUT(uint32_t, 40, o->stream);
    PUT(uint32_t, 44, o->correlation);
    PUT(uint16_t, 50, o->target_kind);
    PUT(uint64_t, 64, o->node);
    PUT(uint32_t, 72, o->graph);
}

static void write_synchronization(uint8_t *record, const struct strict_operation *o,
                                  uint64_t end_ns)
{
    PUT(uint32_t, 4, o->what);
    PUT(uint64_t, 8, o->start_ns);
    PUT(uint64_t, 16, end_ns);
    PUT(uint32_t, 24, o->correlation);
    PUT(uint32_t, 28, o->context);
    PUT(uint32_t, 32, o->stream);
}

static void write_context(uint8_t *record, const struct strict_operation *o)
{
    PUT(uint32_t, 4, o->context);
    PUT(uint32_t, 8, o->device);
    PUT(uint16_t, 12, 1);
    PUT(uint16_t, 14, o->stream);
}

static void write_graph_trace(uint8_t *record, const struct strict_operation *o, uint64_t end_ns)
{
    PUT(uint32_t, 4, o->correlation);
    PUT(uint64_t, 8, o->start_ns);
    PUT(uint64_t, 16, end_ns);
    PUT(uint32_t, 24, o->device);
    PUT(uint32_t, 28, o->graph);
    PUT(uint32_t, 32, o->context);
    PUT(uint32_t, 36, o->stream);
    PUT(uint32_t, 48, o->device);
    PUT(uint32_t, 52, o->context);
}

void cupti_write_record(uint8_t *record, const struct strict_operation *o, uint64_t end_ns)
{
    switch (o->kind) {
    case KIND_CONCURRENT_KERNEL:
    case KIND_KERNEL:
        write_kernel(record, o, end_ns);
        break;
    case KIND_MEMCPY:
        write_memcpy(record, o, end_ns);
        break;
    case KIND_MEMCPY2:
        write_memcpy2(record, o, end_ns);
        break;
    case KIND_MEMSET:
        write_memset(record, o, end_ns);
        break;
    case KIND_SYNCHRONIZATION:
        write_synchronization(record, o, end_ns);
        break;
    case KIND_CONTEXT:
        write_context(record, o);
        break;
    default:
        write_graph_trace(record, o, end_ns);
        break;
    }
    PUT(uint32_t, 0, o->kind);
}
