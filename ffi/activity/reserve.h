/* Reserved memory: zeros, of which only what is used is resident. */
#ifndef SERVICE_RESERVE_H
#define SERVICE_RESERVE_H

#include <stddef.h>

/* Reserves memory for as long as munmap() is not called. Returns NULL if there is none. */
void *reserve(size_t size);

#endif
