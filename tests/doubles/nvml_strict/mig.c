/* MIG: the mode, the instances of a GPU and what they are. */

#include "double.h"

EXPORT nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current, unsigned int *pending) {
    DEVICE_CALL(call, device);
    uint64_t mode;
    if (!current || !pending) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (!read_value(call.subject, "mig_mode", &mode)) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    *current = *pending = (unsigned)mode;
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count) {
    DEVICE_CALL(call, device);
    if (!count || call.instance >= 0) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    *count = mig_is_enabled(call.gpu) ? 7 : 0;
    return leave(&call, NVML_SUCCESS);
}

/* Instances lie where their slices are: the first indices have none. */
EXPORT nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index, nvmlDevice_t *mig) {
    DEVICE_CALL(call, device);
    if (!mig || call.instance >= 0 || index >= 7) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (!find_reading(call.subject, "mig_mode")) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    int gap = call.gpu->instance_count < 7, instance = (int)index - gap;
    if (!mig_is_enabled(call.gpu) || instance < 0 || instance >= call.gpu->instance_count) {
        return leave(&call, NVML_ERROR_NOT_FOUND);
    }
    *mig = handle_of((int)(call.gpu - machine.gpus), instance);
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t mig, nvmlDevice_t *device) {
    DEVICE_CALL(call, mig);
    if (!device || call.instance < 0) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    *device = handle_of((int)(call.gpu - machine.gpus), -1);
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int *is) {
    DEVICE_CALL(call, device);
    if (!is) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    *is = call.instance >= 0;
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t mig, unsigned int *id) {
    DEVICE_CALL(call, mig);
    if (!id) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (call.instance < 0) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    *id = call.subject->gi;
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t mig, unsigned int *id) {
    DEVICE_CALL(call, mig);
    if (!id) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (call.instance < 0) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    *id = call.subject->ci;
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t mig, nvmlDeviceAttributes_t *attributes) {
    DEVICE_CALL(call, mig);
    if (!attributes) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (call.instance < 0) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    fill_with_noise(attributes, sizeof *attributes);
    unsigned processors = (unsigned)value_or(call.subject, "processors", 0);
    *attributes = (nvmlDeviceAttributes_t){
        .multiprocessorCount = processors,
        .sharedCopyEngineCount = 1,
        .gpuInstanceSliceCount = 1,
        .computeInstanceSliceCount = 1,
        .memorySizeMB = value_or(call.subject, "memory_total", 0) >> 20,
    };
    return leave(&call, NVML_SUCCESS);
}
