/* Errors, remapped rows, retired pages, limits of the clocks, NVLinks. */

#include "double.h"

#include <stdio.h>
#include <time.h>

static nvmlReturn_t counter(struct call *call, const char *key, unsigned long long *value) {
    uint64_t reading;
    if (!value) return leave(call, NVML_ERROR_INVALID_ARGUMENT);
    if (!read_value(call->subject, key, &reading)) return leave(call, NVML_ERROR_NOT_SUPPORTED);
    *value = reading;
    return leave(call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t *current, nvmlEnableState_t *pending) {
    DEVICE_CALL(call, device);
    uint64_t mode;
    if (!current || !pending) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (!read_value(call.subject, "ecc_mode", &mode)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    *current = (nvmlEnableState_t)mode;
    *pending = (nvmlEnableState_t)value_or(call.subject, "ecc_pending", mode);
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t type,
                                                nvmlEccCounterType_t kind, unsigned long long *count) {
    DEVICE_CALL(call, device);
    static const char *const keys[2][2] = { { "ecc_corrected_volatile", "ecc_corrected_aggregate" },
                                            { "ecc_uncorrected_volatile", "ecc_uncorrected_aggregate" } };
    if ((unsigned)type > 1 || (unsigned)kind > 1) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    // Not with ECC switched off.
    if (value_or(call.subject, "ecc_mode", 0) == 0) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    return counter(&call, keys[type][kind], count);
}

EXPORT nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t type,
                                                    nvmlEccCounterType_t kind, nvmlMemoryLocation_t location,
                                                    unsigned long long *count) {
    DEVICE_CALL(call, device);
    if ((unsigned)type > 1 || (unsigned)kind > 1 || (unsigned)location > 8 || !count) {
        return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    }
    return leave(&call, NVML_ERROR_NOT_SUPPORTED);
}

EXPORT nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int *corrected, unsigned int *uncorrected,
                                              unsigned int *pending, unsigned int *failure) {
    DEVICE_CALL(call, device);
    uint64_t rows;
    if (!corrected || !uncorrected || !pending || !failure) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    // "Querying the number of remapped rows is not supported" with active MIG instances.
    if (mig_is_enabled(call.gpu)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    if (!read_value(call.subject, "remapped_corrected", &rows)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    *corrected = (unsigned)rows;
    *uncorrected = (unsigned)value_or(call.subject, "remapped_uncorrected", 0);
    *pending = (unsigned)value_or(call.subject, "remapped_pending", 0);
    *failure = (unsigned)value_or(call.subject, "remapped_failure", 0);
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device, nvmlRowRemapperHistogramValues_t *values) {
    DEVICE_CALL(call, device);
    uint64_t most;
    if (!values) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (!read_value(call.subject, "rows_max", &most)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    *values = (nvmlRowRemapperHistogramValues_t){ .max = (unsigned)most };
    return leave(&call, NVML_SUCCESS);
}

static nvmlReturn_t retired(struct call *call, unsigned cause, unsigned *count, unsigned long long *addresses,
                            unsigned long long *times) {
    uint64_t pages;
    if (!count || cause > 1) return leave(call, NVML_ERROR_INVALID_ARGUMENT);
    if (!read_value(call->subject, cause == 0 ? "retired_sbe" : "retired_dbe", &pages)) {
        return leave(call, NVML_ERROR_NOT_SUPPORTED);
    }
    unsigned room = *count;
    *count = (unsigned)pages;
    if (pages == 0) return leave(call, NVML_SUCCESS);
    if (room < pages) return leave(call, NVML_ERROR_INSUFFICIENT_SIZE);
    if (!addresses) return leave(call, NVML_ERROR_INVALID_ARGUMENT);
    for (unsigned page = 0; page < pages; page++) {
        addresses[page] = 0x1000 * (page + 1);
        if (times) times[page] = 1700000000000000 + page;
    }
    return leave(call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t device, nvmlPageRetirementCause_t cause, unsigned *count,
                                              unsigned long long *addresses) {
    DEVICE_CALL(call, device);
    return retired(&call, cause, count, addresses, NULL);
}

EXPORT nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device, nvmlPageRetirementCause_t cause, unsigned *count,
                                                 unsigned long long *addresses, unsigned long long *times) {
    DEVICE_CALL(call, device);
    return retired(&call, cause, count, addresses, times);
}

EXPORT nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, nvmlPerfPolicyType_t policy,
                                                 nvmlViolationTime_t *time) {
    DEVICE_CALL(call, device);
    static const char *const keys[] = { "policy_power",           "policy_thermal",     "policy_sync_boost",
                                        "policy_board_limit",     "policy_low_utilization", "policy_reliability" };
    uint64_t violation;
    if (!time || (unsigned)policy > 11 || (policy > 5 && policy < 10)) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    const char *key = policy == 10 ? "policy_app_clocks" : policy == 11 ? "policy_base_clocks" : keys[policy];
    // Deprecated since 13.0, and no longer there in the newest driver.
    if (DRIVER >= 615 || !read_value(call.subject, key, &violation)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    time->referenceTime = (unsigned long long)wall.tv_sec * 1000000 + (unsigned long long)wall.tv_nsec / 1000;
    time->violationTime = violation;
    return leave(&call, NVML_SUCCESS);
}

/* False: the call has to end with `result`. */
static bool has_link(struct call *call, unsigned link) {
    uint64_t links;
    call->result = !read_value(call->subject, "links", &links) ? NVML_ERROR_NOT_SUPPORTED
                   : link >= links                             ? NVML_ERROR_INVALID_ARGUMENT
                                                               : NVML_SUCCESS;
    return call->result == NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, nvmlEnableState_t *active) {
    DEVICE_CALL(call, device);
    char key[32];
    if (!active) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (!has_link(&call, link)) return leave(&call, call.result);
    snprintf(key, sizeof key, "link_active.%u", link);
    *active = (nvmlEnableState_t)value_or(call.subject, key, 1);
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link, unsigned int *version) {
    DEVICE_CALL(call, device);
    if (!version) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (!has_link(&call, link)) return leave(&call, call.result);
    *version = (unsigned)value_or(call.subject, "link_version", 0);
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned int link,
                                                  nvmlNvLinkCapability_t capability, unsigned int *has) {
    DEVICE_CALL(call, device);
    if (!has || (unsigned)capability > 5) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (!has_link(&call, link)) return leave(&call, call.result);
    *has = 1;
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned int link,
                                                    nvmlNvLinkErrorCounter_t kind, unsigned long long *count) {
    DEVICE_CALL(call, device);
    static const char *const keys[] = { "nvlink_replay", "nvlink_recovery", "nvlink_crc_flit", "nvlink_crc_data",
                                        "nvlink_ecc" };
    char key[32];
    if (!count || (unsigned)kind > 4) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (!has_link(&call, link)) return leave(&call, call.result);
    // Blackwell counts them otherwise.
    if (value_or(call.subject, "link_version", 0) >= 5) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    snprintf(key, sizeof key, "%s.%u", keys[kind], link);
    *count = value_or(call.subject, key, 0);
    return leave(&call, NVML_SUCCESS);
}
