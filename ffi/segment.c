#define _GNU_SOURCE
#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SERIES_AT 4096u
#define CELLS_AT (SERIES_AT + SEGMENT_SERIES * (uint32_t)sizeof(struct segment_series))
#define BANK_AT(bank) (CELLS_AT + SEGMENT_CELLS * (uint32_t)sizeof(struct segment_cell) + (bank) * BANK_SIZE)
#define BANK_SIZE (SEGMENT_CELLS * (uint32_t)sizeof(struct segment_value))
#define NAMES_AT BANK_AT(2)

/* Powers of two, and never more than three quarters full. */
#define NAME_SLOTS (1u << 16)
#define CELL_SLOTS (1u << 15)

#define OTHER "(other)"
/* Two processes may have the same pid and start, in namespaces of their own or one after an exec. */
#define NAMESAKES 16
#define HASH_DIGITS 16

_Static_assert(sizeof(struct segment_header) == 120, "readers know the layout");
_Static_assert(SEGMENT_CELLS <= CELL_SLOTS / 4 * 3, "cells are found by their hash");

struct segment_value segment_values[SEGMENT_CELLS];
uint32_t segment_changed[SEGMENT_CELLS];
uint32_t segment_changed_count;
bool segment_is_changed[SEGMENT_CELLS];

static struct segment_header *segment;
static int segment_fd = -1;

/* What the bank before the last one lacks. */
static uint32_t changed_before[SEGMENT_CELLS];
static uint32_t changed_before_count;

static uint32_t name_slots[NAME_SLOTS]; /* places */
static uint32_t name_count;
static uint32_t cell_slots[CELL_SLOTS]; /* cells + 1 */
static uint32_t cells_of[SEGMENT_SERIES];
static uint32_t other_name;

/* ---- Memory ---- */

static void *at(uint32_t offset) { return (char *)segment + offset; }

static struct segment_series *series_table(void) { return at(SERIES_AT); }

static struct segment_cell *cell_table(void) { return at(CELLS_AT); }

static void set32(uint32_t *field, uint32_t value) { __atomic_store_n(field, value, __ATOMIC_SEQ_CST); }

static void set64(uint64_t *field, uint64_t value) { __atomic_store_n(field, value, __ATOMIC_SEQ_CST); }

static uint32_t get32(const uint32_t *field) { return __atomic_load_n(field, __ATOMIC_SEQ_CST); }

static uint64_t hash(const char *text, size_t length) {
    uint64_t value = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) value = (value ^ (unsigned char)text[i]) * 0x100000001b3u;
    return value ^ value >> 32;
}

/* ---- File ---- */

/* A directory that is ours, made where it is missing; what holds it is for `flags` to say. */
static int enter(int parent, const char *name) {
    if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST) return -errno;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -errno;
    struct statx status;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_UID | STATX_MODE, &status) == 0 &&
        status.stx_uid == geteuid() && !(status.stx_mode & 022))
        return fd;
    close(fd);
    return -EPERM;
}

/* Makes what is missing on the way to `path`, but for its last two parts, and opens that. */
static int approach(char *path, char **rest) {
    char *last = strrchr(path, '/');
    if (path[0] != '/' || last == path) return -EINVAL;
    *last = '\0';
    char *before = strrchr(path, '/');
    *last = '/';
    if (before == path) return -EINVAL;
    for (char *slash = path; (slash = strchr(slash + 1, '/')) && slash <= before;) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    *before = '\0';
    *rest = before + 1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Opens a directory whose last two parts nobody else can have put there. */
static int open_directory(const char *directory, size_t length) {
    char path[4096], *rest;
    if (length == 0 || length >= sizeof path) return -EINVAL;
    memcpy(path, directory, length);
    path[length] = '\0';
    int base = approach(path, &rest);
    if (base < 0) return base;
    char *slash = strchr(rest, '/');
    *slash = '\0';
    int parent = enter(base, rest);
    close(base);
    if (parent < 0) return parent;
    int fd = enter(parent, slash + 1);
    close(parent);
    return fd;
}

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

static int create_file(int directory, uint64_t ticks, char *name, size_t size) {
    int fd = -1;
    for (int i = 0; i < NAMESAKES && fd < 0; i++) {
        int used = snprintf(name, size, "%ld-%llu", (long)getpid(), (unsigned long long)ticks);
        if (i > 0) snprintf(name + used, size - (size_t)used, "-%d", i);
        fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST) break;
    }
    return fd < 0 ? -errno : fd;
}

