/* Gauges and counters that have a function of NVML each. */
#include "groups.h"

/* A function with one unsigned result. */
#define GAUGE_OF(device, metric, function, ...)                            \
    do {                                                                   \
        if (!device_wants(device, metric)) break;                          \
        unsigned int value = 0;                                            \
        nvmlReturn_t answer = ASK(device, function, __VA_ARGS__, &value);  \
        device_answers(device, metric, answer, value);                     \
    } while (0)

static void poll_utilization(struct device *device) {
    if (!device_wants(device, UTILIZATION)) return;
    nvmlUtilization_t rates = {0};
    nvmlReturn_t answer = ASK(device, nvmlDeviceGetUtilizationRates, device->handle, &rates);
    device_answers(device, UTILIZATION, answer, rates.gpu);
    device_answers(device, MEMORY_UTILIZATION, answer, rates.memory);
}

/* Drivers to come may have only the second function. */
static void poll_temperature(struct device *device) {
    if (!device_wants(device, TEMPERATURE)) return;
    unsigned int celsius = 0;
    nvmlReturn_t answer =
        ASK(device, nvmlDeviceGetTemperature, device->handle, NVML_TEMPERATURE_GPU, &celsius);
    if (answer == NVML_ERROR_FUNCTION_NOT_FOUND || answer == NVML_ERROR_DEPRECATED) {
        nvmlTemperature_t temperature = {NVML_TEMPERATURE_V1, NVML_TEMPERATURE_GPU, 0};
        answer = ASK(device, nvmlDeviceGetTemperatureV, device->handle, &temperature);
        celsius = temperature.temperature > 0 ? (unsigned int)temperature.temperature : 0;
    }
    device_answers(device, TEMPERATURE, answer, celsius);
}

static void poll_energy(struct device *device) {
    if (!device_wants(device, ENERGY)) return;
    unsigned long long millijoules = 0;
    nvmlReturn_t answer = ASK(device, nvmlDeviceGetTotalEnergyConsumption, device->handle, &millijoules);
    if (answer == NVML_SUCCESS) device_counter(device, ENERGY, millijoules, 64);
    else device_refuses(device, ENERGY, answer);
}

static void poll_replays(struct device *device) {
    if (!device_wants(device, PCIE_REPLAYS)) return;
    unsigned int replays = 0;
    nvmlReturn_t answer = ASK(device, nvmlDeviceGetPcieReplayCounter, device->handle, &replays);
    if (answer == NVML_SUCCESS) device_counter(device, PCIE_REPLAYS, replays, 32);
    else device_refuses(device, PCIE_REPLAYS, answer);
}

static void poll_performance_state(struct device *device) {
    if (!device_wants(device, PERFORMANCE_STATE)) return;
    int state = 0;
    nvmlReturn_t answer = ASK(device, nvmlDeviceGetPerformanceState, device->handle, &state);
    if (answer == NVML_SUCCESS && state == NVML_PSTATE_UNKNOWN) answer = NVML_ERROR_NO_DATA;
    device_answers(device, PERFORMANCE_STATE, answer, (uint64_t)state);
}

void poll_basics(struct device *device) {
    nvmlDevice_t handle = device->handle;
    poll_utilization(device);
    poll_temperature(device);
    poll_energy(device);
    poll_performance_state(device);
    poll_replays(device);
    GAUGE_OF(device, POWER, nvmlDeviceGetPowerUsage, handle);
    GAUGE_OF(device, POWER_LIMIT, nvmlDeviceGetEnforcedPowerLimit, handle);
    GAUGE_OF(device, FAN_SPEED, nvmlDeviceGetFanSpeed, handle);
    GAUGE_OF(device, CLOCK_SM, nvmlDeviceGetClockInfo, handle, NVML_CLOCK_SM);
    GAUGE_OF(device, CLOCK_MEM, nvmlDeviceGetClockInfo, handle, NVML_CLOCK_MEM);
    GAUGE_OF(device, MAX_CLOCK_SM, nvmlDeviceGetMaxClockInfo, handle, NVML_CLOCK_SM);
    GAUGE_OF(device, PCIE_GENERATION, nvmlDeviceGetCurrPcieLinkGeneration, handle);
    GAUGE_OF(device, PCIE_WIDTH, nvmlDeviceGetCurrPcieLinkWidth, handle);
    GAUGE_OF(device, PCIE_MAX_GENERATION, nvmlDeviceGetMaxPcieLinkGeneration, handle);
    GAUGE_OF(device, PCIE_MAX_WIDTH, nvmlDeviceGetMaxPcieLinkWidth, handle);
}
