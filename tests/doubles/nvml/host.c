/* A process that polls devices, as the watcher does: `host LIBRARY DIRECTORIES [NVML]`. Prints what starting
 * returned, and polls until it gets a SIGTERM; prints how many milliseconds stopping took, and exits. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char *argv[]) {
    if (argc < 3) return 2;
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, NULL);
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*start)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(library, "devices_start");
    void (*stop)(void) = (void (*)(void))dlsym(library, "devices_stop");
    double began = now_ms();
    int started = start(argv[2], argc > 3 ? argv[3] : NULL);
    printf("%d %.3f\n", started, now_ms() - began);
    fflush(stdout);
    int signal;
    sigwait(&end, &signal);
    began = now_ms();
    stop();
    printf("%.3f\n", now_ms() - began);
    return 0;
}
