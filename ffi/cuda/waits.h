/* Waits of the host, by context: its device may be known only later. For the collector's thread alone. */
#ifndef SERVICE_WAITS_H
#define SERVICE_WAITS_H

#include <stdint.h>

#define WAIT_TYPES 5u
#define WAITS_UNKNOWN UINT32_MAX

struct wait {
    uint64_t ns, count;
};

/* Sets the device of a context. The first time, returns the waits that were kept for it, by type; else
 * NULL. */
const struct wait *waits_learn(uint32_t context, uint32_t device);

/* The device of a context; WAITS_UNKNOWN: the wait is kept. */
uint32_t waits_add(uint32_t context, uint32_t type, uint64_t ns);

/* Number of waits that are kept, or had no room. */
uint64_t waits_kept(void);

#endif
