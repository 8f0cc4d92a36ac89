/* CUPTI's row in the table of sources. */
#ifndef SERVICE_CUDA_SOURCE_H
#define SERVICE_CUDA_SOURCE_H

#include "../activity/source.h"

extern const struct activity_source cuda_source;

#endif
