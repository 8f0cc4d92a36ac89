/* The writer of the console ring: the workload's newest output in shared memory. */
#define _GNU_SOURCE
#include "ring.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Limit of a record in bytes: a full ring loses one record at a time, so few bytes. */
#define RECORD_MAX (64u << 10)

static struct ring_header *ring;

int ring_create(const struct ring_stream streams[2]) {
    int fd = memfd_create("service-console", MFD_CLOEXEC);
    if (fd < 0) return -1;
    size_t size = RING_DATA + RING_CAPACITY;
    void *memory = MAP_FAILED;
    if (ftruncate(fd, (off_t)size) == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        close(fd);
        return -1;
    }
    ring = memory;
    ring->version = RING_VERSION;
    ring->capacity = RING_CAPACITY;
    for (int i = 0; i < 2; i++) ring->streams[i] = streams[i];
    memcpy(ring->magic, RING_MAGIC, sizeof RING_MAGIC);
    return fd;
}

static void publish(uint64_t *field, uint64_t value) {
    __atomic_store_n(field, value, __ATOMIC_SEQ_CST);
    atomic_thread_fence(memory_order_seq_cst);
}

static void copy_in(uint64_t position, const void *from, size_t length) {
    char *data = (char *)ring + RING_DATA;
    size_t at = position % RING_CAPACITY;
    size_t first = length < RING_CAPACITY - at ? length : RING_CAPACITY - at;
    memcpy(data + at, from, first);
    memcpy(data, (const char *)from + first, length - first);
}

static uint64_t record_size(uint32_t length) {
    return (sizeof(struct ring_record) + length + 7) & ~(uint64_t)7;
}

/* Position of the record behind the one at `position`. Records begin at multiples of 8, so that
 * their `length` never wraps around the end of the ring. */
static uint64_t next_record(uint64_t position) {
    uint32_t length;
    memcpy(&length, (char *)ring + RING_DATA + position % RING_CAPACITY, sizeof length);
    return position + record_size(length);
}

static void write_record(uint32_t stream, uint64_t time_ns, const char *bytes, uint32_t length) {
    uint64_t end = ring->end, next = end + record_size(length), oldest = ring->oldest;
    while (next - oldest > RING_CAPACITY) oldest = next_record(oldest);
    if (oldest != ring->oldest) publish(&ring->oldest, oldest);
    struct ring_record record = {length, stream, time_ns, ring->bytes};
    copy_in(end, &record, sizeof record);
    copy_in(end + sizeof record, bytes, length);
    publish(&ring->end, next);
    publish(&ring->bytes, ring->bytes + length);
}

void ring_write(uint32_t stream, const char *bytes, size_t length) {
    if (!ring || length == 0) return;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    while (length > 0) {
        uint32_t part = length < RECORD_MAX ? (uint32_t)length : RECORD_MAX;
        write_record(stream, time_ns, bytes, part);
        bytes += part;
        length -= part;
    }
}

void ring_skip(size_t length) {
    if (ring) publish(&ring->bytes, ring->bytes + length);
}
