/* The double of the driver and of CUPTI in which tests/bench/launches.c counts the cost of a launch. */
#ifndef BENCH_LAUNCHES_H
#define BENCH_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a profiler has registered its buffers. */
bool double_is_profiled(void);

/* Launches as the driver does under CUPTI: asks before and after whether a callback is enabled, and passes the
 * arguments on to `queue`. There is no record: those have benchmarks of their own. */
void double_launch(volatile uint64_t queue[8], uint64_t number);

/* Requests a buffer for one kernel's record, and returns it. */
void double_record(void);

#endif
