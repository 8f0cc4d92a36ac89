/* Reasons for lower clocks: the mask, and the time of each. The device counts the time of some reasons
 * itself, in nanoseconds; of the others, a reason that holds now has held since the last poll. */
#include "fields.h"
#include "groups.h"

static const struct {
    const char *name;
    unsigned int field; /* 0: the device does not count it */
} REASONS[THROTTLE_REASONS] = {
    {"gpu_idle", 0},
    {"applications_clocks_setting", 0},
    {"sw_power_cap", NVML_FI_DEV_PERF_POLICY_POWER},
    {"hw_slowdown", 0},
    {"sync_boost", NVML_FI_DEV_PERF_POLICY_SYNC_BOOST},
    {"sw_thermal_slowdown", NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN},
    {"hw_thermal_slowdown", NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN},
    {"hw_power_brake_slowdown", NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN},
    {"display_clocks_setting", 0},
    {"board_limit", NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT},
    {"reliability", NVML_FI_DEV_PERF_POLICY_RELIABILITY},
};

/* Drivers of CUDA 12 have other fields under these numbers. */
#define FIELDS_OF_13 269u
#define CUDA_13 13000

static bool has_field(unsigned int id) {
    return id != 0 && (id < FIELDS_OF_13 || library_cuda_version >= CUDA_13);
}

static nvmlReturn_t read_mask(struct device *device, unsigned long long *mask) {
    nvmlReturn_t answer = ASK(device, nvmlDeviceGetCurrentClocksEventReasons, device->handle, mask);
    if (answer == NVML_ERROR_FUNCTION_NOT_FOUND)
        answer = ASK(device, nvmlDeviceGetCurrentClocksThrottleReasons, device->handle, mask);
    return answer;
}

/* Which reasons the device counts, asked once. */
static void read_counts(struct device *device) {
    nvmlFieldValue_t fields[THROTTLE_REASONS] = {0};
    int of[THROTTLE_REASONS], count = 0;
    for (int i = 0; i < THROTTLE_REASONS; i++) {
        if (!has_field(REASONS[i].field) || (device->prepared && !device->throttling[i].counted)) continue;
        of[count] = i;
        fields[count++].fieldId = REASONS[i].field;
    }
    if (count == 0) return;
    fields_ask(device, fields, count);
    for (int i = 0; i < count; i++) {
        struct throttling *reason = &device->throttling[of[i]];
        unsigned bits;
        uint64_t value = fields[i].nvmlReturn == NVML_SUCCESS ? field_value(&fields[i], &bits) : 0;
        if (reason->counted && value > reason->last) reason->total_ns += value - reason->last;
        if (fields[i].nvmlReturn == NVML_SUCCESS) reason->last = value;
        if (!device->prepared) reason->counted = fields[i].nvmlReturn == NVML_SUCCESS;
    }
}

void poll_throttling(struct device *device) {
    unsigned long long mask = 0;
    if (!device_wants(device, THROTTLE_REASONS_MASK)) return;
    nvmlReturn_t answer = read_mask(device, &mask);
    device_answers(device, THROTTLE_REASONS_MASK, answer, mask);
    if (answer != NVML_SUCCESS) return;
    read_counts(device);
    uint64_t since_ns = device->before_ns ? device->polled_ns - device->before_ns : 0;
    for (int i = 0; i < THROTTLE_REASONS; i++) {
        struct throttling *reason = &device->throttling[i];
        if (!reason->counted && mask >> i & 1) reason->total_ns += since_ns;
        if (reason->cell == 0) {
            const char *tags[] = {"reason", REASONS[i].name, NULL};
            reason->cell = device_cell(device, "gpu_throttled_nanoseconds", COUNTER, tags) + 1;
        }
        segment_set(reason->cell - 1, reason->total_ns, 1);
    }
}
