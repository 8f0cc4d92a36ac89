/* Assertions and pseudo-random numbers for the test programs in C. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (condition) break;                                                   \
        fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
        exit(1);                                                                \
    } while (0)

static inline uint32_t random_below(uint64_t *state, uint32_t limit) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % limit);
}
