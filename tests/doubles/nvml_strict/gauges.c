/* Readings of one device by one function each. */

#include "double.h"

#include <string.h>
#include <time.h>

/* A reading as an unsigned integer of 32 bits: what does not fit wraps. */
static nvmlReturn_t number(struct call *call, const char *key, unsigned *value) {
    uint64_t reading;
    if (!value) return leave(call, NVML_ERROR_INVALID_ARGUMENT);
    if (!read_value(call->subject, key, &reading)) return leave(call, NVML_ERROR_NOT_SUPPORTED);
    *value = (unsigned)reading;
    return leave(call, NVML_SUCCESS);
}

#define NUMBER(function, type, key) \
    EXPORT nvmlReturn_t function(nvmlDevice_t device, type *value) { \
        DEVICE_CALL(call, device); \
        return number(&call, key, (unsigned *)value); \
    }

NUMBER(nvmlDeviceGetPowerUsage, unsigned int, "power")
NUMBER(nvmlDeviceGetPowerManagementLimit, unsigned int, "power_limit")
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned int, "power_default")
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned int, "enforced_power_limit")
NUMBER(nvmlDeviceGetPowerManagementMode, nvmlEnableState_t, "power_limit")
NUMBER(nvmlDeviceGetFanSpeed, unsigned int, "fan")
NUMBER(nvmlDeviceGetPerformanceState, nvmlPstates_t, "pstate")
NUMBER(nvmlDeviceGetPowerState, nvmlPstates_t, "pstate")
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned int, "pcie_generation")
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, unsigned int, "pcie_width")
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned int, "pcie_max_generation")
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, unsigned int, "pcie_max_width")
NUMBER(nvmlDeviceGetPcieReplayCounter, unsigned int, "pcie_replay")
NUMBER(nvmlDeviceGetMinorNumber, unsigned int, "minor")
NUMBER(nvmlDeviceGetPersistenceMode, nvmlEnableState_t, "persistence")
NUMBER(nvmlDeviceGetComputeMode, nvmlComputeMode_t, "compute_mode")
NUMBER(nvmlDeviceGetDisplayActive, nvmlEnableState_t, "display")
NUMBER(nvmlDeviceGetArchitecture, nvmlDeviceArchitecture_t, "architecture")
NUMBER(nvmlDeviceGetBrand, nvmlBrandType_t, "brand")
NUMBER(nvmlDeviceGetVirtualizationMode, nvmlGpuVirtualizationMode_t, "virtualization")
NUMBER(nvmlDeviceGetRetiredPagesPendingStatus, nvmlEnableState_t, "retired_pending")
#if DRIVER >= 535
NUMBER(nvmlDeviceGetMemoryBusWidth, unsigned int, "bus_width")
NUMBER(nvmlDeviceGetPcieSpeed, unsigned int, "pcie_speed")
NUMBER(nvmlDeviceGetPcieLinkMaxSpeed, unsigned int, "pcie_max_speed")
NUMBER(nvmlDeviceGetNumFans, unsigned int, "fans")
NUMBER(nvmlDeviceGetGpuMaxPcieLinkGeneration, unsigned int, "pcie_max_generation")

EXPORT nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned int *cores) {
    DEVICE_CALL(call, device);
    if (mig_is_enabled(call.gpu)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    return number(&call, "cores", cores);
}
#endif

EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization) {
    DEVICE_CALL(call, device);
    uint64_t gpu, memory;
    if (!utilization) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (mig_is_enabled(call.gpu) || !read_value(call.subject, "utilization", &gpu)) {
        return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    }
    memory = value_or(call.subject, "memory_utilization", 0);
    *utilization = (nvmlUtilization_t){ .gpu = (unsigned)gpu, .memory = (unsigned)memory };
    return leave(&call, NVML_SUCCESS);
}

