/* Kills writers at random instants, and reads their segments: `killed DIRECTORY TIMES`. In one generation
 * every cell has the same number, so a torn generation is visible. Prints the counts of generations read
 * from live and from killed writers. */
#define _GNU_SOURCE
#include "../../ffi/segment/segment.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CELLS 300u

static _Noreturn void storm(const char *directory) {
    if (segment_open(directory) != 0) _exit(1);
    const char *tags[] = {"device.uuid", "GPU-1", NULL};
    uint32_t series = segment_series("n", SEGMENT_PROFILE, tags);
    char name[32];
    for (uint64_t value = 1;; value++) {
        if (value <= CELLS) {
            snprintf(name, sizeof name, "frame_%u", (uint32_t)value);
            segment_cell(series, segment_name(name, strlen(name)));
        }
        for (uint32_t cell = 0; cell < CELLS && cell < value; cell++) segment_set(cell, value, ~value);
        segment_publish(0);
    }
}

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void need(int fd, void *into, size_t size, uint32_t at) {
    if (pread(fd, into, size, at) != (ssize_t)size) fail("the file is cut short");
}

static void check_names(int fd, const struct segment_header *header) {
    for (uint32_t i = 0; i < header->cell_count; i++) {
        struct segment_cell cell;
        uint32_t length;
        char name[32], expected[32];
        need(fd, &cell, sizeof cell, header->cells_at + i * (uint32_t)sizeof cell);
        if (cell.series >= header->series_count) fail("a cell has no series");
        if (cell.name + 4 >= header->name_bytes) fail("a cell has no name");
        need(fd, &length, sizeof length, header->names_at + cell.name);
        if (length >= sizeof name) fail("a name is too long");
        need(fd, name, length, header->names_at + cell.name + 4);
        name[length] = '\0';
        snprintf(expected, sizeof expected, "frame_%u", i + 1);
        if (strcmp(name, expected) != 0) fail("a name is not whole");
    }
}

/* Reads as the watcher does. Returns whether there was a complete generation. */
static bool read_whole(int fd, bool names) {
    static struct segment_value bank[SEGMENT_CELLS];
    struct segment_header before, after;
    need(fd, &before, sizeof before, 0);
    if (memcmp(before.magic, SEGMENT_MAGIC, sizeof before.magic) != 0) return false;
    uint32_t count = before.cell_count;
    need(fd, bank, count * sizeof bank[0], before.banks_at[before.published & 1]);
    need(fd, &after, sizeof after, 0);
    if (after.begun - before.published > 1) return false;
    for (uint32_t i = 0; i < count; i++) {
        /* A cell may be newer than the generation. */
        bool is_new = bank[i].a == 0 && bank[i].b == 0;
        if (!is_new && (bank[i].a != before.published || bank[i].b != ~before.published))
            fail("a generation is not whole");
        if (is_new && i < CELLS && before.published > i) fail("a generation lacks a cell");
    }
    if (names) check_names(fd, &before);
    return true;
}

static int open_segment(const char *directory) {
    DIR *entries = opendir(directory);
    int fd = -1;
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (entry->d_name[0] != '.') {
            fd = openat(dirfd(entries), entry->d_name, O_RDONLY);
            unlinkat(dirfd(entries), entry->d_name, 0);
        }
    if (entries) closedir(entries);
    return fd;
}

int main(int argc, char *argv[]) {
    if (argc != 3) return 2;
    unsigned seed = (unsigned)getpid();
    int living = 0, dead = 0;
    for (int times = atoi(argv[2]); times > 0; times--) {
        pid_t child = fork();
        if (child == 0) storm(argv[1]);
        int fd = -1;
        usleep((useconds_t)(rand_r(&seed) % 3000));
        bool read_alive = times % 4 == 0;
        if (read_alive && (fd = open_segment(argv[1])) >= 0)
            for (int i = 0; i < 20; i++) {
                struct segment_header header;
                if (pread(fd, &header, sizeof header, 0) == sizeof header) living += read_whole(fd, false);
            }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        if (fd < 0) fd = open_segment(argv[1]);
        if (fd < 0) continue;
        struct segment_header header;
        if (pread(fd, &header, sizeof header, 0) == sizeof header && header.magic[0] != '\0') {
            if (!read_whole(fd, true)) fail("the dead left no whole generation");
            dead++;
        }
        close(fd);
    }
    printf("%d %d\n", living, dead);
    return 0;
}