/* Takes the room now: a page that the file system cannot give later would be a SIGBUS. */
static int allocate(int fd) {
    int error;
    do error = posix_fallocate(fd, 0, SEGMENT_SIZE);
    while (error == EINTR);
    if (error != 0) return -error;
    return flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : -errno;
}

static int create_in(int directory, uint64_t ticks) {
    char name[64];
    int fd = create_file(directory, ticks, name, sizeof name);
    if (fd < 0) return fd;
    int error = allocate(fd);
    void *memory = MAP_FAILED;
    if (error == 0) {
        memory = mmap(NULL, SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED) error = -errno;
    }
    if (error != 0) {
        unlinkat(directory, name, 0);
        close(fd);
        return error;
    }
    segment = memory;
    segment_fd = fd;
    return 0;
}

/* ---- Life ---- */

static void clear(void) {
    memset(segment_values, 0, sizeof segment_values);
    memset(segment_is_changed, 0, sizeof segment_is_changed);
    memset(name_slots, 0, sizeof name_slots);
    memset(cell_slots, 0, sizeof cell_slots);
    memset(cells_of, 0, sizeof cells_of);
    segment_changed_count = changed_before_count = name_count = 0;
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
        .name_bytes = 4, /* place 0 is none */
    };
    other_name = segment_name(OTHER, strlen(OTHER));
    /* Last: a file without it is not ready. */
    uint64_t magic;
    memcpy(&magic, SEGMENT_MAGIC, sizeof magic);
    set64((uint64_t *)(void *)segment->magic, magic);
}

int segment_open(const char *directories) {
    /* The kernel ends who writes past this limit. */
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < SEGMENT_SIZE) return -EFBIG;
    uint64_t ticks = start_ticks();
    int error = -ENOENT;
    for (const char *from = directories; from && *from;) {
        size_t length = strcspn(from, ":");
        int directory = open_directory(from, length);
        error = directory < 0 ? directory : create_in(directory, ticks);
        if (directory >= 0) close(directory);
        if (error == 0) {
            clear();
            write_header(ticks);
            return 0;
        }
        from += length + (from[length] == ':');
    }
    return error;
}

void segment_forget(void) {
    if (!segment) return;
    munmap(segment, SEGMENT_SIZE);
    close(segment_fd);
    segment = NULL;
    segment_fd = -1;
}

/* ---- Tables ---- */

static bool is_name(uint32_t place, const char *text, size_t length) {
    const char *name = at(NAMES_AT + place);
    uint32_t size;
    memcpy(&size, name, sizeof size);
    return size == length && memcmp(name + sizeof size, text, length) == 0;
}

static uint32_t append_name(const char *text, size_t length) {
    uint32_t place = segment->name_bytes, size = (uint32_t)length;
    uint32_t taken = (uint32_t)((sizeof size + length + 3) & ~(size_t)3);
    if (name_count >= NAME_SLOTS / 4 * 3 || taken > SEGMENT_SIZE - NAMES_AT - place) return 0;
    char *name = at(NAMES_AT + place);
    memcpy(name, &size, sizeof size);
    memcpy(name + sizeof size, text, length);
    set32(&segment->name_bytes, place + taken);
    name_count++;
    return place;
}

/* Cuts at the start of a character. */
static size_t cut(const char *text, size_t length, char *out) {
    size_t kept = SEGMENT_NAME_LENGTH - HASH_DIGITS;
    while (kept > 0 && (text[kept] & 0xc0) == 0x80) kept--;
    if (kept == 0) kept = SEGMENT_NAME_LENGTH - HASH_DIGITS;
    memcpy(out, text, kept);
    snprintf(out + kept, HASH_DIGITS + 1, "%016llx", (unsigned long long)hash(text, length));
    return kept + HASH_DIGITS;
}

uint32_t segment_name(const char *text, size_t length) {
    if (!segment) return 0;
    char shorter[SEGMENT_NAME_LENGTH + 1];
    if (length > SEGMENT_NAME_LENGTH) {
        length = cut(text, length, shorter);
        text = shorter;
    }
    uint32_t slot = (uint32_t)hash(text, length) % NAME_SLOTS;
    for (; name_slots[slot] != 0; slot = (slot + 1) % NAME_SLOTS)
        if (is_name(name_slots[slot], text, length)) return name_slots[slot];
    return name_slots[slot] = append_name(text, length);
}

