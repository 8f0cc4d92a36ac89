/* Part of the host: time that passes FAST_TIME times as fast, for the clocks and waits of the poller and the driver.
 * While there is a file at CLOCK_BACK, the wall clock is an hour late. */

#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CLOCKS = 16 };
#define SECOND_NS INT64_C(1000000000)

static int64_t begins[CLOCKS];
static int64_t factor = 1;
static const char *back;

static int64_t real_ns(clockid_t clock) {
    struct timespec time;
    syscall(SYS_clock_gettime, clock, &time);
    return time.tv_sec * SECOND_NS + time.tv_nsec;
}

__attribute__((constructor)) static void begin(void) {
    const char *given = getenv("FAST_TIME");
    factor = given ? atoll(given) : 1;
    back = getenv("CLOCK_BACK");
    for (clockid_t clock = 0; clock < CLOCKS; clock++) begins[clock] = real_ns(clock);
}

static struct timespec to_timespec(int64_t ns) { return (struct timespec){ ns / SECOND_NS, ns % SECOND_NS }; }

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock < 0 || clock >= CLOCKS) return (int)syscall(SYS_clock_gettime, clock, time);
    *time = to_timespec(begins[clock] + (real_ns(clock) - begins[clock]) * factor);
    if (clock == CLOCK_REALTIME && back && access(back, F_OK) == 0) time->tv_sec -= 3600;
    return 0;
}

int poll(struct pollfd *events, nfds_t count, int milliseconds) {
    struct timespec real = to_timespec(milliseconds * INT64_C(1000000) / factor);
    return (int)syscall(SYS_ppoll, events, count, milliseconds < 0 ? NULL : &real, NULL, 0);
}

int nanosleep(const struct timespec *duration, struct timespec *rest) {
    struct timespec real = to_timespec((duration->tv_sec * SECOND_NS + duration->tv_nsec) / factor);
    return (int)syscall(SYS_nanosleep, &real, rest);
}
