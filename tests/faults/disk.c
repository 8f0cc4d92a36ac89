/*
 * Preloaded into a process, fails it at one exact change of a file of a database: kills it before or
 * after the change, or lets the disk be full from there on. DISK_FAULT names a file of two 32-bit
 * numbers that the test writes at any time: what is to happen, and at which change from now on.
 * Files whose path holds DISK_FAULT_PATH count.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum action { NONE, KILL_BEFORE, KILL_AFTER, FULL };

struct control {
    _Atomic int action;
    _Atomic int countdown;
};

static struct control *control;
static const char *watched;

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("DISK_FAULT");
    watched = getenv("DISK_FAULT_PATH");
    int fd = path && watched ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *mapped = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped != MAP_FAILED)
        control = mapped;
}

static int is_watched(int fd)
{
    char link[32], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return strstr(path, watched) != NULL;
}

/* What happens at this change of the file. */
static enum action action_at(int fd)
{
    if (!control || control->action == NONE || !is_watched(fd))
        return NONE;
    int left = atomic_fetch_sub(&control->countdown, 1);
    if (control->action == FULL)
        return left <= 1 ? FULL : NONE;
    return left == 1 ? (enum action)control->action : NONE;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

#define CHANGE(result, name, parameters, arguments, can_fill)                                        \
    result name parameters                                                                           \
    {                                                                                                \
        static result(*real) parameters;                                                             \
        if (!real)                                                                                   \
            real = (result(*) parameters)dlsym(RTLD_NEXT, #name);                                    \
        enum action action = action_at(fd);                                                          \
        if (action == KILL_BEFORE)                                                                   \
            die();                                                                                   \
        if (action == FULL && can_fill) {                                                            \
            errno = ENOSPC;                                                                          \
            return -1;                                                                               \
        }                                                                                            \
        result given = real arguments;                                                               \
        if (action == KILL_AFTER)                                                                    \
            die();                                                                                   \
        return given;                                                                                \
    }

CHANGE(ssize_t, write, (int fd, const void *bytes, size_t count), (fd, bytes, count), 1)
CHANGE(ssize_t, pwrite, (int fd, const void *bytes, size_t count, off_t at), (fd, bytes, count, at), 1)
CHANGE(ssize_t, pwrite64, (int fd, const void *bytes, size_t count, off_t at), (fd, bytes, count, at), 1)
CHANGE(int, fsync, (int fd), (fd), 0)
CHANGE(int, fdatasync, (int fd), (fd), 0)
CHANGE(int, ftruncate, (int fd, off_t length), (fd, length), 0)
CHANGE(int, ftruncate64, (int fd, off_t length), (fd, length), 0)
