/* `libcupti` as this process would load it: the copy that is loaded already, else one of the same major
 * version as its CUDA, beside its other CUDA libraries, in the toolkit, or on the loader's path. Two copies in
 * one process would be two clients, each with half of the records. */
#ifndef SERVICE_LIBRARY_H
#define SERVICE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "cupti.h"

/* Fills `cupti`, or writes into `reason` why it cannot. */
bool cupti_library_open(struct cupti *cupti, char *reason, size_t size);

/* Version of CUDA that the loaded driver supports, such as 12040; 0: no driver is loaded. */
int driver_version(void);

#endif
