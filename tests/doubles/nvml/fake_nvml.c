/* A fake libnvidia-ml.so.1: the functions of NVML that are called, over the devices of the script. */
#include "fake_nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

static struct nvmlDevice_st handles[FAKE_DEVICES][FAKE_MIG + 1];
static int initialised;
static char loaded_driver[32];

/* The begin of a function of the library, and of one of a device. */
#define BEGIN(device)                                          \
    nvmlReturn_t begun = fake_begin(__func__, (device));       \
    if (begun == NVML_SUCCESS) begun = state(device);          \
    if (begun != NVML_SUCCESS) return begun

#define OF(device) (&fake.devices[(device)->index])

/* A driver that was loaded anew does not know those who initialised NVML before. */
static nvmlReturn_t state(nvmlDevice_t device) {
    if (device && device->mig >= 0 && (uint64_t)device->mig >= OF(device)->mig) return NVML_ERROR_NOT_FOUND;
    return initialised && strcmp(loaded_driver, fake.driver) == 0 ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

static nvmlReturn_t copy(char *to, unsigned int size, const char *text) {
    if (strlen(text) >= size) return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy(to, text);
    return NVML_SUCCESS;
}

/* A function that answers with a property. */
#define GETTER(function, type, property)                                       \
    EXPORT nvmlReturn_t function(nvmlDevice_t device, type *value) {           \
        BEGIN(device);                                                         \
        if (device->mig >= 0) return NVML_ERROR_NOT_SUPPORTED;                 \
        *value = (type)OF(device)->property;                                   \
        return NVML_SUCCESS;                                                   \
    }

EXPORT nvmlReturn_t nvmlInit_v2(void) {
    nvmlReturn_t begun = fake_begin(__func__, NULL);
    if (begun != NVML_SUCCESS) return begun;
    strcpy(loaded_driver, fake.driver);
    initialised++;
    for (int i = 0; i < FAKE_DEVICES; i++)
        for (int j = 0; j <= FAKE_MIG; j++) handles[i][j] = (struct nvmlDevice_st){i, j - 1};
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlShutdown(void) {
    nvmlReturn_t begun = fake_begin(__func__, NULL);
    if (begun != NVML_SUCCESS || initialised == 0) return begun ? begun : NVML_ERROR_UNINITIALIZED;
    initialised--;
    return NVML_SUCCESS;
}

/* ---- Identity ---- */

EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int size) {
    BEGIN(NULL);
    return copy(version, size, fake.driver);
}

EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version) {
    BEGIN(NULL);
    *version = fake.cuda;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count) {
    BEGIN(NULL);
    *count = (unsigned int)fake.count;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
    BEGIN(NULL);
    if (index >= (unsigned int)fake.count) return NVML_ERROR_INVALID_ARGUMENT;
    *device = &handles[index][0];
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int size) {
    BEGIN(device);
    const struct fake_device *told = OF(device);
    if (device->mig < 0 && told->uuid[0]) return copy(uuid, size, told->uuid);
    if (device->mig == 0 && told->mig_uuid[0]) return copy(uuid, size, told->mig_uuid);
    char text[64];
    if (device->mig < 0) snprintf(text, sizeof text, "GPU-%08x-0000-4000-8000-000000000000", device->index);
    else snprintf(text, sizeof text, "MIG-%08x-0000-5000-8000-%012x", device->index, device->mig);
    return copy(uuid, size, text);
}

EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    BEGIN(device);
    *pci = (nvmlPciInfo_t){.bus = 0x1b + (unsigned int)device->index};
    snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", pci->bus);
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int size) {
    BEGIN(device);
    return copy(name, size, device->mig < 0 ? "NVIDIA H100 80GB HBM3" : "NVIDIA H100 80GB HBM3 MIG 1g.10gb");
}

EXPORT nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned int *architecture) {
    BEGIN(device);
    *architecture = (unsigned int)OF(device)->architecture;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
    BEGIN(device);
    *major = (int)OF(device)->major;
    *minor = (int)OF(device)->minor;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, int *mode, int *pending) {
    BEGIN(device);
    *mode = *pending = (int)OF(device)->ecc_mode;
    return NVML_SUCCESS;
}

