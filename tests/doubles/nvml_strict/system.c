/* Initialization, versions, counts and handles. */

#include "double.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static nvmlReturn_t text(struct call *call, const char *from, char *to, unsigned length) {
    if (!to) return leave(call, NVML_ERROR_INVALID_ARGUMENT);
    size_t needed = strlen(from) + 1;
    if (length < needed) return leave(call, NVML_ERROR_INSUFFICIENT_SIZE);
    // The rest of the buffer is nobody's: it may be written.
    fill_with_noise(to, length);
    memcpy(to, from, needed);
    return leave(call, NVML_SUCCESS);
}

static nvmlReturn_t initialize(const char *function) {
    struct call call;
    if (!enter_uninitialized(&call, function)) return leave(&call, call.result);
    if (machine.driver_down) return leave(&call, machine.driver_down);
    if (machine.initialized++ == 0) {
        machine.epoch++;
        list_gpus();
    }
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlInit_v2(void) { return initialize(__func__); }

EXPORT nvmlReturn_t nvmlInitWithFlags(unsigned int flags) {
    if (flags > 7) return NVML_ERROR_INVALID_ARGUMENT;
    return initialize(__func__);
}

EXPORT nvmlReturn_t nvmlShutdown(void) {
    struct call call;
    enter_uninitialized(&call, __func__);
    if (machine.initialized == 0) {
        misuse("nvmlShutdown without nvmlInit");
        return leave(&call, NVML_ERROR_UNINITIALIZED);
    }
    if (machine.initialized == 1) {
        int sets = open_event_sets(), samples = open_samples();
        if (sets > 0) misuse("nvmlShutdown leaks %d event sets", sets);
        if (samples > 0) misuse("nvmlShutdown leaks %d samples", samples);
        machine.epoch++;
    }
    machine.initialized--;
    return leave(&call, NVML_SUCCESS);
}

EXPORT const char *nvmlErrorString(nvmlReturn_t result) {
    static char unknown[] = "an error of the double";
    return result == NVML_SUCCESS ? "Success" : unknown;
}

EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    CALL(call);
    static const struct {
        int driver;
        const char *version;
    } versions[] = { { 470, "470.256.02" }, { 535, "535.288.01" }, { 550, "550.163.01" },
                     { 580, "580.126.09" }, { 615, "615.71.05" } };
    const char *known = "1.0";
    for (size_t index = 0; index < sizeof versions / sizeof *versions; index++) {
        if (versions[index].driver <= DRIVER) known = versions[index].version;
    }
    return text(&call, machine.driver_version[0] ? machine.driver_version : known, version, length);
}

EXPORT nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length) {
    CALL(call);
    char known[32];
    snprintf(known, sizeof known, "%d.%d.0", DRIVER >= 580 ? 13 : DRIVER >= 525 ? 12 : 11, DRIVER);
    return text(&call, known, version, length);
}

static nvmlReturn_t cuda_version(const char *function, int *version) {
    struct call call;
    if (!enter_uninitialized(&call, function)) return leave(&call, call.result);
    if (!version) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    *version = machine.cuda_version;
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version) { return cuda_version(__func__, version); }
EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version) { return cuda_version(__func__, version); }

EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count) {
    CALL(call);
    if (!count) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    *count = (unsigned)machine.visible_count;
    return leave(&call, NVML_SUCCESS);
}

/* Gives the handle of a GPU, if it may be had. */
static nvmlReturn_t give_gpu(struct call *call, int gpu, nvmlDevice_t *device) {
    call->gpu = &machine.gpus[gpu];
    if (call->gpu->denied) return leave(call, NVML_ERROR_NO_PERMISSION);
    if (call->gpu->failure == NVML_ERROR_GPU_IS_LOST) return leave(call, call->gpu->failure);
    unsigned failure = failure_of(gpu, -1, call->function);
    if (failure) return leave(call, failure);
    *device = handle_of(gpu, -1);
    return leave(call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
    CALL(call);
    if (!device || index >= (unsigned)machine.visible_count) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    return give_gpu(&call, machine.visible[index], device);
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    CALL(call);
    if (!uuid || !device) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    for (int index = 0; index < machine.visible_count; index++) {
        int number = machine.visible[index];
        struct gpu *gpu = &machine.gpus[number];
        if (strcmp(gpu->self.uuid, uuid) == 0) return give_gpu(&call, number, device);
        for (int instance = 0; instance < gpu->instance_count; instance++) {
            if (strcmp(gpu->instances[instance].uuid, uuid) != 0) continue;
            *device = handle_of(number, instance);
            return leave(&call, NVML_SUCCESS);
        }
    }
    return leave(&call, NVML_ERROR_NOT_FOUND);
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, nvmlDevice_t *device) {
    CALL(call);
    unsigned domain = 0, bus, slot;
    if (!bus_id || !device || sscanf(bus_id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    }
    for (int index = 0; index < machine.visible_count; index++) {
        int number = machine.visible[index];
        if (machine.gpus[number].bus == (domain << 16 | bus << 8 | slot)) return give_gpu(&call, number, device);
    }
    return leave(&call, NVML_ERROR_NOT_FOUND);
}

EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length) {
    DEVICE_CALL(call, device);
    return text(&call, call.subject->name, name, length);
}

EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length) {
    DEVICE_CALL(call, device);
    return text(&call, call.subject->uuid, uuid, length);
}

EXPORT nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, unsigned int length) {
    DEVICE_CALL(call, device);
    return text(&call, "1652922014123", serial, length);
}

EXPORT nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version, unsigned int length) {
    DEVICE_CALL(call, device);
    return text(&call, "96.00.89.00.01", version, length);
}

EXPORT nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index) {
    DEVICE_CALL(call, device);
    if (!index) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    for (int at = 0; at < machine.visible_count; at++) {
        if (&machine.gpus[machine.visible[at]] == call.gpu) *index = (unsigned)at;
    }
    return leave(&call, NVML_SUCCESS);
}

static nvmlReturn_t pci_info(const char *function, nvmlDevice_t device, nvmlPciInfo_t *pci) {
    struct call call;
    if (!enter_device(&call, function, device)) return leave(&call, call.result);
    if (!pci) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (call.instance >= 0) return leave(&call, NVML_ERROR_NOT_SUPPORTED);
    fill_with_noise(pci, sizeof *pci);
    pci->domain = call.gpu->bus >> 16;
    pci->bus = call.gpu->bus >> 8 & 0xff;
    pci->device = call.gpu->bus & 0xff;
    pci->pciDeviceId = 0x233010de;
    pci->pciSubSystemId = 0x16c110de;
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0", pci->domain, pci->bus, pci->device);
    snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", pci->domain, pci->bus, pci->device);
    return leave(&call, NVML_SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    return pci_info(__func__, device, pci);
}
