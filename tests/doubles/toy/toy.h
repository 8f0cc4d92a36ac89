/* A vendor without a device: it records the operations that the workload gives it. */
#ifndef TOY_H
#define TOY_H

#include "../../../ffi/activity/source.h"

extern const struct activity_source toy_source;

#endif
