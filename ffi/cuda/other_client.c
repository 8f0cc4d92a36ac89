/* The other CUPTI client: detection by attribute, by silence and by the lost subscription. */
#include "other_client.h"

#include <string.h>

#include "../activity/collector.h"
#include "../segment/segment.h"
#include "buffers.h"
#include "source.h"
#include "subscription.h"

/* Checks in a row with launches, but no buffer requested or returned, that mean an interruption. */
#define SILENT_CHECKS 3u
/* Until then flushes return the buffers that CUPTI still has; the others went to the other client. */
#define RECLAIM_CHECKS 10u
/* The bell rings after this many launches. */
#define POLL_LAUNCHES 64u
#define REASON_SIZE 512
#define REASON_TAKEN_OVER "another CUPTI client took over the activity buffers (torch.profiler does)"

static uint8_t per_thread_before;

/* The other client, and the counts of the last check. */
static struct {
    bool interrupts;
    bool active; /* its session is certainly running: it has set the attribute */
    uint32_t silent_checks;
    uint32_t checks_to_reclaim;
    uint64_t activity, launches;
} other;

void other_client_begin(void) { per_thread_before = subscription_per_thread_attribute(); }

bool other_client_interrupts(void) { return other.interrupts; }

static void interrupt_capture(void) {
    if (other.interrupts) return;
    other.interrupts = true;
    other.checks_to_reclaim = 0;
    buffers_lose();
    collector_state(&cuda_source, SEGMENT_INTERRUPTED, REASON_TAKEN_OVER);
}

static void resume_capture(void) {
    memset(&other, 0, sizeof other);
    other.activity = buffers_activity();
    other.launches = subscription_launches();
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

void other_client_poll(void) {
    if (subscription_per_thread_attribute() != per_thread_before) {
        other.active = true;
        interrupt_capture();
    } else if (other.active) {
        take_back(true);
    }
    subscription_ring_after(POLL_LAUNCHES);
}

static void check_silence(void) {
    uint64_t activity = buffers_activity(), launches = subscription_launches();
    bool silent = activity == other.activity, launching = launches != other.launches;
    other.activity = activity;
    other.launches = launches;
    if (!silent && other.interrupts) resume_capture();
    else if (!silent) other.silent_checks = 0;
    else if (launching && ++other.silent_checks >= SILENT_CHECKS) interrupt_capture();
}

void other_client_check(void) {
    other_client_poll();
    if (other.active) return;
    if (other.checks_to_reclaim > 0 && --other.checks_to_reclaim == 0) buffers_reclaim();
    bool silent = buffers_activity() == other.activity;
    if (silent && !subscription_is_alive()) {
        interrupt_capture();
        return take_back(false);
    }
    check_silence();
}
