/* The one counter of the callbacks' time. */
#include "overhead.h"

_Atomic uint64_t overhead_ns;
