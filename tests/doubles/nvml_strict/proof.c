/* Proof of the double's rules: calls it directly, each case in a process of its own with a script of its own.
 *   proof <library> [<case>]
 * Prints the names of the cases that hold. */

#include "proof.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *library;
static char script[256], ledger[256];

void fail(const char *what, int line) {
    fprintf(stderr, "line %d: %s\n", line, what);
    exit(1);
}

void *find(const char *name) {
    void *function = dlsym(library, name);
    if (!function) fail(name, 0);
    return function;
}

void expect(nvmlReturn_t due, nvmlReturn_t result, const char *name, int line) {
    if (due == result) return;
    fprintf(stderr, "line %d: %s is %u, not %u\n", line, name, result, due);
    exit(1);
}

void say(const char *lines) {
    int file = open(script, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (write(file, lines, strlen(lines)) < 0) fail(lines, 0);
    close(file);
}

bool is_booked(const char *text) {
    static char books[1 << 20];
    int file = open(ledger, O_RDONLY);
    ssize_t length = read(file, books, sizeof books - 1);
    close(file);
    books[length < 0 ? 0 : length] = '\0';
    return strstr(books, text) != NULL;
}

void rest_ms(int milliseconds) {
    struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    nanosleep(&time, NULL);
}

double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

nvmlDevice_t device(unsigned index) {
    nvmlDevice_t handle;
    OK("nvmlDeviceGetHandleByIndex_v2", index, &handle);
    return handle;
}

static void run(const char *path, const struct proof_case *one) {
    setenv("NVML_STRICT_SCRIPT", script, 1);
    setenv("NVML_STRICT_LEDGER", ledger, 1);
    say("# a case\n");
    library = dlopen(path, RTLD_NOW);
    if (!library) fail(dlerror(), __LINE__);
    if (one->aborts && freopen("/dev/null", "w", stderr) == NULL) fail("stderr", __LINE__);
    one->run();
    exit(0);
}

/* Runs a case; false: its rule does not hold. */
static bool holds(const char *path, const struct proof_case *one) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) run(path, one);
    waitpid(child, &status, 0);
    unlink(script), unlink(ledger);
    bool held = one->aborts ? WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT
                            : WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (held) puts(one->name);
    else fprintf(stderr, "%s: status %d\n", one->name, status);
    return held;
}

int main(int argc, char **argv) {
    const struct proof_case *const groups[] = { device_cases, time_cases };
    char folder[] = "/tmp/nvml-proof-XXXXXX";
    bool all = true;
    if (argc < 2 || !mkdtemp(folder)) return 2;
    snprintf(script, sizeof script, "%s/script", folder);
    snprintf(ledger, sizeof ledger, "%s/ledger", folder);
    for (size_t group = 0; group < sizeof groups / sizeof *groups; group++) {
        for (const struct proof_case *one = groups[group]; one->name; one++) {
            if (argc == 2 || strcmp(argv[2], one->name) == 0) all = holds(argv[1], one) && all;
        }
    }
    rmdir(folder);
    return all ? 0 : 1;
}
