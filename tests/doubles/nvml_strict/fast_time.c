/* Preloaded: time that passes FAST_TIME times as fast, for the clocks and waits that the poller and the double use. */

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CLOCKS = 16 };
#define SECOND_NS INT64_C(1000000000)

static int64_t begins[CLOCKS];
static int64_t factor = 1;

static int64_t real_ns(clockid_t clock) {
    struct timespec time;
    syscall(SYS_clock_gettime, clock, &time);
    return time.tv_sec * SECOND_NS + time.tv_nsec;
}

__attribute__((constructor)) static void begin(void) {
    const char *given = getenv("FAST_TIME");
    factor = given ? atoll(given) : 1;
    for (clockid_t clock = 0; clock < CLOCKS; clock++) begins[clock] = real_ns(clock);
}

static struct timespec to_timespec(int64_t ns) { return (struct timespec){ ns / SECOND_NS, ns % SECOND_NS }; }

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock < 0 || clock >= CLOCKS) return (int)syscall(SYS_clock_gettime, clock, time);
    *time = to_timespec(begins[clock] + (real_ns(clock) - begins[clock]) * factor);
    return 0;
}

static struct timespec real_deadline(clockid_t clock, const struct timespec *fast) {
    int64_t ns = fast->tv_sec * SECOND_NS + fast->tv_nsec;
    return to_timespec(begins[clock] + (ns - begins[clock]) / factor);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict deadline) {
    static int (*real)(sem_t *, const struct timespec *);
    if (!real) real = (int (*)(sem_t *, const struct timespec *))dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec at = real_deadline(CLOCK_REALTIME, deadline);
    return real(semaphore, &at);
}

int nanosleep(const struct timespec *duration, struct timespec *rest) {
    struct timespec real = to_timespec((duration->tv_sec * SECOND_NS + duration->tv_nsec) / factor);
    return (int)syscall(SYS_nanosleep, &real, rest);
}
