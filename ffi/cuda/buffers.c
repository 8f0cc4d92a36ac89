/* Activity buffers: the pool, a lock-free list of free buffers and one of returned ones. */
#include "buffers.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "../activity/overhead.h"
#include "../segment/segment.h"

#define NONE 0u /* no index: they begin with 1 */

enum { FREE, LENT, RETURNED };

static uint8_t *memory; /* the pool, and the shared buffer after it */
static _Atomic uint64_t free_head; /* a tag, new with every change, above an index */
static _Atomic uint32_t free_next[BUFFER_COUNT + 1];
static _Atomic uint32_t returned_head;
static uint32_t returned_next[BUFFER_COUNT + 1];
static _Atomic uint32_t states[BUFFER_COUNT + 1];
static _Atomic uint32_t eras[BUFFER_COUNT + 1];
static size_t valid_bytes[BUFFER_COUNT + 1];
static uint32_t taken_head; /* the collector's: returned buffers, oldest first */
static _Atomic uint32_t era;
static _Atomic uint64_t activity, lost_bytes;
static _Atomic uint32_t lent;
static _Atomic bool closed, ended;

static uint8_t *data_of(uint32_t index) { return memory + (size_t)(index - 1) * BUFFER_SIZE; }

static uint8_t *shared(void) { return memory + (size_t)BUFFER_COUNT * BUFFER_SIZE; }

static uint32_t index_of(const uint8_t *data) {
    if (data < memory || data >= shared()) return NONE;
    size_t offset = (size_t)(data - memory);
    return offset % BUFFER_SIZE == 0 ? (uint32_t)(offset / BUFFER_SIZE) + 1 : NONE;
}

static uint64_t retagged(uint64_t head, uint32_t index) { return ((head >> 32) + 1) << 32 | index; }

static uint32_t pop_free(void) {
    uint64_t head = atomic_load(&free_head), next;
    do {
        if ((uint32_t)head == NONE) return NONE;
        next = retagged(head, atomic_load(&free_next[(uint32_t)head]));
    } while (!atomic_compare_exchange_weak(&free_head, &head, next));
    return (uint32_t)head;
}

/* Last in, first out: buffers that were never used stay unused as long as possible. */
static void push_free(uint32_t index) {
    uint64_t head = atomic_load(&free_head);
    do atomic_store(&free_next[index], (uint32_t)head);
    while (!atomic_compare_exchange_weak(&free_head, &head, retagged(head, index)));
}

bool buffers_open(void) {
    if (memory) return true;
    size_t size = (size_t)(BUFFER_COUNT + 1) * BUFFER_SIZE;
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return false;
    memory = mapped;
    for (uint32_t index = BUFFER_COUNT; index > 0; index--) push_free(index);
    return true;
}

/* It is never read and may be in use, but CUPTI expects all buffers to be zeroed. */
static void zero_shared(void) {
    uint64_t *words = (uint64_t *)(void *)shared();
    for (size_t i = 0; i < BUFFER_SIZE / sizeof *words; i++) __atomic_store_n(&words[i], 0, __ATOMIC_RELAXED);
}

void buffers_request(uint8_t **buffer, size_t *size, size_t *max_records) {
    uint64_t start_ns = monotonic_ns();
    *size = BUFFER_SIZE;
    *max_records = 0;
    atomic_fetch_add_explicit(&activity, 1, memory_order_relaxed);
    uint32_t index = atomic_load(&closed) ? NONE : pop_free();
    if (index != NONE) {
        atomic_store(&eras[index], atomic_load(&era));
        atomic_store(&states[index], LENT);
        atomic_fetch_add(&lent, 1);
    }
    *buffer = index == NONE ? shared() : data_of(index);
    if (index == NONE) zero_shared();
    overhead_add_since(start_ns);
}

static void give_back(uint32_t index, size_t valid) {
    uint32_t expected = LENT;
    if (!atomic_compare_exchange_strong(&states[index], &expected, RETURNED)) return;
    valid_bytes[index] = valid;
    uint32_t head = atomic_load(&returned_head);
    do returned_next[index] = head;
    while (!atomic_compare_exchange_weak(&returned_head, &head, index));
    atomic_fetch_sub(&lent, 1);
    segment_ring();
}

void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    (void)context, (void)stream, (void)size;
    if (!buffer || atomic_load(&ended)) return;
    uint64_t start_ns = monotonic_ns();
    int error = errno;
    if (valid > BUFFER_SIZE) valid = BUFFER_SIZE;
    uint32_t index = index_of(buffer);
    if (index != NONE) {
        atomic_fetch_add_explicit(&activity, 1, memory_order_relaxed);
        give_back(index, valid);
    } else if (buffer == shared()) {
        atomic_fetch_add_explicit(&activity, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&lost_bytes, valid, memory_order_relaxed);
    }
    errno = error;
    overhead_add_since(start_ns);
}

/* Returned buffers are listed newest first. */
static void reverse_returned(void) {
    uint32_t index = atomic_exchange(&returned_head, NONE);
    while (index != NONE) {
        uint32_t older = returned_next[index];
        returned_next[index] = taken_head;
        taken_head = index;
        index = older;
    }
}

bool buffers_take(struct buffer *buffer) {
    if (taken_head == NONE) reverse_returned();
    if (taken_head == NONE) return false;
    *buffer = (struct buffer){data_of(taken_head), valid_bytes[taken_head]};
    taken_head = returned_next[taken_head];
    return true;
}

static void set_free(uint32_t index) {
    atomic_store(&states[index], FREE);
    push_free(index);
}

void buffers_recycle(struct buffer buffer) {
    memset(buffer.data, 0, buffer.valid);
    set_free(index_of(buffer.data));
}

void buffers_lose(void) { atomic_fetch_add(&era, 1); }

void buffers_reclaim(void) {
    for (uint32_t index = 1; index <= BUFFER_COUNT; index++) {
        uint32_t expected = LENT;
        if (atomic_load(&eras[index]) == atomic_load(&era)) continue;
        if (!atomic_compare_exchange_strong(&states[index], &expected, RETURNED)) continue;
        atomic_fetch_sub(&lent, 1);
        buffers_recycle((struct buffer){data_of(index), BUFFER_SIZE});
    }
}

uint32_t buffers_lent(void) { return atomic_load(&lent); }

uint64_t buffers_activity(void) { return atomic_load_explicit(&activity, memory_order_relaxed); }

uint64_t buffers_lost_bytes(void) { return atomic_load_explicit(&lost_bytes, memory_order_relaxed); }

void buffers_close(void) { atomic_store(&closed, true); }

void buffers_end(void) {
    buffers_close();
    atomic_store(&ended, true);
}
