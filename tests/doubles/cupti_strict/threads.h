/* CPU time of a process by the names of its threads, and its memory. */
#ifndef THREADS_H
#define THREADS_H

#include <stdint.h>

/* Prints `"threads":{"profiler":ns,"delivery":ns},`: the threads of no one else, and of delivery. */
void print_threads(void);
uint64_t resident_kib(void);

#endif
