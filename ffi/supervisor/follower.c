/* Followers: bytes appended to a regular file, read by offset and recorded. */
#define _GNU_SOURCE
#include "follower.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring.h"

/* Bytes of one read. */
#define READ_SIZE (64u << 10)

void follow_open(struct follower *f, int fd, uint32_t stream) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    f->fd = open(path, O_RDONLY | O_CLOEXEC);
    f->stream = stream;
    f->at = f->fd < 0 ? 0 : lseek(f->fd, 0, SEEK_END);
}

void follow(struct follower *f) {
    static char bytes[READ_SIZE];
    struct stat st;
    if (f->fd < 0 || fstat(f->fd, &st) < 0) return;
    if (st.st_size < f->at) f->at = 0; /* truncated */
    if (st.st_size - f->at > RING_CAPACITY) {
        ring_skip((size_t)(st.st_size - f->at - RING_CAPACITY));
        f->at = st.st_size - RING_CAPACITY;
    }
    while (f->at < st.st_size) {
        ssize_t n = pread(f->fd, bytes, sizeof bytes, f->at);
        if (n <= 0) return;
        ring_write(f->stream, bytes, (size_t)n);
        f->at += n;
    }
}
