/* Records in CUPTI's layout: the first fields of each kind are the same in all versions, the size is not. */
#include "fake_cupti.h"

#define AT_LEAST(version, size, older) (FAKE_CUPTI >= (version) ? (size) : (older))

size_t record_size(uint32_t kind) {
    switch (kind) {
    case KIND_KERNEL: return AT_LEAST(1305, 248, AT_LEAST(1300, 216, AT_LEAST(1200, 208, 200)));
    case KIND_MEMCPY: return AT_LEAST(1305, 112, AT_LEAST(1208, 96, 88));
    case KIND_PEER_COPY: return 96;
    case KIND_MEMSET: return AT_LEAST(1305, 104, 88);
    case KIND_GRAPH_TRACE: return AT_LEAST(1203, 56, 48);
    case KIND_SYNC: return AT_LEAST(1208, 56, 40);
    case KIND_CONTEXT: return AT_LEAST(1305, 40, AT_LEAST(1208, 32, AT_LEAST(1204, 24, 16)));
    default: return 0;
    }
}

static void put8(uint8_t *at, uint32_t value) { *at = (uint8_t)value; }
static void put16(uint8_t *at, uint32_t value) { memcpy(at, &(uint16_t){(uint16_t)value}, 2); }
static void put32(uint8_t *at, uint32_t value) { memcpy(at, &value, 4); }
static void put64(uint8_t *at, uint64_t value) { memcpy(at, &value, 8); }

static void put_span(uint8_t *at, const struct fake_operation *operation) {
    put64(at, operation->start);
    put64(at + 8, operation->end);
}

static void put_place(uint8_t *at, const struct fake_operation *operation) {
    put32(at, operation->device);
    put32(at + 4, operation->context);
    put32(at + 8, operation->stream);
}

static uint32_t next_correlation(void) {
    static uint32_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

void record_write(uint8_t *at, const struct fake_operation *operation) {
    memset(at, 0xA5, record_size(operation->kind));
    put32(at, operation->kind);
    switch (operation->kind) {
    case KIND_KERNEL:
        put_span(at + 16, operation);
        put64(at + 32, operation->end);
        put_place(at + 40, operation);
        put32(at + 92, next_correlation());
        put64(at + 104, (uint64_t)(uintptr_t)operation->name);
        put64(at + 144, operation->node);
        put32(at + 156, operation->graph);
        break;
    case KIND_MEMCPY:
        put8(at + 4, operation->detail);
        put64(at + 8, operation->bytes);
        put_span(at + 16, operation);
        put_place(at + 32, operation);
        put32(at + 44, next_correlation());
        put64(at + 64, operation->node);
        put32(at + 72, operation->graph);
        break;
    case KIND_PEER_COPY:
        put8(at + 4, operation->detail);
        put64(at + 8, operation->bytes);
        put_span(at + 16, operation);
        put_place(at + 32, operation);
        put32(at + 44, operation->device);
        put32(at + 52, 1 - operation->device);
        put32(at + 60, next_correlation());
        put64(at + 72, operation->node);
        put32(at + 80, operation->graph);
        break;
    case KIND_MEMSET:
        put32(at + 4, 0);
        put64(at + 8, operation->bytes);
        put_span(at + 16, operation);
        put_place(at + 32, operation);
        put32(at + 44, next_correlation());
        put16(at + 50, operation->detail);
        put64(at + 64, operation->node);
        put32(at + 72, operation->graph);
        break;
    case KIND_GRAPH_TRACE:
        put32(at + 4, next_correlation());
        put_span(at + 8, operation);
        put32(at + 24, operation->device);
        put32(at + 28, operation->graph);
        put32(at + 32, operation->context);
        put32(at + 36, operation->stream);
        break;
    case KIND_SYNC:
        put32(at + 4, operation->detail);
        put_span(at + 8, operation);
        put32(at + 24, next_correlation());
        put32(at + 28, operation->context);
        put32(at + 32, operation->stream);
        break;
    case KIND_CONTEXT:
        put32(at + 4, operation->context);
        put32(at + 8, operation->device);
        break;
    }
}

void record_cut(uint8_t *at, uint64_t now) {
    uint32_t kind;
    memcpy(&kind, at, sizeof kind);
    if (kind == KIND_CONTEXT) return;
    size_t offset = kind == KIND_GRAPH_TRACE || kind == KIND_SYNC ? 16 : 24;
    uint64_t end;
    memcpy(&end, at + offset, sizeof end);
    if (end > now) put64(at + offset, 0);
}
