/* Activity buffers: the pool, lock-free lists of free buffers and one of returned ones. */
#include "buffers.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "../activity/overhead.h"
#include "../activity/reserve.h"
#include "../segment/segment.h"

#define NONE 0u /* no index: they begin with 1 */

/* Full buffers that wake the collector's thread; fewer wait for its next round. */
#define ENOUGH 8u
/* If it wakes more often than this, buffers become larger; if less often than this, smaller. */
#define OFTEN_NS 20000000u
#define RARELY_NS 80000000u
/* A buffer with less room than this is full: no record is larger. */
#define RECORD_LIMIT 512u

enum { FREE, LENT, RETURNED };

/* A list of free buffers, last in, first out: a tag, new with every change, above an index. */
typedef _Atomic uint64_t free_list;

static uint8_t *memory; /* the pool, and the buffers that are never read after it */
static free_list warm;  /* with memory */
static free_list cold;  /* without: never used, or given back */
static _Atomic uint32_t free_next[BUFFER_COUNT + 1];
static _Atomic uint32_t warm_count, warm_least; /* now; since the last trim */
static _Atomic uint32_t returned_head;
static uint32_t returned_next[BUFFER_COUNT + 1];
static _Atomic uint32_t states[BUFFER_COUNT + 1];
static _Atomic uint32_t eras[BUFFER_COUNT + 1];
static size_t valid_bytes[BUFFER_COUNT + 1];
static uint32_t taken_head; /* the collector's: returned buffers, oldest first */
static uint32_t sizes[BUFFER_COUNT + 1], touched[BUFFER_COUNT + 1]; /* bytes: lent; with memory */
static _Atomic uint32_t usual_size = BUFFER_LEAST;
static _Atomic uint32_t waiting; /* returned buffers, since they were taken */
static _Atomic uint32_t era, discard;
static _Atomic uint64_t activity, lost_bytes;
static _Atomic uint32_t lent;
static _Atomic bool closed, ended;
static bool may_decline;
static _Atomic bool declined; /* since buffers_activity() */

static uint8_t *data_of(uint32_t index) { return memory + (size_t)(index - 1) * BUFFER_SIZE; }

static uint8_t *discards(void) { return memory + (size_t)BUFFER_COUNT * BUFFER_SIZE; }

static bool is_discard(const uint8_t *data) {
    return data >= discards() && data < discards() + (size_t)DISCARD_COUNT * DISCARD_SIZE;
}

static uint32_t index_of(const uint8_t *data) {
    if (data < memory || data >= discards()) return NONE;
    size_t offset = (size_t)(data - memory);
    return offset % BUFFER_SIZE == 0 ? (uint32_t)(offset / BUFFER_SIZE) + 1 : NONE;
}

/* ---- Free buffers ---- */

static uint64_t retagged(uint64_t head, uint32_t index) { return ((head >> 32) + 1) << 32 | index; }

static uint32_t pop(free_list *list) {
    uint64_t head = atomic_load(list), next;
    do {
        if ((uint32_t)head == NONE) return NONE;
        next = retagged(head, atomic_load(&free_next[(uint32_t)head]));
    } while (!atomic_compare_exchange_weak(list, &head, next));
    return (uint32_t)head;
}

static void push(free_list *list, uint32_t index) {
    uint64_t head = atomic_load(list);
    do atomic_store(&free_next[index], (uint32_t)head);
    while (!atomic_compare_exchange_weak(list, &head, retagged(head, index)));
}

static uint32_t pop_free(void) {
    uint32_t index = pop(&warm);
    if (index == NONE) return pop(&cold);
    uint32_t rest = atomic_fetch_sub(&warm_count, 1) - 1;
    /* Another thread may have stored less: that costs some memory for a second. */
    if (rest < atomic_load(&warm_least)) atomic_store(&warm_least, rest);
    return index;
}

static void set_free(uint32_t index) {
    atomic_store(&states[index], FREE);
    push(&warm, index);
    atomic_fetch_add(&warm_count, 1);
}

bool buffers_open(bool declines) {
    may_decline = declines;
    if (memory) return true;
    size_t size = (size_t)BUFFER_COUNT * BUFFER_SIZE + (size_t)DISCARD_COUNT * DISCARD_SIZE;
    memory = reserve(size);
    if (!memory) return false;
    for (uint32_t index = BUFFER_COUNT; index > 0; index--) push(&cold, index);
    return true;
}

static void shrink(uint32_t index, uint32_t size) {
    if (touched[index] <= size) return;
    madvise(data_of(index) + size, touched[index] - size, MADV_DONTNEED);
    touched[index] = size;
}

/* Half of what was not needed: the need of the next seconds may be that of the last ones. */
void buffers_trim(void) {
    uint32_t unused = atomic_exchange(&warm_least, UINT32_MAX);
    if (unused == UINT32_MAX) unused = atomic_load(&warm_count);
    for (uint32_t i = 0; i < unused - unused / 2; i++) {
        uint32_t index = pop(&warm);
        if (index == NONE) return;
        atomic_fetch_sub(&warm_count, 1);
        shrink(index, 0);
        push(&cold, index);
    }
}

/* ---- CUPTI's callbacks ---- */

/* It is never read and may still be in use, but CUPTI expects all buffers to be zeroed. The one that was given
 * longest ago: threads rarely share one. */
static uint8_t *zeroed_discard(void) {
    uint8_t *data = discards() + atomic_fetch_add(&discard, 1) % DISCARD_COUNT * DISCARD_SIZE;
    uint64_t *words = (uint64_t *)(void *)data;
    for (size_t i = 0; i < DISCARD_SIZE / sizeof *words; i++) __atomic_store_n(&words[i], 0, __ATOMIC_RELAXED);
    return data;
}

