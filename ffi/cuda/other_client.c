/* The other CUPTI client: detection by attribute, by silence and by the lost subscription. */
#include "other_client.h"

#include <string.h>

#include "../activity/collector.h"
#include "../segment/segment.h"
#include "buffers.h"
#include "callbacks.h"
#include "launches.h"
#include "source.h"
#include "subscription.h"

/* Launches of this age mean an interruption if a flush after them returns nothing. */
#define LATE_NS 250000000u
/* Until then flushes return the buffers that CUPTI still has; the others went to the other client. */
#define RECLAIM_CHECKS 10u
#define REASON_SIZE 512
#define REASON_TAKEN_OVER "another CUPTI client took over the activity buffers (torch.profiler does)"
#define REASON_SILENT \
    "CUPTI returns no records of what is launched: another client took over the activity buffers, or a kernel runs " \
    "for seconds"

static uint8_t per_thread_before;
static bool has_per_thread; /* the attribute */

/* The other client, and the last check. */
static struct {
    bool interrupts;
    bool active;  /* its session is certainly running: it has set the attribute */
    bool silent;  /* no buffer was requested or returned since the check before */
    bool flushed; /* since then, after launches */
    uint32_t checks_to_reclaim;
    uint64_t activity;
} other;

void other_client_begin(void) { has_per_thread = subscription_per_thread_attribute(&per_thread_before); }

bool other_client_interrupts(void) { return other.interrupts; }

static void interrupt_capture(const char *reason) {
    if (other.interrupts) return;
    other.interrupts = true;
    other.checks_to_reclaim = 0;
    launches_watch(false);
    buffers_lose();
    collector_state(&cuda_source, SEGMENT_INTERRUPTED, reason);
}

static void resume_capture(void) {
    memset(&other, 0, sizeof other);
    other.activity = buffers_activity();
    collector_state(&cuda_source, SEGMENT_CAPTURING, NULL);
}

static void take_back(bool subscribed) {
    char reason[REASON_SIZE];
    if (!subscription_renew(subscribed, reason, sizeof reason)) {
        collector_state(&cuda_source, SEGMENT_INTERRUPTED, reason);
        return;
    }
    resume_capture();
    other.checks_to_reclaim = RECLAIM_CHECKS;
}

static void check_attribute(void) {
    uint8_t value;
    if (!subscription_per_thread_attribute(&value)) return;
    if (value != per_thread_before) {
        other.active = true;
        interrupt_capture(REASON_TAKEN_OVER);
    } else if (other.active) {
        take_back(true);
    }
}

/* Of launches during silence: they have buffers now, or another client has theirs. */
static void check_launches(void) {
    if (buffers_activity() != other.activity) {
        other.silent = false;
        launches_watch(false);
    } else if (other.flushed) {
        interrupt_capture(REASON_SILENT);
    } else if (launches_since(LATE_NS)) {
        cupti.ActivityFlushAll(CUPTI_FLUSH_COMPLETE);
        other.flushed = true;
    }
}

bool other_client_poll(void) {
    if (has_per_thread) check_attribute();
    if (launches_since(0)) check_launches();
    return launches_since(0) || (has_per_thread && (other.active || !other.silent));
}

void other_client_check(void) {
    uint64_t activity = buffers_activity();
    other.silent = activity == other.activity;
    other.flushed = false;
    other.activity = activity;
    if (other.active) return;
    if (other.checks_to_reclaim > 0 && --other.checks_to_reclaim == 0) buffers_reclaim();
    if (other.silent && !callbacks_are_alive()) {
        interrupt_capture(REASON_TAKEN_OVER);
        return take_back(false);
    }
    if (!other.silent && other.interrupts) resume_capture();
    launches_watch(other.silent && !other.interrupts);
}
