/* Proof of the rules for devices: initialization, handles, refusals, values, MIG. */

#include "proof.h"

#include <string.h>

static void initialization(void) {
    unsigned count;
    say("device h100 0000:1b:00.0\n");
    EXPECT(NVML_ERROR_UNINITIALIZED, "nvmlDeviceGetCount_v2", &count);
    CHECK(is_booked("nvmlDeviceGetCount_v2 before nvmlInit"));
    OK("nvmlInit_v2"), OK("nvmlInit_v2"), OK("nvmlShutdown");
    OK("nvmlDeviceGetCount_v2", &count);
    CHECK(count == 1);
    OK("nvmlShutdown");
    EXPECT(NVML_ERROR_UNINITIALIZED, "nvmlShutdown");
    say("down 9\n");
    EXPECT(NVML_ERROR_DRIVER_NOT_LOADED, "nvmlInit_v2");
}

static void old_handle(void) {
    say("device h100 0000:1b:00.0\n");
    OK("nvmlInit_v2");
    nvmlDevice_t before = device(0);
    OK("nvmlShutdown"), OK("nvmlInit_v2");
    CHECK(device(0) != before);
    unsigned power;
    CALL("nvmlDeviceGetPowerUsage", before, &power); /* aborts */
}

static void strings(void) {
    char text[128];
    say("device h100 0000:1b:00.0\nname 0 A \"quoted\"\\x09name \\xff\\xfe\n");
    OK("nvmlInit_v2");
    OK("nvmlDeviceGetName", device(0), text, (unsigned)sizeof text);
    CHECK(strcmp(text, "A \"quoted\"\tname \xff\xfe") == 0);
    EXPECT(NVML_ERROR_INSUFFICIENT_SIZE, "nvmlDeviceGetName", device(0), text, 8u);
    EXPECT(NVML_ERROR_INSUFFICIENT_SIZE, "nvmlDeviceGetUUID", device(0), text, 40u);
    OK("nvmlDeviceGetUUID", device(0), text, 41u);
}

static void order(void) {
    nvmlPciInfo_t pci;
    say("device h100 0000:9b:00.0\ndevice a100 0000:1b:00.0\ndevice l4 0001:01:00.0\ndeny 1\n");
    OK("nvmlInit_v2");
    nvmlDevice_t handle;
    EXPECT(NVML_ERROR_NO_PERMISSION, "nvmlDeviceGetHandleByIndex_v2", 0u, &handle);
    OK("nvmlDeviceGetPciInfo_v3", device(1), &pci);
    CHECK(strcmp(pci.busId, "00000000:9B:00.0") == 0 && strcmp(pci.busIdLegacy, "0000:9B:00.0") == 0);
    OK("nvmlDeviceGetPciInfo_v3", device(2), &pci);
    CHECK(pci.domain == 1);
    EXPECT(NVML_ERROR_INVALID_ARGUMENT, "nvmlDeviceGetHandleByIndex_v2", 3u, &handle);
}

static void refusals(void) {
    unsigned value;
    say("device gtx1080 0000:1b:00.0\ndevice h100 0000:2b:00.0\nfail 1 nvmlDeviceGetPowerUsage 4 2\n");
    OK("nvmlInit_v2");
    EXPECT(NVML_ERROR_NOT_SUPPORTED, "nvmlDeviceGetFanSpeed", device(1), &value);
    unsigned long long energy;
    EXPECT(NVML_ERROR_NOT_SUPPORTED, "nvmlDeviceGetTotalEnergyConsumption", device(0), &energy);
    for (int time = 0; time < 2; time++) EXPECT(NVML_ERROR_NO_PERMISSION, "nvmlDeviceGetPowerUsage", device(1), &value);
    OK("nvmlDeviceGetPowerUsage", device(1), &value);
    CHECK(value == 70000);
    nvmlDevice_t h100 = device(1);
    say("lost 1\n");
    EXPECT(NVML_ERROR_GPU_IS_LOST, "nvmlDeviceGetPowerUsage", h100, &value);
    say("well 1\nreset 1\n");
    EXPECT(NVML_ERROR_RESET_REQUIRED, "nvmlDeviceGetPowerUsage", h100, &value);
}

static void versions(void) {
    say("device h100 0000:1b:00.0\nset 0 memory_used 1000\n");
    OK("nvmlInit_v2");
#if DRIVER >= 535
    nvmlMemory_v2_t memory = { .version = 2 };
    EXPECT(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "nvmlDeviceGetMemoryInfo_v2", device(0), &memory);
    memory.version = 0x2000028;
    OK("nvmlDeviceGetMemoryInfo_v2", device(0), &memory);
    CHECK(memory.used == 1000 && memory.total == memory.used + memory.free + memory.reserved);
#else
    CHECK(!dlsym(library, "nvmlDeviceGetMemoryInfo_v2") && !dlsym(library, "nvmlGpmMetricsGet"));
#endif
    nvmlMemory_t first;
    OK("nvmlDeviceGetMemoryInfo", device(0), &first);
    CHECK(first.used == 1000 + 560988160);
    CHECK((dlsym(library, "nvmlDeviceGetTemperatureV") != NULL) == (DRIVER >= 575));
    CHECK((dlsym(library, "nvmlDeviceGetCurrentClocksEventReasons") != NULL) == (DRIVER >= 535));
}