/* Wakes the collector's thread for buffers that it would leave until there are enough. */
static void ring_for_few(void) {
    uint32_t count = atomic_load(&waiting);
    if (count > 0 && count < ENOUGH) segment_ring();
}

/* CUPTI asks again for every record: no line of memory is written then. */
static void decline(uint8_t **buffer, size_t *size) {
    *buffer = NULL;
    *size = 0;
    if (atomic_load(&declined)) return;
    atomic_store(&declined, true);
    ring_for_few();
}

/* If CUPTI or the collector's thread is late a buffer has all its room: records come faster than buffers return. */
static void lend(uint32_t index) {
    bool late = atomic_load(&lent) + atomic_load(&waiting) >= ENOUGH;
    sizes[index] = late ? BUFFER_SIZE : atomic_load(&usual_size);
    if (touched[index] < sizes[index]) touched[index] = sizes[index];
    atomic_store(&eras[index], atomic_load(&era));
    atomic_store(&states[index], LENT);
    atomic_fetch_add(&lent, 1);
}

void buffers_request(uint8_t **buffer, size_t *size, size_t *max_records) {
    uint32_t index = atomic_load(&closed) ? NONE : pop_free();
    *max_records = 0;
    if (index == NONE && may_decline) {
        decline(buffer, size);
        return;
    }
    uint64_t start_ns = monotonic_ns();
    atomic_fetch_add_explicit(&activity, 1, memory_order_relaxed);
    if (index != NONE) lend(index);
    else ring_for_few();
    *size = index == NONE ? DISCARD_SIZE : sizes[index];
    *buffer = index == NONE ? zeroed_discard() : data_of(index);
    overhead_add_since(start_ns);
}

static void give_back(uint32_t index, size_t size, size_t valid) {
    uint32_t expected = LENT;
    if (!atomic_compare_exchange_strong(&states[index], &expected, RETURNED)) return;
    valid_bytes[index] = valid < sizes[index] ? valid : sizes[index];
    uint32_t head = atomic_load(&returned_head);
    do returned_next[index] = head;
    while (!atomic_compare_exchange_weak(&returned_head, &head, index));
    atomic_fetch_sub(&lent, 1);
    /* A flush returns buffers that are not full: the collector's thread waits for them. */
    bool is_full = valid + RECORD_LIMIT > size;
    if (atomic_fetch_add(&waiting, 1) + 1 == ENOUGH || !is_full) segment_ring();
}

void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    (void)context, (void)stream;
    if (!buffer || atomic_load(&ended)) return;
    uint64_t start_ns = monotonic_ns();
    int error = errno;
    uint32_t index = index_of(buffer);
    if (valid > size) valid = size;
    if (index != NONE) {
        atomic_fetch_add_explicit(&activity, 1, memory_order_relaxed);
        give_back(index, size, valid);
    } else if (is_discard(buffer)) {
        atomic_fetch_add_explicit(&activity, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&lost_bytes, valid, memory_order_relaxed);
    }
    errno = error;
    overhead_add_since(start_ns);
}

/* ---- The collector's thread ---- */

/* After `count` buffers have returned. */
static void adapt(uint32_t count) {
    static uint64_t woken_ns;
    uint64_t now_ns = monotonic_ns(), since_ns = now_ns - woken_ns;
    uint32_t size = atomic_load(&usual_size);
    if (count >= ENOUGH && since_ns < OFTEN_NS && size < BUFFER_SIZE) atomic_store(&usual_size, size * 2);
    if (since_ns > RARELY_NS && size > BUFFER_LEAST) atomic_store(&usual_size, size / 2);
    if (count >= ENOUGH) woken_ns = now_ns;
}

/* Returned buffers are listed newest first. */
static void take_returned(void) {
    uint32_t count = atomic_exchange(&waiting, 0), index = atomic_exchange(&returned_head, NONE);
    if (index != NONE) adapt(count);
    while (index != NONE) {
        uint32_t older = returned_next[index];
        returned_next[index] = taken_head;
        taken_head = index;
        index = older;
    }
}

bool buffers_take(struct buffer *buffer) {
    bool first = taken_head == NONE;
    if (first) take_returned();
    if (taken_head == NONE) return false;
    *buffer = (struct buffer){data_of(taken_head), valid_bytes[taken_head], first};
    taken_head = returned_next[taken_head];
    return true;
}

void buffers_recycle(struct buffer buffer) {
    uint32_t index = index_of(buffer.data);
    memset(buffer.data, 0, buffer.valid);
    shrink(index, atomic_load(&usual_size));
    set_free(index);
}

void buffers_lose(void) { atomic_fetch_add(&era, 1); }

void buffers_reclaim(void) {
    for (uint32_t index = 1; index <= BUFFER_COUNT; index++) {
        uint32_t expected = LENT;
        if (atomic_load(&eras[index]) == atomic_load(&era)) continue;
        if (!atomic_compare_exchange_strong(&states[index], &expected, RETURNED)) continue;
        atomic_fetch_sub(&lent, 1);
        buffers_recycle((struct buffer){data_of(index), sizes[index], false});
    }
}

uint32_t buffers_lent(void) { return atomic_load(&lent); }

uint64_t buffers_activity(void) {
    if (atomic_exchange(&declined, false)) atomic_fetch_add_explicit(&activity, 1, memory_order_relaxed);
    return atomic_load_explicit(&activity, memory_order_relaxed);
}

uint64_t buffers_lost_bytes(void) { return atomic_load_explicit(&lost_bytes, memory_order_relaxed); }

void buffers_close(void) { atomic_store(&closed, true); }

void buffers_end(void) {
    buffers_close();
    atomic_store(&ended, true);
}
