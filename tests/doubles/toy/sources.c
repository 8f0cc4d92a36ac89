/* The table of sources in the library for tests: the product's source and the toy. */
#include "../../../ffi/cuda/source.h"
#include "toy.h"

const struct activity_source *const activity_sources[ACTIVITY_SOURCES] = {&cuda_source, &toy_source};
