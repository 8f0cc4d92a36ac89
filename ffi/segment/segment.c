/* The segment: its header, values and bell. */
#define _GNU_SOURCE
#include "segment.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "parts.h"

_Static_assert(sizeof(struct segment_header) == 136, "readers know the layout");

struct segment_value segment_values[SEGMENT_CELLS];
uint32_t segment_changed[SEGMENT_CELLS];
uint32_t segment_changed_count;
bool segment_is_changed[SEGMENT_CELLS];
struct segment_header *segment;

static int segment_fd = -1;

/* Cells that changed in the last publication: the other bank does not have them yet. */
static uint32_t changed_before[SEGMENT_CELLS];
static uint32_t changed_before_count;

static void set64(uint64_t *field, uint64_t value) { __atomic_store_n(field, value, __ATOMIC_SEQ_CST); }

static uint32_t get32(const uint32_t *field) { return __atomic_load_n(field, __ATOMIC_SEQ_CST); }

/* ---- Opening ---- */

/* Field 22 of /proc/self/stat; the name before it may hold anything. */
static uint64_t start_ticks(void) {
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (length <= 0) return 0;
    text[length] = '\0';
    const char *field = strrchr(text, ')');
    for (int i = 2; field && i < 22; i++) field = strchr(field + 1, ' ');
    return field ? strtoull(field, NULL, 10) : 0;
}

static void write_header(uint64_t ticks) {
    *segment = (struct segment_header){
        .version = SEGMENT_VERSION,
        .size = SEGMENT_SIZE,
        .pid = (uint32_t)getpid(),
        .start_ticks = ticks,
        .series_at = SERIES_AT,
        .cells_at = CELLS_AT,
        .banks_at = {BANK_AT(0), BANK_AT(1)},
        .names_at = NAMES_AT,
        .series_capacity = SEGMENT_SERIES,
        .cell_capacity = SEGMENT_CELLS,
        .name_capacity = SEGMENT_SIZE - NAMES_AT,
        .name_bytes = 4, /* offset 0 is no name */
    };
    segment_tables_begin();
    /* Last: a reader ignores a file without it. */
    uint64_t magic;
    memcpy(&magic, SEGMENT_MAGIC, sizeof magic);
    set64((uint64_t *)(void *)segment->magic, magic);
}

int segment_open(const char *directories) {
    uint64_t ticks = start_ticks();
    int fd = segment_file_create(directories, ticks, &segment);
    if (fd < 0) return fd;
    segment_fd = fd;
    write_header(ticks);
    return 0;
}

void segment_remove(void) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", segment_fd);
    ssize_t length = segment ? readlink(link, path, sizeof path) : -1;
    if (length <= 0 || length == sizeof path) return;
    path[length] = '\0';
    unlink(path);
}

void segment_forget(void) {
    if (!segment) return;
    munmap(segment, SEGMENT_SIZE);
    close(segment_fd);
    segment = NULL;
    segment_fd = -1;
}

/* ---- Values ---- */

void segment_limit(uint64_t *sum) { *sum = UINT64_MAX; }

static void write_values(struct segment_value *bank, const uint32_t *cells, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) bank[cells[i]] = segment_values[cells[i]];
}

static uint64_t realtime_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void segment_publish(uint32_t answered) {
    if (!segment) return;
    uint64_t generation = segment->published + 1;
    struct segment_value *bank = segment_at(BANK_AT((uint32_t)generation & 1));
    set64(&segment->begun, generation);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    /* This bank was not written by the publication before. */
    write_values(bank, changed_before, changed_before_count);
    write_values(bank, segment_changed, segment_changed_count);
    set64(&segment->published_ns, realtime_ns());
    set64(&segment->published, generation);
    segment_set32(&segment->answered, answered);
    memcpy(changed_before, segment_changed, segment_changed_count * sizeof changed_before[0]);
    changed_before_count = segment_changed_count;
    for (uint32_t i = 0; i < segment_changed_count; i++) segment_is_changed[segment_changed[i]] = false;
    segment_changed_count = 0;
}

uint32_t segment_asked(void) { return segment ? get32(&segment->asked) : 0; }

uint32_t segment_taken(void) { return segment ? get32(&segment->taken) : 0; }

void segment_state(uint32_t state, const char *reason) {
    if (!segment) return;
    segment_set32(&segment->reason, reason ? segment_name(reason, strlen(reason)) : 0);
    segment_set32(&segment->state, state);
}

void segment_call_begins(uint32_t name) {
    if (!segment) return;
    segment_set32(&segment->call, name);
    set64(&segment->call_began_ns, realtime_ns());
}

void segment_call_ends(void) {
    if (segment) set64(&segment->call_began_ns, 0);
}

/* ---- Bell ---- */

uint32_t segment_bell(void) { return segment ? get32(&segment->bell) : 0; }

/* A shared futex: the reader, which is another process, rings the bell too. */
void segment_wait(uint32_t bell, uint32_t timeout_ms) {
    if (!segment) return;
    struct timespec timeout = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};
    syscall(SYS_futex, &segment->bell, FUTEX_WAIT, bell, &timeout, NULL, 0);
}

void segment_ring(void) {
    if (!segment) return;
    __atomic_add_fetch(&segment->bell, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &segment->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}
