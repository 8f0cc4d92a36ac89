/* CUPTI's row in the table of sources: how the collector calls the parts of this room. */
#include "source.h"

#include "../activity/accounts.h"
#include "buffers.h"
#include "device_names.h"
#include "other_client.h"
#include "records.h"
#include "subscription.h"
#include "waits.h"

static bool in_node_mode;
static uint64_t lost; /* records that CUPTI dropped, or that were not read */

static bool start(const struct activity_options *options, char *reason, size_t size) {
    in_node_mode = options->graph_nodes;
    if (!subscription_start(in_node_mode, reason, size)) return false;
    other_client_begin();
    return true;
}

static void open(struct accounts *accounts) { records_open(accounts, in_node_mode); }

static void flush(bool all) {
    if (all) buffers_close();
    bool forced = all && !other_client_interrupts();
    cupti.ActivityFlushAll(forced ? CUPTI_FLUSH_FORCED : CUPTI_FLUSH_COMPLETE);
    size_t count = 0;
    if (cupti.ActivityGetNumDroppedRecords(NULL, 0, &count) == CUPTI_SUCCESS) lost += count;
}

static bool is_pending(void) { return buffers_lent() > 0; }

static bool read(struct accounts *accounts) {
    struct buffer buffer;
    if (subscription_has_begun()) device_names_learn();
    if (!buffers_take(&buffer)) return false;
    records_read(accounts, &cupti, buffer);
    buffers_recycle(buffer);
    return true;
}

static void check(void) {
    other_client_check();
    buffers_trim();
}

/* Counts the bytes since the last time: an estimate is not corrected later, as the number must not fall. */
static void count_lost(uint64_t bytes) {
    static uint64_t counted;
    lost += records_in(bytes - counted);
    counted = bytes;
}

static uint64_t dropped(void) {
    struct buffer buffer;
    count_lost(buffers_lost_bytes());
    if (!subscription_is_stopped()) return lost;
    while (buffers_take(&buffer)) lost += records_in(buffer.valid);
    /* The kept waits will never have a device. */
    return lost + waits_kept();
}

/* ---- Names, by CUPTI's numbers ---- */

static const char *const COPIES[] = {
    "unknown",       "host_to_device", "device_to_host",  "host_to_array", "array_to_host",  "array_to_array",
    "array_to_device", "device_to_array", "device_to_device", "host_to_host",  "peer_to_peer",
};
static const char *const MEMORIES[] = {
    "unknown", "pageable", "pinned", "device", "array", "managed", "device_static", "managed_static",
};
static const char *const WAITS[WAIT_TYPES] = {"unknown", "event", "stream_wait_event", "stream", "context"};

#define KINDS(names) {names, sizeof(names) / sizeof *(names)}

const struct activity_source cuda_source = {
    .prefix = "cuda",
    .copies = KINDS(COPIES),
    .sets = KINDS(MEMORIES),
    .waits = KINDS(WAITS),
    .graphs = true,
    .start = start,
    .open = open,
    .flush = flush,
    .is_pending = is_pending,
    .read = read,
    .check = check,
    .poll = other_client_poll,
    .dropped = dropped,
    .stop = subscription_stop,
};
