/* GPM: samples of counters, and metrics that are averages between two of them. */

#include "double.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void set_metric(struct subject *subject, int id, double value, bool known) {
    struct average *metric = &subject->metrics[id];
    int64_t now = now_ns();
    if (metric->since_ns > 0) metric->integral += metric->value * (double)(now - metric->since_ns);
    metric->since_ns = now;
    metric->value = value;
    metric->known = known;
}

#if DRIVER >= 520

/* The size that the headers of this generation give the struct: the driver may write all of it. */
_Static_assert(sizeof(nvmlGpmMetric_t) == 40, "as the real one");
_Static_assert(sizeof(nvmlGpmMetricsGet_t) == 24 + 40 * NVML_GPM_METRIC_MAX, "as the real one");

struct nvmlGpmSample_st {
    unsigned epoch;
    int gpu, instance; /* -1: the GPU itself; gpu -1: nothing was read yet */
    int64_t time_ns;
    double integrals[METRICS];
    bool known[METRICS];
    bool open;
};

enum { SAMPLES = 4096 };
static struct nvmlGpmSample_st *samples[SAMPLES];
static int sample_count;

int open_samples(void) {
    int open = 0;
    for (int sample = 0; sample < sample_count; sample++) {
        open += samples[sample]->open && samples[sample]->epoch == machine.epoch;
    }
    return open;
}

static void check_sample(nvmlGpmSample_t sample, const char *function) {
    int at = 0;
    while (at < sample_count && samples[at] != sample) at++;
    if (at == sample_count) fatal("%s with a pointer that is no sample", function);
    if (!sample->open) fatal("%s with a sample that was freed", function);
    if (sample->epoch != machine.epoch) fatal("%s with a sample of an earlier initialization", function);
}

EXPORT nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *sample) {
    CALL(call);
    if (!sample) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    int at = 0;
    while (at < sample_count && samples[at]->open) at++;
    if (at == SAMPLES) return leave(&call, NVML_ERROR_MEMORY);
    if (at == sample_count) samples[sample_count++] = calloc(1, sizeof **samples);
    *samples[at] = (struct nvmlGpmSample_st){ .epoch = machine.epoch, .gpu = -1, .open = true };
    *sample = samples[at];
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
    CALL(call);
    if (!sample) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    check_sample(sample, __func__);
    sample->open = false;
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *support) {
    DEVICE_CALL(call, device);
    if (!support) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (support->version != 1) return leave(&call, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    if (call.instance >= 0 && DRIVER < 580) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    support->isSupportedDevice = value_or(&call.gpu->self, "gpm", 0) != 0;
    return leave(&call, NVML_SUCCESS);
}

static nvmlReturn_t fill(struct call *call, int instance, nvmlGpmSample_t sample) {
    if (!sample) return leave(call, NVML_ERROR_INVALID_ARGUMENT);
    check_sample(sample, call->function);
    if (value_or(&call->gpu->self, "gpm", 0) == 0) return leave(call, NVML_ERROR_NOT_SUPPORTED);
    struct subject *subject = instance < 0 ? &call->gpu->self : &call->gpu->instances[instance];
    sample->gpu = (int)(call->gpu - machine.gpus);
    sample->instance = instance;
    sample->time_ns = now_ns();
    for (int id = 0; id < METRICS; id++) {
        const struct average *metric = &subject->metrics[id];
        sample->known[id] = metric->known;
        sample->integrals[id] = metric->integral + metric->value * (double)(sample->time_ns - metric->since_ns);
    }
    return leave(call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
    DEVICE_CALL(call, device);
    // Handles of MIG instances came with the newest headers.
    if (call.instance >= 0 && DRIVER < 615) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (call.instance < 0 && mig_is_enabled(call.gpu)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    return fill(&call, call.instance, sample);
}

EXPORT nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned int gi, nvmlGpmSample_t sample) {
    DEVICE_CALL(call, device);
    if (call.instance >= 0) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    for (int instance = 0; instance < call.gpu->instance_count; instance++) {
        if (call.gpu->instances[instance].gi == gi) return fill(&call, instance, sample);
    }
    return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
}

static void average(nvmlGpmMetric_t *metric, nvmlGpmSample_t first, nvmlGpmSample_t second) {
    static char name[] = "name", unit[] = "%";
    char subject[32];
    unsigned id = metric->metricId;
    int64_t span_ns = second->time_ns - first->time_ns;
    snprintf(subject, sizeof subject, "gpm:%u", id);
    fill_with_noise(&metric->value, sizeof metric->value);
    metric->metricInfo.shortName = id % 2 ? name : NULL;
    metric->metricInfo.longName = NULL;
    metric->metricInfo.unit = id % 2 ? unit : NULL;
    metric->nvmlReturn = failure_of(first->gpu, first->instance, subject);
    if (metric->nvmlReturn != NVML_SUCCESS) return;
    if (id == 0 || id >= NVML_GPM_METRIC_MAX || id >= METRICS) {
        metric->nvmlReturn = NVML_ERROR_INVALID_ARGUMENT;
    } else if (!first->known[id] || !second->known[id]) {
        metric->nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    } else if (span_ns < machine.gpm_refresh_ms * INT64_C(1000000)) {
        // Counters that were not refreshed: nothing over nothing, with one result or the other.
        metric->nvmlReturn = id % 2 ? NVML_ERROR_NO_DATA : NVML_SUCCESS;
        if (id % 2 == 0) metric->value = NAN;
    } else {
        metric->value = (second->integrals[id] - first->integrals[id]) / (double)span_ns;
    }
}

EXPORT nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *get) {
    CALL(call);
    if (!get) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (get->version != 1) return leave(&call, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    if (get->numMetrics == 0 || get->numMetrics > NVML_GPM_METRIC_MAX) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (!get->sample1 || !get->sample2) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    nvmlGpmSample_t first = get->sample1, second = get->sample2;
    check_sample(first, __func__);
    check_sample(second, __func__);
    if (first->gpu < 0 || second->gpu < 0) {
        misuse("nvmlGpmMetricsGet of a sample that was not read");
        return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    }
    if (first->gpu != second->gpu || first->instance != second->instance) {
        misuse("nvmlGpmMetricsGet of samples of two devices");
        return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    }
    call.gpu = &machine.gpus[first->gpu];
    call.instance = first->instance;
    int64_t span_ns = second->time_ns - first->time_ns;
    if (span_ns <= 0) misuse("nvmlGpmMetricsGet of samples in the wrong order");
    else if (span_ns < machine.gpm_refresh_ms * INT64_C(1000000)) {
        misuse("nvmlGpmMetricsGet of samples %d ms apart", (int)(span_ns / 1000000));
    }
    for (unsigned index = 0; index < get->numMetrics; index++) average(&get->metrics[index], first, second);
    // The struct has its full size, whatever was asked for.
    fill_with_noise(&get->metrics[get->numMetrics], (NVML_GPM_METRIC_MAX - get->numMetrics) * sizeof(nvmlGpmMetric_t));
    return leave(&call, NVML_SUCCESS);
}

#else

int open_samples(void) { return 0; }

#endif
