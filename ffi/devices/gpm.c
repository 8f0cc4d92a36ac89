/* GPM: what the units of a device did between two samples, on Hopper and later. The newer sample is kept for
 * the next poll, so that the averages of consecutive polls cover all of the time. */
#define _GNU_SOURCE
#include <math.h>

#include "clock.h"
#include "groups.h"

/* Samples nearer to each other may be the same one; those far apart are of before a pause. */
#define NEAREST_NS 110000000ull
#define FARTHEST_NS 5000000000ull

#define MEBIBYTE 1048576.0

static const struct {
    unsigned int id;
    enum metric metric;
    double unit; /* in those of the metric */
    bool of_whole; /* not of a MIG device */
} METRICS_OF_GPM[] = {
    {NVML_GPM_METRIC_SM_UTIL, SM_UTILIZATION, MILLIONTHS, false},
    {NVML_GPM_METRIC_SM_OCCUPANCY, SM_OCCUPANCY, MILLIONTHS, false},
    {NVML_GPM_METRIC_ANY_TENSOR_UTIL, TENSOR_UTILIZATION, MILLIONTHS, false},
    {NVML_GPM_METRIC_DRAM_BW_UTIL, DRAM_UTILIZATION, MILLIONTHS, false},
    {NVML_GPM_METRIC_FP64_UTIL, FP64_UTILIZATION, MILLIONTHS, false},
    {NVML_GPM_METRIC_FP32_UTIL, FP32_UTILIZATION, MILLIONTHS, false},
    {NVML_GPM_METRIC_FP16_UTIL, FP16_UTILIZATION, MILLIONTHS, false},
    {NVML_GPM_METRIC_PCIE_TX_PER_SEC, PCIE_TX, MEBIBYTE, true},
    {NVML_GPM_METRIC_PCIE_RX_PER_SEC, PCIE_RX, MEBIBYTE, true},
    {NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC, NVLINK_TX, MEBIBYTE, true},
    {NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC, NVLINK_RX, MEBIBYTE, true},
};

#define COUNT (sizeof METRICS_OF_GPM / sizeof METRICS_OF_GPM[0])

/* Whether another question than GPM's may answer. */
static bool is_of_pcie(enum metric metric) { return metric == PCIE_TX || metric == PCIE_RX; }

static bool is_of(const struct device *device, size_t i) {
    return !(device->parent && METRICS_OF_GPM[i].of_whole);
}

static void refuse_all(struct device *device, nvmlReturn_t answer) {
    for (size_t i = 0; i < COUNT; i++)
        if (is_of(device, i) && !is_of_pcie(METRICS_OF_GPM[i].metric))
            device_refuses(device, METRICS_OF_GPM[i].metric, answer);
    device->gpm_refused = !device_wants(device, SM_UTILIZATION);
    device->gpm_has_pcie = false;
    device->sampled_ns = 0;
}

static nvmlDevice_t whole_of(const struct device *device) {
    return device->parent ? device->parent->handle : device->handle;
}

static nvmlReturn_t open_gpm(struct device *device) {
    nvmlGpmSupport_t support = {.version = NVML_GPM_VERSION};
    nvmlReturn_t answer = ASK(device, nvmlGpmQueryDeviceSupport, whole_of(device), &support);
    if (answer == NVML_SUCCESS && !support.isSupportedDevice) answer = NVML_ERROR_NOT_SUPPORTED;
    for (int i = 0; i < 2 && answer == NVML_SUCCESS; i++)
        if (!device->samples[i]) answer = ASK(device, nvmlGpmSampleAlloc, &device->samples[i]);
    return answer;
}

void gpm_close(struct device *device) {
    for (int i = 0; i < 2; i++)
        if (device->samples[i]) ASK(device, nvmlGpmSampleFree, device->samples[i]);
    device->samples[0] = device->samples[1] = NULL;
    device->sampled_ns = 0;
}

static nvmlReturn_t take(struct device *device, nvmlGpmSample_t sample) {
    if (device->parent) return ASK(device, nvmlGpmMigSampleGet, whole_of(device), device->gpu_instance, sample);
    return ASK(device, nvmlGpmSampleGet, device->handle, sample);
}

static void publish(struct device *device, enum metric metric, double value) {
    if (isfinite(value) && value >= 0 && value < 1e18) device_gauge(device, metric, (uint64_t)(value + 0.5));
    else device_refuses(device, metric, NVML_ERROR_NO_DATA);
}

static void compare(struct device *device, nvmlGpmSample_t older, nvmlGpmSample_t newer) {
    static nvmlGpmMetricsGet_t get;
    size_t of[COUNT];
    get.version = NVML_GPM_VERSION;
    get.numMetrics = 0;
    get.sample1 = older;
    get.sample2 = newer;
    for (size_t i = 0; i < COUNT; i++) {
        if (!is_of(device, i) || !device_wants(device, METRICS_OF_GPM[i].metric)) continue;
        of[get.numMetrics] = i;
        get.metrics[get.numMetrics++] = (nvmlGpmMetric_t){.metricId = METRICS_OF_GPM[i].id};
    }
    nvmlReturn_t answer = ASK(device, nvmlGpmMetricsGet, &get);
    if (answer != NVML_SUCCESS) return refuse_all(device, answer);
    for (unsigned int i = 0; i < get.numMetrics; i++) {
        enum metric metric = METRICS_OF_GPM[of[i]].metric;
        bool refused = get.metrics[i].nvmlReturn != NVML_SUCCESS;
        if (is_of_pcie(metric)) device->gpm_has_pcie = !refused;
        if (!refused) publish(device, metric, get.metrics[i].value * METRICS_OF_GPM[of[i]].unit);
        else if (!is_of_pcie(metric)) device_refuses(device, metric, get.metrics[i].nvmlReturn);
    }
}

void poll_gpm(struct device *device) {
    if (device->gpm_refused) return;
    nvmlReturn_t answer = device->samples[1] ? NVML_SUCCESS : open_gpm(device);
    if (answer != NVML_SUCCESS) return refuse_all(device, answer);
    /* A poll under load may take its time: its begin does not tell when a sample was taken. */
    uint64_t since_ns = clock_ns(CLOCK_BOOTTIME) - device->sampled_ns;
    if (device->sampled_ns && since_ns < NEAREST_NS) return;
    answer = take(device, device->samples[1]);
    if (answer != NVML_SUCCESS) return refuse_all(device, answer);
    uint64_t taken_ns = clock_ns(CLOCK_BOOTTIME);
    nvmlGpmSample_t older = device->samples[0], newer = device->samples[1];
    if (device->sampled_ns && since_ns < FARTHEST_NS) compare(device, older, newer);
    device->samples[0] = newer;
    device->samples[1] = older;
    device->sampled_ns = taken_ns;
}
