/* The fake driver's GPM: metrics of two samples, which must be of one device and far enough apart. */
#include "fake_nvml.h"

#include <stdlib.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define APART_NS 100000000

struct nvmlGpmSample_st {
    const struct nvmlDevice_st *device;
    unsigned int instance;
    int64_t at_ns;
    uint64_t metrics[FAKE_METRICS];
};

EXPORT nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *support) {
    nvmlReturn_t begun = fake_begin(__func__, device);
    if (begun != NVML_SUCCESS) return begun;
    if (support->version != 1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    support->isSupportedDevice = fake.devices[device->index].gpm != 0;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *sample) {
    nvmlReturn_t begun = fake_begin(__func__, NULL);
    if (begun != NVML_SUCCESS) return begun;
    *sample = calloc(1, sizeof **sample);
    return *sample ? NVML_SUCCESS : NVML_ERROR_MEMORY;
}

EXPORT nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
    nvmlReturn_t begun = fake_begin(__func__, NULL);
    free(sample);
    return begun;
}

static nvmlReturn_t take(nvmlDevice_t device, unsigned int instance, nvmlGpmSample_t sample) {
    if (!fake.devices[device->index].gpm) return NVML_ERROR_NOT_SUPPORTED;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    sample->device = device;
    sample->instance = instance;
    sample->at_ns = now.tv_sec * 1000000000ll + now.tv_nsec;
    for (int i = 0; i < FAKE_METRICS; i++) sample->metrics[i] = fake.devices[device->index].metrics[i];
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
    nvmlReturn_t begun = fake_begin(__func__, device);
    return begun == NVML_SUCCESS ? take(device, NVML_NO_INSTANCE, sample) : begun;
}

EXPORT nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned int instance, nvmlGpmSample_t sample) {
    nvmlReturn_t begun = fake_begin(__func__, device);
    if (begun == NVML_SUCCESS && device->mig >= 0) return NVML_ERROR_INVALID_ARGUMENT;
    return begun == NVML_SUCCESS ? take(device, instance, sample) : begun;
}

EXPORT nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *get) {
    nvmlReturn_t begun = fake_begin(__func__, get->sample2 ? get->sample2->device : NULL);
    if (begun != NVML_SUCCESS) return begun;
    if (get->version != 1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    const struct nvmlGpmSample_st *older = get->sample1, *newer = get->sample2;
    if (!older || !newer || older->device != newer->device || older->instance != newer->instance ||
        newer->at_ns - older->at_ns < APART_NS)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned int i = 0; i < get->numMetrics; i++) {
        nvmlGpmMetric_t *metric = &get->metrics[i];
        metric->nvmlReturn = metric->metricId < FAKE_METRICS ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
        if (metric->nvmlReturn == NVML_SUCCESS) metric->value = (double)newer->metrics[metric->metricId] / 1e6;
    }
    return NVML_SUCCESS;
}