static nvmlReturn_t engine(struct call *call, const char *key, unsigned *utilization, unsigned *period_us) {
    if (!period_us) return leave(call, NVML_ERROR_INVALID_ARGUMENT);
    *period_us = 167000;
    if (mig_is_enabled(call->gpu)) return leave(call, NVML_ERROR_NOT_SUPPORTED);
    return number(call, key, utilization);
}

EXPORT nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned *utilization, unsigned *period) {
    DEVICE_CALL(call, device);
    return engine(&call, "encoder", utilization, period);
}

EXPORT nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned *utilization, unsigned *period) {
    DEVICE_CALL(call, device);
    return engine(&call, "decoder", utilization, period);
}

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    DEVICE_CALL(call, device);
    uint64_t total, used;
    if (!memory) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (!read_value(call.subject, "memory_total", &total)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    // This version counts what the driver reserves as used.
    used = value_or(call.subject, "memory_used", 0) + value_or(call.subject, "memory_reserved", 0);
    *memory = (nvmlMemory_t){ .total = total, .used = used, .free = total - used };
    return leave(&call, NVML_SUCCESS);
}

#if DRIVER >= 535
EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    DEVICE_CALL(call, device);
    uint64_t total;
    if (!memory) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (memory->version != (sizeof *memory | 2 << 24)) return leave(&call, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    if (!read_value(call.subject, "memory_total", &total)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    memory->total = total;
    memory->used = value_or(call.subject, "memory_used", 0);
    memory->reserved = value_or(call.subject, "memory_reserved", 0);
    memory->free = total - memory->used - memory->reserved;
    return leave(&call, NVML_SUCCESS);
}
#endif

EXPORT nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *memory) {
    DEVICE_CALL(call, device);
    uint64_t total;
    if (!memory) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (!read_value(call.subject, "bar1", &total)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    *memory = (nvmlBAR1Memory_t){ .bar1Total = total, .bar1Free = total - 2097152, .bar1Used = 2097152 };
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned *celsius) {
    DEVICE_CALL(call, device);
    if (sensor != 0) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    return number(&call, "temperature", celsius);
}

#if DRIVER >= 575
EXPORT nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *temperature) {
    DEVICE_CALL(call, device);
    if (!temperature) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (temperature->version != (sizeof *temperature | 1 << 24)) {
        return leave(&call, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    }
    if (temperature->sensorType != 0) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    return number(&call, "temperature", (unsigned *)&temperature->temperature);
}

EXPORT nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device, nvmlMarginTemperature_t *margin) {
    DEVICE_CALL(call, device);
    if (!margin) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (margin->version != (sizeof *margin | 1 << 24)) return leave(&call, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    return number(&call, "margin", (unsigned *)&margin->marginTemperature);
}
#endif

EXPORT nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, nvmlTemperatureThresholds_t type,
                                                      unsigned int *celsius) {
    DEVICE_CALL(call, device);
    if ((unsigned)type > 7) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    const char *key = type == 0 ? "temperature_shutdown" : type == 1 ? "temperature_slowdown" : "temperature_other";
    return number(&call, key, celsius);
}

EXPORT nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned *least, unsigned *most) {
    DEVICE_CALL(call, device);
    if (!least || !most) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    *most = (unsigned)value_or(call.subject, "power_max", 0);
    return number(&call, "power_min", least);
}

EXPORT nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *millijoules) {
    DEVICE_CALL(call, device);
    uint64_t value;
    if (!millijoules) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (!read_value(call.subject, "energy", &value)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    *millijoules = value;
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned int fan, unsigned int *speed) {
    DEVICE_CALL(call, device);
    if (fan >= value_or(call.subject, "fans", 1)) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    return number(&call, "fan", speed);
}

static const char *const clocks[] = { "graphics_clock", "sm_clock", "memory_clock", "video_clock" };
static const char *const max_clocks[] = { "max_graphics_clock", "max_sm_clock", "max_memory_clock", "max_video_clock" };

EXPORT nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *megahertz) {
    DEVICE_CALL(call, device);
    if ((unsigned)type > 3) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    return number(&call, clocks[type], megahertz);
}

