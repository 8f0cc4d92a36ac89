/* The table of sources: one row for each vendor's library. */
#include "activity/source.h"
#include "cuda/source.h"

const struct activity_source *const activity_sources[ACTIVITY_SOURCES] = {&cuda_source};
