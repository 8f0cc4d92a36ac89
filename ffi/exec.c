/* libservice.so: what Deno opens. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "export.h"

/* Replaces this process by the program at `path` with our environment. `words` are its arguments,
 * argv[0] first, each ended by a NUL. Returns a negative errno where it cannot. */
SERVICE_EXPORT int32_t service_exec(const char *path, const char *words, uint64_t length) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < length; i++) count += words[i] == '\0';
    const char **argv = calloc(count + 1, sizeof *argv);
    if (!argv) return -ENOMEM;
    for (uint64_t i = 0, at = 0; i < count; i++) {
        argv[i] = words + at;
        while (words[at] != '\0') at++;
        at++;
    }
    /* Deno ignores it, which an exec would hand down. What else is ignored was so before us. */
    void (*before)(int) = signal(SIGPIPE, SIG_DFL);
    execve(path, (char *const *)argv, environ);
    int error = errno;
    signal(SIGPIPE, before);
    free(argv);
    return -error;
}