EXPORT nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *megahertz) {
    DEVICE_CALL(call, device);
    if ((unsigned)type > 3) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    return number(&call, max_clocks[type], megahertz);
}

EXPORT nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type, nvmlClockId_t id,
                                       unsigned int *megahertz) {
    DEVICE_CALL(call, device);
    if ((unsigned)type > 3 || (unsigned)id > 3) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (id == 1 || id == 2) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    return number(&call, (id == 3 ? max_clocks : clocks)[type], megahertz);
}

static nvmlReturn_t mask(struct call *call, const char *key, unsigned long long *value) {
    uint64_t reading;
    if (!value) return leave(call, NVML_ERROR_INVALID_ARGUMENT);
    if (!read_value(call->subject, key, &reading)) return leave(call, NVML_ERROR_NOT_SUPPORTED);
    *value = reading;
    return leave(call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *reasons) {
    DEVICE_CALL(call, device);
    return mask(&call, "throttle", reasons);
}

EXPORT nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device, unsigned long long *reasons) {
    DEVICE_CALL(call, device);
    if (!reasons) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    *reasons = 0x1ff;
    return leave(&call, NVML_SUCCESS);
}

#if DRIVER >= 535
EXPORT nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long *reasons) {
    DEVICE_CALL(call, device);
    return mask(&call, "throttle", reasons);
}

EXPORT nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t device, unsigned long long *reasons) {
    DEVICE_CALL(call, device);
    if (!reasons) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    *reasons = 0x1ff;
    return leave(&call, NVML_SUCCESS);
}
#endif

/* It counts for 20 ms, and takes as long. */
EXPORT nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter, unsigned *value) {
    DEVICE_CALL(call, device);
    if ((unsigned)counter > 1) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (call.instance >= 0) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    if (!pause_call(&call, 20000000)) return leave(&call, NVML_ERROR_UNINITIALIZED);
    if (call.gpu->failure) return leave(&call, call.gpu->failure);
    return number(&call, counter == 0 ? "pcie_tx" : "pcie_rx", value);
}

EXPORT nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
    DEVICE_CALL(call, device);
    if (!major || !minor) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    *major = (int)value_or(&call.gpu->self, "cc_major", 0);
    *minor = (int)value_or(&call.gpu->self, "cc_minor", 0);
    return leave(&call, NVML_SUCCESS);
}

/* The driver's own samples: one each 167 ms, of the last ten seconds at most. */
EXPORT nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type, unsigned long long last_seen,
                                         nvmlValueType_t *value_type, unsigned int *count, nvmlSample_t *samples) {
    DEVICE_CALL(call, device);
    static const char *const keys[] = { "power", "utilization", "memory_utilization", "encoder", "decoder",
                                        "sm_clock", "memory_clock" };
    enum { STEP_US = 167000, KEPT = 60 };
    uint64_t value;
    if (!value_type || !count || (unsigned)type > 9) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (type > 6 || !read_value(call.subject, keys[type], &value)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    if (mig_is_enabled(call.gpu) && type != 0) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    *value_type = NVML_VALUE_TYPE_UNSIGNED_INT;
    if (!samples) {
        *count = KEPT;
        return leave(&call, NVML_SUCCESS);
    }
    uint64_t newest = (uint64_t)(now_ns() / 1000) / STEP_US, oldest = newest - KEPT + 1;
    if (last_seen >= oldest * STEP_US) oldest = last_seen / STEP_US + 1;
    if (oldest > newest) return leave(&call, NVML_ERROR_NOT_FOUND);
    if (*count < newest - oldest + 1) return leave(&call, NVML_ERROR_INSUFFICIENT_SIZE);
    *count = (unsigned)(newest - oldest + 1);
    for (unsigned index = 0; index < *count; index++) {
        fill_with_noise(&samples[index].sampleValue, sizeof samples[index].sampleValue);
        samples[index].timeStamp = (oldest + index) * STEP_US;
        samples[index].sampleValue.uiVal = (unsigned)value;
    }
    return leave(&call, NVML_SUCCESS);
}
