/* CUPTI's records, added up in the cells of the segment. All of it is for the writer's thread alone. */
#ifndef SERVICE_RECORDS_H
#define SERVICE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffers.h"
#include "cupti.h"

/* Makes the series that do not depend on a device. */
void records_open(bool node_mode);

/* Adds the records of a buffer. */
void records_read(const struct cupti *cupti, struct buffer buffer);

/* Records that were lost. */
void records_lost(uint64_t count);

/* Publishes. `asked` is what segment_asked() said before the records were gathered; `last`: nothing
 * comes after it. */
void records_publish(uint32_t asked, bool last);

#endif