GETTER(nvmlDeviceGetNumGpuCores, unsigned int, cores)
GETTER(nvmlDeviceGetMemoryBusWidth, unsigned int, bus_width)
GETTER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned int, default_power_limit)
GETTER(nvmlDeviceGetPersistenceMode, int, persistence)
GETTER(nvmlDeviceGetComputeMode, int, compute_mode)

/* ---- Gauges ---- */

EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates) {
    BEGIN(device);
    if (OF(device)->mig) return NVML_ERROR_NOT_SUPPORTED;
    *rates = (nvmlUtilization_t){(unsigned int)OF(device)->utilization,
                                 (unsigned int)OF(device)->memory_utilization};
    return NVML_SUCCESS;
}

/* A MIG device has an eighth. */
static uint64_t memory_of(nvmlDevice_t device, uint64_t bytes) { return device->mig < 0 ? bytes : bytes / 8; }

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    BEGIN(device);
    struct fake_device *of = OF(device);
    *memory = (nvmlMemory_t){memory_of(device, of->memory_total),
                             memory_of(device, of->memory_total - of->memory_used - of->memory_reserved),
                             memory_of(device, of->memory_used + of->memory_reserved)};
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    BEGIN(device);
    if (memory->version != 0x2000028) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    struct fake_device *of = OF(device);
    memory->total = memory_of(device, of->memory_total);
    memory->reserved = memory_of(device, of->memory_reserved);
    memory->used = memory_of(device, of->memory_used);
    memory->free = memory_of(device, of->memory_total - of->memory_used - of->memory_reserved);
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned int *celsius) {
    BEGIN(device);
    if (sensor != 0) return NVML_ERROR_INVALID_ARGUMENT;
    *celsius = (unsigned int)OF(device)->temperature;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *temperature) {
    BEGIN(device);
    if (temperature->version != 0x100000c) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    temperature->temperature = (int)OF(device)->temperature;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, int type, unsigned int *megahertz) {
    BEGIN(device);
    *megahertz = (unsigned int)(type == NVML_CLOCK_MEM ? OF(device)->clock_mem : OF(device)->clock_sm);
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int type, unsigned int *megahertz) {
    BEGIN(device);
    *megahertz = (unsigned int)(type == NVML_CLOCK_MEM ? OF(device)->max_clock_mem : OF(device)->max_clock_sm);
    return NVML_SUCCESS;
}

/* It watches the link for 20 ms. */
EXPORT nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, int way, unsigned int *kilobytes) {
    BEGIN(device);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    *kilobytes = (unsigned int)(way == NVML_PCIE_UTIL_TX_BYTES ? OF(device)->pcie_tx : OF(device)->pcie_rx);
    return NVML_SUCCESS;
}

GETTER(nvmlDeviceGetPowerUsage, unsigned int, power)
GETTER(nvmlDeviceGetEnforcedPowerLimit, unsigned int, power_limit)
GETTER(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, energy)
GETTER(nvmlDeviceGetFanSpeed, unsigned int, fan)
GETTER(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long, reasons)
GETTER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, reasons)
GETTER(nvmlDeviceGetPerformanceState, int, performance_state)
GETTER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned int, pcie_generation)
GETTER(nvmlDeviceGetCurrPcieLinkWidth, unsigned int, pcie_width)
GETTER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned int, pcie_max_generation)
GETTER(nvmlDeviceGetMaxPcieLinkWidth, unsigned int, pcie_max_width)
GETTER(nvmlDeviceGetPcieReplayCounter, unsigned int, replays)

/* ---- Fields ---- */

static nvmlReturn_t answer_of_field(nvmlDevice_t device, const nvmlFieldValue_t *field) {
    unsigned int id = field->fieldId;
    const struct fake_device *of = OF(device);
    if (id >= FAKE_FIELDS) return NVML_ERROR_INVALID_ARGUMENT;
    bool of_links = (id >= 138 && id <= 141) || (id >= 161 && id <= 166) || (id >= 201 && id <= 215);
    if (of_links && field->scopeId != NVML_ALL_LINKS && field->scopeId >= of->nvlinks) return NVML_ERROR_INVALID_ARGUMENT;
    /* Only throughput has a sum, if the driver makes one. */
    bool has_sum = id <= 141 && of->nvlink_sums;
    if (of_links && field->scopeId == NVML_ALL_LINKS && !has_sum) return NVML_ERROR_INVALID_ARGUMENT;
    return of->refused[id];
}

