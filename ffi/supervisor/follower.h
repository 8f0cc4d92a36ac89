/* A follower: a regular file that the workload writes itself, whose new bytes go to the ring. */
#ifndef SERVICE_FOLLOWER_H
#define SERVICE_FOLLOWER_H

#include <stdint.h>
#include <sys/types.h>

struct follower {
    int fd;          /* -1: none */
    off_t at;        /* offset up to which the file has been read */
    uint32_t stream; /* of the ring */
};

/* Follows the file behind descriptor `fd`, from its present end on. */
void follow_open(struct follower *f, int fd, uint32_t stream);

/* Records the bytes that were appended since the last call. */
void follow(struct follower *f);

#endif
