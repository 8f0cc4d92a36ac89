/* Readings of a device: values published, counters made to start at 0 and never fall, refusals noted. */
#include "device.h"

#include <string.h>

struct device devices[DEVICES];
uint32_t devices_count, devices_whole = 1;
uint64_t devices_beat;

#define MORE_TAGS 96

uint32_t device_cell(const struct device *device, const char *name, uint32_t type, const char *const more[]) {
    const char *tags[MORE_TAGS + 5] = {"device.uuid", device->uuid, "device.bus_id", device->bus_id};
    size_t count = 4;
    while (more && *more && count < MORE_TAGS + 4) tags[count++] = *more++;
    return segment_cell(segment_series(name, type, tags), 0);
}

static uint32_t reading_cell(struct device *device, enum metric metric) {
    struct reading *reading = &device->readings[metric];
    if (reading->cell == 0)
        reading->cell = device_cell(device, metrics[metric].name, metrics[metric].type, NULL) + 1;
    return reading->cell - 1;
}

/* ---- Refusals ---- */

/* Answers that stay the same for as long as the driver does. */
static bool is_final(nvmlReturn_t answer) {
    return answer == NVML_ERROR_INVALID_ARGUMENT || answer == NVML_ERROR_NOT_SUPPORTED ||
           answer == NVML_ERROR_NO_PERMISSION || answer == NVML_ERROR_FUNCTION_NOT_FOUND ||
           answer == NVML_ERROR_ARGUMENT_VERSION_MISMATCH || answer == NVML_ERROR_DEPRECATED;
}

/* Answers that all further calls would have too. */
static bool is_of_all(nvmlReturn_t answer) {
    return answer == NVML_ERROR_GPU_IS_LOST || answer == NVML_ERROR_RESET_REQUIRED ||
           answer == NVML_ERROR_UNINITIALIZED || answer == NVML_ERROR_DRIVER_NOT_LOADED ||
           answer == NVML_ERROR_LIB_RM_VERSION_MISMATCH;
}

bool device_wants(const struct device *device, enum metric metric) {
    return device->fault == NVML_SUCCESS && !is_final(device->readings[metric].answer);
}

bool device_is_answered(struct device *device, nvmlReturn_t answer) {
    if (is_of_all(answer)) device->fault = answer;
    return answer == NVML_SUCCESS;
}

static void stop_refusal(struct reading *reading) {
    if (reading->refused) segment_set(reading->refused - 1, 1, 0);
    reading->refused = 0;
    reading->answer = NVML_SUCCESS;
}

void device_refuses(struct device *device, enum metric metric, nvmlReturn_t answer) {
    struct reading *reading = &device->readings[metric];
    if (!device_is_answered(device, answer) && device->fault != NVML_SUCCESS) return;
    if (reading->cell && metrics[metric].type == GAUGE) segment_set(reading->cell - 1, 0, 0);
    if (reading->answer == answer) return;
    stop_refusal(reading);
    char buffer[32];
    const char *tags[] = {"metric", metrics[metric].name, "reason", library_words(answer, buffer), NULL};
    reading->answer = answer;
    reading->refused = device_cell(device, "unsupported", GAUGE, tags) + 1;
    segment_set(reading->refused - 1, 1, 1);
}

/* ---- Values ---- */

void device_gauge(struct device *device, enum metric metric, uint64_t value) {
    stop_refusal(&device->readings[metric]);
    segment_set(reading_cell(device, metric), value, metrics[metric].divisor);
}

void device_answers(struct device *device, enum metric metric, nvmlReturn_t answer, uint64_t value) {
    if (answer == NVML_SUCCESS && value == (uint32_t)NVML_VALUE_NOT_AVAILABLE) answer = NVML_ERROR_NO_DATA;
    if (answer == NVML_SUCCESS) device_gauge(device, metric, value);
    else device_refuses(device, metric, answer);
}

uint64_t device_increase(uint64_t last, uint64_t value, unsigned bits) {
    if (value >= last) return value - last;
    return bits < 64 && last >> (bits - 1) == 1 ? value + (1ull << bits) - last : 0;
}

/* One that fell while its driver was away began anew, at zero. */
static uint64_t increase(const struct reading *reading, uint64_t value, unsigned bits) {
    if (!reading->known) return 0;
    return reading->away && value < reading->last ? value : device_increase(reading->last, value, bits);
}

void device_counter(struct device *device, enum metric metric, uint64_t value, unsigned bits) {
    struct reading *reading = &device->readings[metric];
    stop_refusal(reading);
    segment_add_to(&reading->total, increase(reading, value, bits));
    reading->last = value;
    reading->known = true;
    reading->away = false;
    segment_set(reading_cell(device, metric), reading->total, metrics[metric].divisor);
}

void device_count(struct device *device, enum metric metric, uint64_t more) {
    struct reading *reading = &device->readings[metric];
    stop_refusal(reading);
    segment_add_to(&reading->total, more);
    segment_set(reading_cell(device, metric), reading->total, metrics[metric].divisor);
}

void device_forgets(struct device *device) {
    for (int metric = 0; metric < METRICS_COUNT; metric++) {
        struct reading *reading = &device->readings[metric];
        stop_refusal(reading);
        reading->away = true;
        if (reading->cell && metrics[metric].type == GAUGE) segment_set(reading->cell - 1, 0, 0);
    }
    for (int reason = 0; reason < THROTTLE_REASONS; reason++) device->throttling[reason].counted = false;
    device->sampled_ns = device->before_ns = 0;
    device->gpm_refused = device->gpm_has_pcie = device->prepared = false;
    device->nvlink_traffic = NVLINK_SUMS;
    device->nvlink_later = false;
    memset(device->nvlinks, 0, sizeof device->nvlinks);
}