static uint32_t tags_name(const char *const tags[]) {
    char text[SEGMENT_NAME_LENGTH];
    size_t used = 0;
    for (; tags && *tags; tags++) {
        size_t length = strlen(*tags) + 1;
        if (length > sizeof text - used) return 0;
        memcpy(text + used, *tags, length);
        used += length;
    }
    return segment_name(text, used);
}

uint32_t segment_series(const char *metric, uint32_t type, const char *const tags[]) {
    if (!segment) return SEGMENT_NONE;
    bool tagged = tags && tags[0];
    struct segment_series made = {segment_name(metric, strlen(metric)), 0, type, 0};
    if (tagged) made.tags = tags_name(tags);
    if (made.name == 0 || (tagged && made.tags == 0)) return SEGMENT_NONE;
    uint32_t count = segment->series_count;
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(&series_table()[i], &made, sizeof made) == 0) return i;
    if (count == SEGMENT_SERIES) return SEGMENT_NONE;
    series_table()[count] = made;
    set32(&segment->series_count, count + 1);
    return count;
}

static uint32_t *find_cell(struct segment_cell cell) {
    uint32_t slot = (cell.series * 0x9e3779b1u ^ cell.name * 0x85ebca6bu) >> 7 & (CELL_SLOTS - 1);
    for (; cell_slots[slot] != 0; slot = (slot + 1) % CELL_SLOTS)
        if (memcmp(&cell_table()[cell_slots[slot] - 1], &cell, sizeof cell) == 0) break;
    return &cell_slots[slot];
}

/* A frame leaves room for the cell "(other)" of its profile, and of all profiles to come. */
static bool has_room(struct segment_cell cell) {
    uint32_t count = segment->cell_count;
    if (series_table()[cell.series].type != SEGMENT_PROFILE || cell.name == other_name)
        return count < SEGMENT_CELLS;
    return cells_of[cell.series] < SEGMENT_SERIES_CELLS - 1 && count < SEGMENT_CELLS - SEGMENT_SERIES;
}

uint32_t segment_cell(uint32_t series, uint32_t name) {
    if (!segment || series >= segment->series_count) return SEGMENT_NONE;
    bool profile = series_table()[series].type == SEGMENT_PROFILE;
    struct segment_cell cell = {series, profile && name == 0 ? other_name : name};
    uint32_t *slot = find_cell(cell);
    if (*slot == 0 && !has_room(cell)) {
        if (!profile || cell.name == other_name) return SEGMENT_NONE;
        return segment_cell(series, other_name);
    }
    if (*slot == 0) {
        uint32_t count = segment->cell_count;
        cell_table()[count] = cell;
        cells_of[series]++;
        *slot = count + 1;
        set32(&segment->cell_count, count + 1);
    }
    return *slot - 1;
}

/* ---- Values ---- */

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
    struct segment_value *bank = at(BANK_AT((uint32_t)generation & 1));
    set64(&segment->begun, generation);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    /* This bank missed the publication before. */
    write_values(bank, changed_before, changed_before_count);
    write_values(bank, segment_changed, segment_changed_count);
    set64(&segment->published_ns, realtime_ns());
    set64(&segment->published, generation);
    set32(&segment->answered, answered);
    memcpy(changed_before, segment_changed, segment_changed_count * sizeof changed_before[0]);
    changed_before_count = segment_changed_count;
    for (uint32_t i = 0; i < segment_changed_count; i++) segment_is_changed[segment_changed[i]] = false;
    segment_changed_count = 0;
}

uint32_t segment_asked(void) { return segment ? get32(&segment->asked) : 0; }

uint32_t segment_taken(void) { return segment ? get32(&segment->taken) : 0; }

void segment_state(uint32_t state, const char *reason) {
    if (!segment) return;
    set32(&segment->reason, reason ? segment_name(reason, strlen(reason)) : 0);
    set32(&segment->state, state);
}

/* ---- Bell ---- */

uint32_t segment_bell(void) { return segment ? get32(&segment->bell) : 0; }

/* Shared: the reader, another process, rings it, too. */
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
