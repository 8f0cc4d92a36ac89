/* The time that our callbacks take from the application's threads. */
#ifndef SERVICE_OVERHEAD_H
#define SERVICE_OVERHEAD_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

extern _Atomic uint64_t spent_ns;

static inline uint64_t spent_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void spent_since(uint64_t start) {
    atomic_fetch_add_explicit(&spent_ns, spent_now() - start, memory_order_relaxed);
}

#endif
