/* NVLinks: their number, their traffic, and now and then their states and errors, of all links together. */
#include "fields.h"
#include "groups.h"

#define KIBIBYTE 1024

static const struct {
    unsigned int id;
    enum metric metric;
    unsigned int later; /* field of later devices, from Blackwell on; 0: they have none */
} TRAFFIC[] = {
    {NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, NVLINK_DATA_TX, NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES},
    {NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, NVLINK_DATA_RX, NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES},
    {NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX, NVLINK_RAW_TX, 0},
    {NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX, NVLINK_RAW_RX, 0},
},
  ERRORS[] = {
    {NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY, NVLINK_REPLAYS, 0},
    {NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY, NVLINK_RECOVERIES, NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS},
    {NVML_FI_DEV_NVLINK_ERROR_DL_CRC, NVLINK_CRC_ERRORS, 0},
};

#define COUNT_OF(table) (int)(sizeof(table) / sizeof(table)[0])

_Static_assert(NVLINK_CRC_ERRORS - NVLINK_DATA_TX + 1 == NVLINK_COUNTERS, "its rows are those of the metrics");

/* Adds what each link has counted: one that is down counts nothing, one that comes back goes on. The metric is
 * refused if no link answers. */
static void count_links(struct device *device, enum metric metric, unsigned int id, uint64_t unit) {
    nvmlFieldValue_t fields[NVLINKS_MOST] = {0};
    int count = (int)device->nvlink_count;
    for (int link = 0; link < count; link++) {
        fields[link].fieldId = id;
        fields[link].scopeId = (unsigned int)link;
    }
    fields_ask(device, fields, count);
    uint64_t more = 0;
    bool answered = false;
    for (int link = 0; link < count; link++) {
        struct link_reading *reading = &device->nvlinks[metric - NVLINK_DATA_TX][link];
        if (fields[link].nvmlReturn != NVML_SUCCESS) continue;
        unsigned bits;
        uint64_t value = field_value(&fields[link], &bits);
        if (reading->known) more += device_increase(reading->last, value, bits);
        *reading = (struct link_reading){true, value};
        answered = true;
    }
    if (answered) device_count(device, metric, more * unit);
    else device_refuses(device, metric, fields[0].nvmlReturn);
}

/* ---- Traffic ---- */

/* Asks for the sums over all links; returns false if the driver has none. */
static bool poll_sums(struct device *device) {
    nvmlFieldValue_t fields[COUNT_OF(TRAFFIC)] = {0};
    for (int i = 0; i < COUNT_OF(TRAFFIC); i++) {
        fields[i].fieldId = TRAFFIC[i].id;
        fields[i].scopeId = NVML_ALL_LINKS;
    }
    fields_ask(device, fields, COUNT_OF(TRAFFIC));
    if (device->fault) return true;
    if (fields[0].nvmlReturn != NVML_SUCCESS) return false;
    for (int i = 0; i < COUNT_OF(TRAFFIC); i++) {
        unsigned bits;
        if (fields[i].nvmlReturn != NVML_SUCCESS) device_refuses(device, TRAFFIC[i].metric, fields[i].nvmlReturn);
        else device_counter(device, TRAFFIC[i].metric, field_value(&fields[i], &bits) * KIBIBYTE, 64);
    }
    return true;
}

/* Later links count bytes in fields of their own, and nothing for the protocol. `first`: what was refused is
 * asked once more. */
static void poll_bytes(struct device *device, bool first) {
    for (int i = 0; i < COUNT_OF(TRAFFIC); i++) {
        bool wanted = device_wants(device, TRAFFIC[i].metric) || (first && !device->fault);
        if (TRAFFIC[i].later && wanted) count_links(device, TRAFFIC[i].metric, TRAFFIC[i].later, 1);
    }
}

static void poll_each(struct device *device) {
    for (int i = 0; i < COUNT_OF(TRAFFIC); i++)
        if (device_wants(device, TRAFFIC[i].metric)) count_links(device, TRAFFIC[i].metric, TRAFFIC[i].id, KIBIBYTE);
    if (device_wants(device, NVLINK_DATA_TX) || device->fault) return;
    device->nvlink_traffic = NVLINK_BYTES;
    poll_bytes(device, true);
}

static void poll_traffic(struct device *device) {
    if (device->nvlink_traffic == NVLINK_BYTES) return poll_bytes(device, false);
    if (device->nvlink_traffic == NVLINK_SUMS && poll_sums(device)) return;
    device->nvlink_traffic = NVLINK_EACH;
    poll_each(device);
}

/* ---- Links ---- */

static void poll_count(struct device *device) {
    nvmlFieldValue_t field = {.fieldId = NVML_FI_DEV_NVLINK_LINK_COUNT};
    unsigned bits;
    fields_ask(device, &field, 1);
    field_answers(device, NVLINKS, &field);
    device->nvlink_count = 0;
    if (field.nvmlReturn != NVML_SUCCESS) return;
    uint64_t count = field_value(&field, &bits);
    device->nvlink_count = (uint32_t)(count < NVLINKS_MOST ? count : NVLINKS_MOST);
}

static void poll_states(struct device *device) {
    uint64_t active = 0;
    if (!device_wants(device, NVLINKS_ACTIVE)) return;
    for (unsigned int link = 0; link < device->nvlink_count; link++) {
        int state = 0;
        nvmlReturn_t answer = ASK(device, nvmlDeviceGetNvLinkState, device->handle, link, &state);
        if (answer != NVML_SUCCESS) return device_refuses(device, NVLINKS_ACTIVE, answer);
        active += state != 0;
    }
    device_gauge(device, NVLINKS_ACTIVE, active);
}

static void poll_errors(struct device *device) {
    for (int i = 0; i < COUNT_OF(ERRORS); i++) {
        enum metric metric = ERRORS[i].metric;
        bool later = ERRORS[i].later && device->nvlink_later;
        if (device_wants(device, metric)) count_links(device, metric, later ? ERRORS[i].later : ERRORS[i].id, 1);
        if (device_wants(device, metric) || device->fault || !ERRORS[i].later || later) continue;
        device->nvlink_later = true;
        count_links(device, metric, ERRORS[i].later, 1);
    }
}

void poll_nvlinks(struct device *device) {
    bool now = device->polls % NOW_AND_THEN == 0 || !device->prepared;
    if (now && device_wants(device, NVLINKS)) {
        poll_count(device);
        if (!device->fault && device_wants(device, NVLINKS)) poll_states(device);
        if (device->nvlink_count) poll_errors(device);
    }
    if (device->nvlink_count && !device->fault) poll_traffic(device);
}