static void set_field(nvmlDevice_t device, nvmlFieldValue_t *field) {
    field->nvmlReturn = answer_of_field(device, field);
    memset(&field->value, 0x5a, sizeof field->value);
    if (field->nvmlReturn != NVML_SUCCESS) return;
    uint64_t value = OF(device)->fields[field->fieldId];
    if (field->fieldId == NVML_FI_DEV_NVLINK_LINK_COUNT && value == 0) value = OF(device)->nvlinks;
    if (field->fieldId >= 138 && field->fieldId <= 141 && field->scopeId == NVML_ALL_LINKS)
        value *= OF(device)->nvlinks;
    field->valueType = fake.types[field->fieldId];
    switch (field->valueType) {
    case NVML_VALUE_TYPE_DOUBLE: field->value.dVal = (double)value; break;
    case NVML_VALUE_TYPE_UNSIGNED_INT: field->value.uiVal = (unsigned int)value; break;
    case NVML_VALUE_TYPE_SIGNED_INT: field->value.siVal = (int)value; break;
    case NVML_VALUE_TYPE_UNSIGNED_SHORT: field->value.usVal = (unsigned short)value; break;
    default: field->value.ullVal = value;
    }
}

EXPORT nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *fields) {
    BEGIN(device);
    if (device->mig >= 0) return NVML_ERROR_NOT_SUPPORTED;
    for (int i = 0; i < count; i++) set_field(device, &fields[i]);
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, int *active) {
    BEGIN(device);
    if (OF(device)->nvlinks == 0) return NVML_ERROR_NOT_SUPPORTED;
    if (link >= OF(device)->nvlinks) return NVML_ERROR_INVALID_ARGUMENT;
    *active = link < OF(device)->nvlinks_active;
    return NVML_SUCCESS;
}

/* ---- Events ---- */

struct nvmlEventSet_st {
    bool registered[FAKE_DEVICES];
};

EXPORT nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set) {
    BEGIN(NULL);
    *set = calloc(1, sizeof **set);
    return *set ? NVML_SUCCESS : NVML_ERROR_MEMORY;
}

EXPORT nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
    nvmlReturn_t begun = fake_begin(__func__, NULL);
    free(set);
    return begun;
}

EXPORT nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, nvmlEventSet_t set) {
    BEGIN(device);
    if (device->mig >= 0 || types != nvmlEventTypeXidCriticalError) return NVML_ERROR_NOT_SUPPORTED;
    set->registered[device->index] = true;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeout_ms) {
    BEGIN(NULL);
    for (int i = 0; i < fake.count; i++) {
        for (int j = 0; set->registered[i] && j < FAKE_XIDS; j++) {
            struct fake_xid *xid = &fake.devices[i].xids[j];
            if (xid->delivered >= xid->count) continue;
            xid->delivered++;
            *data = (nvmlEventData_t){&handles[i][0], nvmlEventTypeXidCriticalError, xid->xid, xid->instance, 0};
            return NVML_SUCCESS;
        }
    }
    if (timeout_ms) nanosleep(&(struct timespec){timeout_ms / 1000, timeout_ms % 1000 * 1000000l}, NULL);
    return NVML_ERROR_TIMEOUT;
}

/* ---- MIG ---- */

EXPORT nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *mode, unsigned int *pending) {
    BEGIN(device);
    *mode = *pending = OF(device)->mig > 0;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count) {
    BEGIN(device);
    *count = FAKE_MIG;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index, nvmlDevice_t *mig) {
    BEGIN(device);
    if (index >= OF(device)->mig) return NVML_ERROR_NOT_FOUND;
    *mig = &handles[device->index][index + 1];
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int *id) {
    BEGIN(device);
    if (device->mig < 0) return NVML_ERROR_NOT_SUPPORTED;
    *id = (unsigned int)device->mig + 7;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned int *id) {
    BEGIN(device);
    *id = 0;
    return device->mig < 0 ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes) {
    BEGIN(device);
    if (device->mig < 0) return NVML_ERROR_NOT_SUPPORTED;
    *attributes = (nvmlDeviceAttributes_t){
        .multiprocessorCount = 16, .gpuInstanceSliceCount = 1, .computeInstanceSliceCount = 1, .memorySizeMB = 9728};
    return NVML_SUCCESS;
}