static void field_values(void) {
    nvmlFieldValue_t values[] = { { .fieldId = 83 },  { .fieldId = 82 },  { .fieldId = 94 },
                                  { .fieldId = 138, .scopeId = 3 },       { .fieldId = 138, .scopeId = UINT32_MAX },
                                  { .fieldId = 138, .scopeId = 40 },      { .fieldId = 5000 }, { .fieldId = 29 } };
    say("device h100 0000:1b:00.0\nset 0 energy 12345678901234\nset 0 pcie_replay 0x1fffffffe\n"
        "set 0 nvlink_data_tx.3 7\nset 0 nvlink_data_tx.17 5\n");
    OK("nvmlInit_v2");
    nvmlDevice_t h100 = device(0);
    OK("nvmlDeviceGetFieldValues", h100, 8, values);
    CHECK(values[0].nvmlReturn == 0 && values[0].value.ullVal == 12345678901234);
    CHECK(values[1].valueType == NVML_VALUE_TYPE_UNSIGNED_INT && values[1].value.uiVal == 36);
    CHECK(values[1].value.ullVal != 36);
    CHECK(values[2].value.uiVal == 0xfffffffe);
    CHECK(values[3].value.ullVal == 7 && values[4].value.ullVal == 12);
    CHECK(values[5].nvmlReturn == NVML_ERROR_INVALID_ARGUMENT && values[6].nvmlReturn == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(values[7].nvmlReturn == NVML_ERROR_NOT_SUPPORTED);
    EXPECT(NVML_ERROR_NOT_SUPPORTED, "nvmlDeviceGetFieldValues", h100, 1, &values[7]);
    say("down 9\n");
    EXPECT(NVML_ERROR_DRIVER_NOT_LOADED, "nvmlDeviceGetFieldValues", h100, 1, values);
}

static void reload(void) {
    unsigned long long energy;
    say("device h100 0000:1b:00.0\nset 0 energy 5000\n");
    OK("nvmlInit_v2");
    nvmlDevice_t before = device(0);
    OK("nvmlDeviceGetTotalEnergyConsumption", before, &energy);
    CHECK(energy == 5000);
    say("down 9\n");
    EXPECT(NVML_ERROR_DRIVER_NOT_LOADED, "nvmlDeviceGetTotalEnergyConsumption", before, &energy);
    OK("nvmlShutdown");
    EXPECT(NVML_ERROR_DRIVER_NOT_LOADED, "nvmlInit_v2");
    say("up\n");
    OK("nvmlInit_v2");
    OK("nvmlDeviceGetTotalEnergyConsumption", device(0), &energy);
    CHECK(energy == 0);
}

static void unplugged(void) {
    unsigned count, value;
    say("device h100 0000:1b:00.0\ndevice l4 0000:2b:00.0\n");
    OK("nvmlInit_v2");
    nvmlDevice_t first = device(0);
    say("unplug 0\n");
    OK("nvmlDeviceGetCount_v2", &count);
    CHECK(count == 2);
    EXPECT(NVML_ERROR_GPU_IS_LOST, "nvmlDeviceGetPowerUsage", first, &value);
    OK("nvmlShutdown"), OK("nvmlInit_v2"), OK("nvmlDeviceGetCount_v2", &count);
    OK("nvmlDeviceGetPowerUsage", device(0), &value);
    CHECK(count == 1 && value == 16000);
}

static void instances(void) {
    unsigned mode, pending, index, id;
    nvmlDevice_t instance, parent;
    nvmlUtilization_t utilization;
    nvmlMemory_t memory;
    nvmlDeviceAttributes_t attributes;
    say("device h100 0000:1b:00.0\nmig 0 9 0 9856 16 NVIDIA H100 MIG 1g.10gb\n");
    OK("nvmlInit_v2");
    OK("nvmlDeviceGetMigMode", device(0), &mode, &pending);
    CHECK(mode == 1);
    EXPECT(NVML_ERROR_NOT_SUPPORTED, "nvmlDeviceGetUtilizationRates", device(0), &utilization);
    EXPECT(NVML_ERROR_NOT_FOUND, "nvmlDeviceGetMigDeviceHandleByIndex", device(0), 0u, &instance);
    OK("nvmlDeviceGetMigDeviceHandleByIndex", device(0), 1u, &instance);
    OK("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", instance, &parent);
    CHECK(parent == device(0));
    OK("nvmlDeviceGetGpuInstanceId", instance, &id);
    OK("nvmlDeviceGetMemoryInfo", instance, &memory);
    OK("nvmlDeviceGetAttributes_v2", instance, &attributes);
    CHECK(id == 9 && memory.total == 9856ull << 20 && attributes.multiprocessorCount == 16);
    EXPECT(NVML_ERROR_NOT_SUPPORTED, "nvmlDeviceGetPowerUsage", instance, &index);
    say("unmig 0\n");
    EXPECT(NVML_ERROR_INVALID_ARGUMENT, "nvmlDeviceGetMemoryInfo", instance, &memory);
}

static void forbidden(void) {
    say("device h100 0000:1b:00.0\n");
    OK("nvmlInit_v2");
    unsigned count = 0;
    EXPECT(NVML_ERROR_NO_PERMISSION, "nvmlDeviceGetComputeRunningProcesses_v3", device(0), &count, NULL);
    CHECK(is_booked("is forbidden"));
}

const struct proof_case device_cases[] = {
    { "initialization", initialization, false },
    { "old_handle", old_handle, true },
    { "strings", strings, false },
    { "order", order, false },
    { "refusals", refusals, false },
    { "versions", versions, false },
    { "field_values", field_values, false },
    { "reload", reload, false },
    { "unplugged", unplugged, false },
    { "instances", instances, false },
    { "forbidden", forbidden, false },
    { 0 },
};
