/* Overhead: the time that callbacks of all sources take from the application's threads. */
#ifndef SERVICE_OVERHEAD_H
#define SERVICE_OVERHEAD_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

extern _Atomic uint64_t overhead_ns;

static inline uint64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Adds the time since `start_ns`, at the end of a callback. */
static inline void overhead_add_since(uint64_t start_ns) {
    atomic_fetch_add_explicit(&overhead_ns, monotonic_ns() - start_ns, memory_order_relaxed);
}

#endif
