/* Reasons: the meanings of CUPTI's results, and a comparison of its version with the driver's. */
#include "reasons.h"

#include <stdbool.h>
#include <stdio.h>

#include "library.h"
#include "subscription.h"

static const struct {
    CUptiResult result;
    const char *meaning;
} MEANINGS[] = {
    {RESULT_OUT_OF_MEMORY, "CUPTI has no memory left"},
    {RESULT_NOT_COMPATIBLE, "another tool uses CUPTI in a way that excludes this one: end it"},
    {CUPTI_ERROR_NOT_INITIALIZED, "CUPTI cannot connect to the driver: this libcupti is newer than the driver, or "
                                  "the driver was updated without a restart"},
    {RESULT_DISABLED, "another profiler is active: end it"},
    {RESULT_HARDWARE_BUSY, "another profiler uses the GPU's counters: end it"},
    {RESULT_NOT_SUPPORTED, "this GPU, or this system, does not support it"},
    {RESULT_VIRTUALIZED, "this virtual GPU does not support profiling"},
    {RESULT_PRIVILEGES, "this user may not profile GPUs: run it as root, or set the option "
                        "NVreg_RestrictProfilingToAdminUsers=0 of the NVIDIA driver"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "CUPTI is held by another tool: end it"},
    {RESULT_HYPERVISOR, "the hypervisor does not allow profiling of this virtual GPU"},
    {RESULT_CONFIDENTIAL, "confidential computing mode does not allow profiling"},
    {RESULT_MINING, "CUPTI does not support mining processors (CMP)"},
    {RESULT_MIG, "this libcupti does not support MIG instances"},
    {RESULT_SLI, "this libcupti does not support SLI"},
    {RESULT_WSL, "this libcupti does not support WSL"},
    {RESULT_UNKNOWN, "CUPTI failed and does not say why: check that nvidia-smi works, and that libcupti is not newer "
                     "than the driver"},
};

static const char *meaning_of(CUptiResult result) {
    for (size_t i = 0; i < sizeof MEANINGS / sizeof *MEANINGS; i++)
        if (MEANINGS[i].result == result) return MEANINGS[i].meaning;
    return "CUPTI refused a call";
}

/* Whether CUPTI is newer than the driver, with the reason. From 13.0 on its version is that of CUDA. */
static bool is_too_new(char *reason, size_t size, int driver) {
    uint32_t version = 0;
    if (cupti.GetVersion(&version) != CUPTI_SUCCESS || version < 130000) return false;
    int major = (int)(version / 10000), minor = (int)(version / 100 % 100);
    if (major * 1000 + minor * 10 <= driver) return false;
    snprintf(reason, size,
             "libcupti of CUDA %d.%d is newer than the driver, which supports CUDA %d.%d: update the driver, or use "
             "a libcupti of that version",
             major, minor, driver / 1000, driver / 10 % 100);
    return true;
}

void reasons_explain(char *reason, size_t size, const char *call, CUptiResult result) {
    char why[512];
    int driver = driver_version();
    bool may_be_new = result == CUPTI_ERROR_NOT_INITIALIZED || result == RESULT_UNKNOWN;
    if (driver == 0 && may_be_new) snprintf(why, sizeof why, "this process has no CUDA driver: libcuda.so.1 is not loaded");
    else if (!may_be_new || !is_too_new(why, sizeof why, driver)) snprintf(why, sizeof why, "%s", meaning_of(result));
    snprintf(reason, size, "%s (%s: CUPTI error %d)", why, call, result);
}
