/* Decodes CUPTI's records, and adds them to the accounts of their devices. For the collector's thread alone. */
#ifndef SERVICE_RECORDS_H
#define SERVICE_RECORDS_H

#include <stdbool.h>

#include "../activity/accounts.h"
#include "buffers.h"
#include "cupti.h"

/* Makes the series that only CUDA has. */
void records_open(const struct accounts *accounts, bool node_mode);

/* Adds the records of a buffer. */
void records_read(struct accounts *accounts, const struct cupti *cupti, struct buffer buffer);

/* Estimate of the number of records in so many bytes, by the mean size of those read so far: sizes differ by
 * kind and by version. */
uint64_t records_in(uint64_t bytes);

#endif
