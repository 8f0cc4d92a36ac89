/* Proof of the rules for what takes time: events, GPM, slow calls and calls that hang. */

#include "proof.h"

#include <math.h>
#include <pthread.h>

static void events(void) {
    nvmlEventSet_t set;
    nvmlEventData_t data;
    unsigned long long types;
    say("device gtx1080 0000:1b:00.0\nxid 0 31\n");
    OK("nvmlInit_v2"), OK("nvmlEventSetCreate", &set);
    OK("nvmlDeviceGetSupportedEventTypes", device(0), &types);
    CHECK(types & 8 && !(types & 1));
    EXPECT(NVML_ERROR_NOT_SUPPORTED, "nvmlDeviceRegisterEvents", device(0), 9ull, set);
    OK("nvmlDeviceRegisterEvents", device(0), 8ull, set);
    double before = seconds();
    EXPECT(NVML_ERROR_TIMEOUT, "nvmlEventSetWait_v2", set, &data, 60u);
    CHECK(seconds() - before >= 0.05);
    for (int event = 0; event < 40; event++) say("xid 0 79\n");
    for (int event = 0; event < 32; event++) {
        OK("nvmlEventSetWait_v2", set, &data, 1000u);
        CHECK(data.device == device(0) && data.eventType == 8 && data.eventData == 79);
        CHECK(data.gpuInstanceId == UINT32_MAX);
    }
    EXPECT(NVML_ERROR_TIMEOUT, "nvmlEventSetWait_v2", set, &data, 0u);
    say("lost 0\n");
    EXPECT(NVML_ERROR_GPU_IS_LOST, "nvmlEventSetWait_v2", set, &data, 1000u);
    OK("nvmlEventSetFree", set);
    CALL("nvmlEventSetWait_v2", set, &data, 0u); /* aborts */
}

#if DRIVER >= 535
static nvmlGpmMetricsGet_t get;

static void gpm(void) {
    nvmlGpmSupport_t support = { .version = 0 };
    nvmlGpmSample_t first, second;
    say("device h100 0000:1b:00.0\ndevice a100 0000:2b:00.0\ngpm 0 2 40\ngpm 0 10 60\n");
    OK("nvmlInit_v2");
    EXPECT(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "nvmlGpmQueryDeviceSupport", device(0), &support);
    support.version = 1;
    OK("nvmlGpmQueryDeviceSupport", device(1), &support);
    CHECK(support.isSupportedDevice == 0);
    OK("nvmlGpmQueryDeviceSupport", device(0), &support);
    CHECK(support.isSupportedDevice == 1);
    OK("nvmlGpmSampleAlloc", &first), OK("nvmlGpmSampleAlloc", &second);
    OK("nvmlGpmSampleGet", device(0), first);
    rest_ms(60);
    say("gpm 0 2 80\n");
    OK("nvmlGpmSampleGet", device(0), second);
    get = (nvmlGpmMetricsGet_t){ .version = 1, .numMetrics = 4, .sample1 = first, .sample2 = second };
    static const unsigned ids[] = { 2, 10, 3, 90 };
    for (int index = 0; index < 4; index++) get.metrics[index].metricId = ids[index];
    OK("nvmlGpmMetricsGet", &get);
    CHECK(isnan(get.metrics[0].value) && get.metrics[2].nvmlReturn == NVML_ERROR_NO_DATA);
    CHECK(is_booked("ms apart"));
    rest_ms(60);
    OK("nvmlGpmSampleGet", device(0), second);
    OK("nvmlGpmMetricsGet", &get);
    CHECK(get.metrics[0].value > 50 && get.metrics[0].value < 70 && fabs(get.metrics[1].value - 60) < 0.001);
    CHECK(get.metrics[3].nvmlReturn == NVML_ERROR_NOT_SUPPORTED);
    CHECK(get.metrics[NVML_GPM_METRIC_MAX - 1].metricId != 0);
    get.version = 2;
    EXPECT(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "nvmlGpmMetricsGet", &get);
    OK("nvmlGpmSampleFree", first);
    OK("nvmlShutdown");
    CHECK(is_booked("leaks 1 samples"));
}

static void freed_sample(void) {
    nvmlGpmSample_t sample;
    say("device h100 0000:1b:00.0\n");
    OK("nvmlInit_v2"), OK("nvmlGpmSampleAlloc", &sample), OK("nvmlGpmSampleFree", sample);
    CALL("nvmlGpmSampleGet", device(0), sample); /* aborts */
}
#endif

static void *read_power(void *handle) {
    unsigned power;
    OK("nvmlDeviceGetPowerUsage", (nvmlDevice_t)handle, &power);
    return NULL;
}

static void time_passes(void) {
    unsigned value;
    pthread_t thread;
    say("device h100 0000:1b:00.0\ndevice h100 0000:2b:00.0\n");
    OK("nvmlInit_v2");
    nvmlDevice_t first = device(0), second = device(1);
    double before = seconds();
    OK("nvmlDeviceGetPcieThroughput", first, 0u, &value);
    CHECK(seconds() - before >= 0.02);
    say("delay nvmlDeviceGetFanSpeed 30000 40000\n");
    before = seconds();
    CALL("nvmlDeviceGetFanSpeed", first, &value);
    CHECK(seconds() - before >= 0.03);
    say("hang 0 nvmlDeviceGetPowerUsage\n");
    pthread_create(&thread, NULL, read_power, first);
    while (!is_booked("hanging")) rest_ms(1);
    OK("nvmlDeviceGetPowerUsage", second, &value);
    say("release\n");
    pthread_join(thread, NULL);
    CHECK(!is_booked("misuse"));
}

const struct proof_case time_cases[] = {
    { "events", events, true },
#if DRIVER >= 535
    { "gpm", gpm, false },
    { "freed_sample", freed_sample, true },
#endif
    { "time_passes", time_passes, false },
    { 0 },
};
