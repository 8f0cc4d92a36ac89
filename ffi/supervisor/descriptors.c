/* Open file descriptors, read from /proc/self/fd: as many as there are. */
#define _GNU_SOURCE
#include "descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int *descriptors_from(int first) {
    DIR *directory = opendir("/proc/self/fd");
    if (!directory) return NULL;
    size_t count = 0, room = 64;
    int *list = malloc(room * sizeof *list);
    for (struct dirent *entry; list && (entry = readdir(directory));) {
        int fd = atoi(entry->d_name); /* 0 for "." and ".." */
        if (fd < first || fd == dirfd(directory)) continue;
        list[count++] = fd;
        if (count < room) continue;
        int *larger = realloc(list, (room *= 2) * sizeof *list);
        if (!larger) free(list);
        list = larger;
    }
    closedir(directory);
    if (list) list[count] = -1;
    return list;
}

void descriptors_close(int *list) {
    for (int *fd = list; fd && *fd >= 0; fd++) close(*fd);
    free(list);
}

void descriptors_close_from(int first) {
    /* Kernels before 5.9 and some containers' filters do not have it. */
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) != 0)
        descriptors_close(descriptors_from(first));
}

void descriptor_unblock(int fd) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}
