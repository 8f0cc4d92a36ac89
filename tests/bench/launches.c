/* Cost of a launch for the thread that makes it: prints the threads' processor time for each launch, in ns.
 * Arguments: the profiler's library or "none", threads, millions of launches in each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launches.h"

enum { THREADS = 64, BATCH = 1000 };

static uint64_t launches;
static _Atomic uint64_t spent_ns;

static uint64_t cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* One record in a thousand launches: where there are none, a profiler looks for the reason. */
static void *launch_many(void *unused) {
    uint64_t queue[8], ns = 0;
    for (uint64_t done = 0; done < launches; done += BATCH) {
        uint64_t start = cpu_ns();
        for (uint64_t i = 0; i < BATCH; i++) double_launch(queue, done + i);
        ns += cpu_ns() - start;
        double_record();
    }
    atomic_fetch_add(&spent_ns, ns);
    return unused;
}

static bool inject(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    int (*initialize)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;
    if (initialize) initialize();
    if (!double_is_profiled()) fprintf(stderr, "%s does not profile\n", path);
    return double_is_profiled();
}

int main(int count, char **words) {
    if (count != 4) return 1;
    if (strcmp(words[1], "none") != 0 && !inject(words[1])) return 1;
    int threads = atoi(words[2]);
    launches = (uint64_t)(atof(words[3]) * 1e6);
    pthread_t running[THREADS];
    for (int i = 0; i < threads; i++) pthread_create(&running[i], NULL, launch_many, NULL);
    for (int i = 0; i < threads; i++) pthread_join(running[i], NULL);
    printf("%.3f\n", (double)spent_ns / (double)(launches * (uint64_t)threads));
    return 0;
}
