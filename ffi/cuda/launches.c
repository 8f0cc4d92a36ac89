/* Launches: the count of those that were seen. */
#include "launches.h"

#include <stdatomic.h>

#include "../activity/overhead.h"
#include "../segment/segment.h"
#include "callbacks.h"

/* Further ones are not counted: threads that launch do not compete for a cache line. */
#define ENOUGH 3u

static _Atomic bool is_watched;
static _Atomic uint32_t seen;
static _Atomic uint64_t first_ns;

static _Thread_local bool made_node; /* by the call of this thread */

static void see(void) {
    uint32_t count = atomic_load_explicit(&seen, memory_order_relaxed);
    if (count == ENOUGH) return;
    if (count == 0) atomic_store(&first_ns, monotonic_ns());
    atomic_store(&seen, count + 1);
    segment_ring();
}

void launches_api(const struct cupti_callback_data *data) {
    bool entered = data->site == CUPTI_API_ENTER, launched = !entered && !made_node && callback_result(data) == 0;
    made_node = false;
    if (launched && atomic_load_explicit(&is_watched, memory_order_relaxed)) see();
}

void launches_made_node(void) { made_node = true; }

void launches_watch(bool on) {
    if (on != atomic_load(&is_watched)) atomic_store(&seen, 0);
    atomic_store(&is_watched, on);
    callbacks_watch(on);
}

bool launches_since(uint64_t ns) {
    return atomic_load(&seen) == ENOUGH && monotonic_ns() - atomic_load(&first_ns) >= ns;
}
