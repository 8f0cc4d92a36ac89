/* `exec` for the launcher: Deno has no call for it. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "export.h"

/* Replaces this process by the program at `path` with our environment. `words` are its arguments,
 * argv[0] first, each ended by a NUL. Returns a negative errno on failure. */
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
    /* Deno ignores this signal, and exec would pass that on. Others are ignored only if the caller did so. */
    void (*before)(int) = signal(SIGPIPE, SIG_DFL);
    execve(path, (char *const *)argv, environ);
    int error = errno;
    signal(SIGPIPE, before);
    free(argv);
    return -error;
}
