/* The calls of a poll of eight devices, each second, whose values are dropped: `nvml_loop LIBRARY`. They are
 * those that ffi/devices makes of an H100 in most seconds; tests/bench/devices.ts compares the two. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../ffi/devices/nvml.h"

enum { DEVICES = 8, LEAD_NS = 300000000, SECOND_NS = 1000000000 };

#define DECLARE(name, parameters) static nvmlReturn_t(*name) parameters;
NVML_FUNCTIONS(DECLARE)

/* What is kept of a device between polls. */
struct device {
    nvmlDevice_t handle;
    nvmlEventSet_t events;
    nvmlGpmSample_t samples[2];
};

static const unsigned int FIELDS[] = {
    NVML_FI_DEV_MEMORY_TEMP,       NVML_FI_DEV_ECC_SBE_VOL_TOTAL, NVML_FI_DEV_ECC_DBE_VOL_TOTAL,
    NVML_FI_DEV_ECC_SBE_AGG_TOTAL, NVML_FI_DEV_ECC_DBE_AGG_TOTAL, NVML_FI_DEV_REMAPPED_COR,
    NVML_FI_DEV_REMAPPED_UNC,      NVML_FI_DEV_REMAPPED_PENDING,  NVML_FI_DEV_REMAPPED_FAILURE,
    NVML_FI_DEV_RETIRED_SBE,       NVML_FI_DEV_RETIRED_DBE,       NVML_FI_DEV_RETIRED_PENDING,
};
static const unsigned int THROTTLING[] = {
    NVML_FI_DEV_PERF_POLICY_POWER,
    NVML_FI_DEV_PERF_POLICY_SYNC_BOOST,
    NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT,
    NVML_FI_DEV_PERF_POLICY_RELIABILITY,
};
static const unsigned int LINKS[] = {
    NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX,
    NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX,
    NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX,
    NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX,
};
static const unsigned int GPM[] = {
    NVML_GPM_METRIC_SM_UTIL,         NVML_GPM_METRIC_SM_OCCUPANCY,          NVML_GPM_METRIC_ANY_TENSOR_UTIL,
    NVML_GPM_METRIC_DRAM_BW_UTIL,    NVML_GPM_METRIC_FP64_UTIL,             NVML_GPM_METRIC_FP32_UTIL,
    NVML_GPM_METRIC_FP16_UTIL,       NVML_GPM_METRIC_PCIE_TX_PER_SEC,       NVML_GPM_METRIC_PCIE_RX_PER_SEC,
    NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC, NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC,
};
#define COUNT(table) (int)(sizeof(table) / sizeof(table)[0])

static void ask_fields(nvmlDevice_t handle, const unsigned int *ids, int count, unsigned int scope) {
    nvmlFieldValue_t fields[COUNT(FIELDS)] = {0};
    for (int i = 0; i < count; i++) fields[i] = (nvmlFieldValue_t){.fieldId = ids[i], .scopeId = scope};
    nvmlDeviceGetFieldValues(handle, count, fields);
}

static void ask_gpm(struct device *device) {
    static nvmlGpmMetricsGet_t get;
    nvmlGpmSample_t older = device->samples[0], newer = device->samples[1];
    nvmlGpmSampleGet(device->handle, newer);
    get.version = NVML_GPM_VERSION;
    get.numMetrics = COUNT(GPM);
    get.sample1 = older;
    get.sample2 = newer;
    for (int i = 0; i < COUNT(GPM); i++) get.metrics[i] = (nvmlGpmMetric_t){.metricId = GPM[i]};
    nvmlGpmMetricsGet(&get);
    device->samples[0] = newer;
    device->samples[1] = older;
}

static void poll(struct device *device) {
    nvmlDevice_t handle = device->handle;
    nvmlMemory_v2_t memory = {.version = NVML_MEMORY_V2};
    nvmlUtilization_t utilization;
    nvmlEventData_t event;
    unsigned long long wide;
    unsigned int value;
    int state;
    nvmlDeviceGetMemoryInfo_v2(handle, &memory);
    nvmlDeviceGetUtilizationRates(handle, &utilization);
    nvmlDeviceGetTemperature(handle, NVML_TEMPERATURE_GPU, &value);
    nvmlDeviceGetTotalEnergyConsumption(handle, &wide);
    nvmlDeviceGetPerformanceState(handle, &state);
    nvmlDeviceGetPcieReplayCounter(handle, &value);
    nvmlDeviceGetPowerUsage(handle, &value);
    nvmlDeviceGetEnforcedPowerLimit(handle, &value);
    nvmlDeviceGetFanSpeed(handle, &value);
    nvmlDeviceGetClockInfo(handle, NVML_CLOCK_SM, &value);
    nvmlDeviceGetClockInfo(handle, NVML_CLOCK_MEM, &value);
    nvmlDeviceGetMaxClockInfo(handle, NVML_CLOCK_SM, &value);
    nvmlDeviceGetCurrPcieLinkGeneration(handle, &value);
    nvmlDeviceGetCurrPcieLinkWidth(handle, &value);
    nvmlDeviceGetMaxPcieLinkGeneration(handle, &value);
    nvmlDeviceGetMaxPcieLinkWidth(handle, &value);
    ask_fields(handle, FIELDS, COUNT(FIELDS), 0);
    nvmlDeviceGetCurrentClocksEventReasons(handle, &wide);
    ask_fields(handle, THROTTLING, COUNT(THROTTLING), 0);
    ask_fields(handle, LINKS, COUNT(LINKS), NVML_ALL_LINKS);
    ask_gpm(device);
    nvmlEventSetWait_v2(device->events, &event, 0);
}

static void prepare(struct device *device, unsigned int index) {
    nvmlDeviceGetHandleByIndex_v2(index, &device->handle);
    nvmlEventSetCreate(&device->events);
    nvmlDeviceRegisterEvents(device->handle, nvmlEventTypeXidCriticalError, device->events);
    for (int i = 0; i < 2; i++) nvmlGpmSampleAlloc(&device->samples[i]);
    nvmlGpmSampleGet(device->handle, device->samples[0]);
}

/* The beat of ffi/devices. */
static void wait_for_beat(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    if (time.tv_nsec >= SECOND_NS - LEAD_NS) time.tv_sec++;
    time.tv_nsec = SECOND_NS - LEAD_NS;
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL);
}

int main(int count, char **arguments) {
    static struct device devices[DEVICES];
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    if (!library) return 1;
#define LOAD(name, parameters)                                  \
    if (!(*(void **)&name = dlsym(library, #name))) return 1;
    NVML_FUNCTIONS(LOAD)
    if (nvmlInit_v2() != NVML_SUCCESS) return 1;
    for (unsigned int i = 0; i < DEVICES; i++) prepare(&devices[i], i);
    for (;;) {
        wait_for_beat();
        for (int i = 0; i < DEVICES; i++) poll(&devices[i]);
    }
}
