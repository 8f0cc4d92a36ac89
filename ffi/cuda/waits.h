/* Times that the host waited, by context: which device that is on may be learned later. */
#ifndef SERVICE_WAITS_H
#define SERVICE_WAITS_H

#include <stdint.h>

#define WAIT_TYPES 5u
#define WAITS_UNKNOWN UINT32_MAX

struct wait {
    uint64_t ns, count;
};

/* Says where a context is. Returns what waited for that, by type, once; else NULL. */
const struct wait *waits_learn(uint32_t context, uint32_t device);

/* The device of a context, or WAITS_UNKNOWN: then the wait is kept. */
uint32_t waits_add(uint32_t context, uint32_t type, uint64_t ns);

/* How many waits are kept, or found no place. */
uint64_t waits_kept(void);

#endif
