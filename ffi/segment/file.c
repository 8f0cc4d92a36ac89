/* The segment's file: created, locked and mapped in the first directory that has room. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts.h"

/* Processes that may have the same pid and start time: in other pid namespaces, or before an exec. */
#define SAME_NAMES 16

/* Opens a directory that only this user can write to; creates it if it is missing. */
static int open_own(int parent, const char *name) {
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

/* Creates and opens the parents of the last two parts of `path`; `rest` becomes these two parts. */
static int open_base(char *path, char **rest) {
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

/* Opens a directory whose last two parts belong to this user alone. */
static int open_directory(const char *directory, size_t length) {
    char path[4096], *rest;
    if (length == 0 || length >= sizeof path) return -EINVAL;
    memcpy(path, directory, length);
    path[length] = '\0';
    int base = open_base(path, &rest);
    if (base < 0) return base;
    char *slash = strchr(rest, '/');
    *slash = '\0';
    int parent = open_own(base, rest);
    close(base);
    if (parent < 0) return parent;
    int fd = open_own(parent, slash + 1);
    close(parent);
    return fd;
}

static int create_file(int directory, uint64_t ticks, char *name, size_t size) {
    int fd = -1;
    for (int i = 0; i < SAME_NAMES && fd < 0; i++) {
        int used = snprintf(name, size, "%ld-%llu", (long)getpid(), (unsigned long long)ticks);
        if (i > 0) snprintf(name + used, size - (size_t)used, "-%d", i);
        fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST) break;
    }
    return fd < 0 ? -errno : fd;
}

/* Allocates all pages now: a page that the file system cannot provide later would be a SIGBUS. */
static int allocate(int fd) {
    int error;
    do error = posix_fallocate(fd, 0, SEGMENT_SIZE);
    while (error == EINTR);
    if (error != 0) return -error;
    return flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : -errno;
}

static int create_in(int directory, uint64_t ticks, struct segment_header **memory) {
    char name[64];
    int fd = create_file(directory, ticks, name, sizeof name);
    if (fd < 0) return fd;
    int error = allocate(fd);
    void *mapped = MAP_FAILED;
    if (error == 0) {
        mapped = mmap(NULL, SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (mapped == MAP_FAILED) error = -errno;
    }
    if (error != 0) {
        unlinkat(directory, name, 0);
        close(fd);
        return error;
    }
    *memory = mapped;
    return fd;
}

int segment_directory(const char *directories) {
    int fd = -ENOENT;
    for (const char *from = directories; from && *from && fd < 0;) {
        size_t length = strcspn(from, ":");
        fd = open_directory(from, length);
        from += length + (from[length] == ':');
    }
    return fd;
}

int segment_file_create(const char *directories, uint64_t ticks, struct segment_header **memory) {
    /* The kernel kills a process that writes past this limit. */
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < SEGMENT_SIZE) return -EFBIG;
    int fd = -ENOENT;
    for (const char *from = directories; from && *from && fd < 0;) {
        size_t length = strcspn(from, ":");
        int directory = open_directory(from, length);
        fd = directory < 0 ? directory : create_in(directory, ticks, memory);
        if (directory >= 0) close(directory);
        from += length + (from[length] == ':');
    }
    return fd;
}
