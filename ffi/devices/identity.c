/* The attributes of a device: what tells devices apart, and what a roofline needs. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fields.h"
#include "groups.h"

#define ATTRIBUTES 40
/* Changes of the attributes, of the power limit for example; further ones are not told. */
#define IDENTITIES 64

struct attributes {
    const char *tags[2 * ATTRIBUTES + 1];
    char texts[ATTRIBUTES][NVML_NAME_SIZE];
    size_t count;
};

__attribute__((format(printf, 3, 4))) static void add(struct attributes *to, const char *key,
                                                      const char *format, ...) {
    if (to->count == ATTRIBUTES) return;
    char *text = to->texts[to->count];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof to->texts[0], format, values);
    va_end(values);
    to->tags[2 * to->count] = key;
    to->tags[2 * to->count++ + 1] = text;
}

/* An attribute that a function gives as a number. */
#define ADD_NUMBER(to, device, key, function, ...)                                                     \
    do {                                                                                               \
        unsigned int number = 0;                                                                       \
        if (ASK(device, function, __VA_ARGS__, &number) == NVML_SUCCESS) add(to, key, "%u", number);   \
    } while (0)

static const char *architecture(unsigned int number) {
    static const char *const NAMES[] = {[2] = "Kepler", [3] = "Maxwell", [4] = "Pascal", [5] = "Volta",
                                        [6] = "Turing", [7] = "Ampere",  [8] = "Ada",    [9] = "Hopper",
                                        [10] = "Blackwell", [13] = "Rubin"};
    return number < sizeof NAMES / sizeof NAMES[0] ? NAMES[number] : NULL;
}

static const char *compute_mode(int mode) {
    switch (mode) {
    case NVML_COMPUTEMODE_DEFAULT: return "default";
    case NVML_COMPUTEMODE_PROHIBITED: return "prohibited";
    case NVML_COMPUTEMODE_EXCLUSIVE_PROCESS: return "exclusive_process";
    default: return "unknown";
    }
}

/* 0: unknown. */
static unsigned int cores_of_multiprocessor(int major, int minor) {
    switch (major) {
    case 3: return 192;
    case 5: return 128;
    case 6: return minor == 0 ? 64 : 128;
    case 7: return 64;
    case 8: return minor == 0 ? 64 : 128;
    case 9: case 10: case 11: case 12: return 128;
    default: return 0;
    }
}

static nvmlDevice_t whole_of(const struct device *device) {
    return device->parent ? device->parent->handle : device->handle;
}

static void add_watts(struct attributes *to, const char *key, nvmlReturn_t answer, unsigned int milliwatts) {
    if (answer == NVML_SUCCESS) add(to, key, "%g", milliwatts / 1000.0);
}

static void add_mode(struct attributes *to, const char *key, nvmlReturn_t answer, int mode) {
    if (answer == NVML_SUCCESS) add(to, key, "%s", mode ? "enabled" : "disabled");
}

/* ---- What it is ---- */

static void add_chip(struct attributes *to, struct device *device) {
    nvmlDevice_t whole = whole_of(device);
    char name[NVML_NAME_SIZE] = "";
    unsigned int number = 0, cores = 0;
    int major = 0, minor = 0;
    if (device_is_answered(device, ASK(device, nvmlDeviceGetName, device->handle, name, sizeof name)))
        add(to, "device.name", "%s", name);
    if (ASK(device, nvmlDeviceGetArchitecture, whole, &number) == NVML_SUCCESS && architecture(number))
        add(to, "device.architecture", "%s", architecture(number));
    if (ASK(device, nvmlDeviceGetCudaComputeCapability, whole, &major, &minor) != NVML_SUCCESS) return;
    add(to, "device.compute_capability", "%d.%d", major, minor);
    unsigned int of_one = cores_of_multiprocessor(major, minor);
    if (!device->parent && of_one && ASK(device, nvmlDeviceGetNumGpuCores, whole, &cores) == NVML_SUCCESS)
        add(to, "device.multiprocessor_count", "%u", cores / of_one);
}

static void add_driver(struct attributes *to) {
    char version[NVML_VERSION_SIZE] = "";
    int cuda = library_cuda_version;
    if (NVML(NULL, NULL, nvmlSystemGetDriverVersion, version, sizeof version) == NVML_SUCCESS)
        add(to, "device.driver_version", "%s", version);
    if (cuda) add(to, "device.cuda_version", "%d.%d", cuda / 1000, cuda % 1000 / 10);
}

static void add_memory(struct attributes *to, struct device *device) {
    nvmlMemory_t memory = {0};
    if (ASK(device, nvmlDeviceGetMemoryInfo, device->handle, &memory) == NVML_SUCCESS)
        add(to, "device.memory_total_bytes", "%llu", memory.total);
    nvmlDevice_t whole = whole_of(device);
    ADD_NUMBER(to, device, "device.memory_bus_width_bits", nvmlDeviceGetMemoryBusWidth, whole);
    ADD_NUMBER(to, device, "device.memory_clock_megahertz", nvmlDeviceGetMaxClockInfo, whole, NVML_CLOCK_MEM);
}

/* ---- What connects and limits it ---- */

static void add_links(struct attributes *to, struct device *device) {
    nvmlFieldValue_t fields[] = {{.fieldId = NVML_FI_DEV_NVLINK_LINK_COUNT},
                                 {.fieldId = NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON},
                                 {.fieldId = NVML_FI_DEV_NVLINK_GET_SPEED}};
    unsigned bits;
    ADD_NUMBER(to, device, "device.pcie_max_generation", nvmlDeviceGetMaxPcieLinkGeneration, device->handle);
    ADD_NUMBER(to, device, "device.pcie_max_width", nvmlDeviceGetMaxPcieLinkWidth, device->handle);
    fields_ask(device, fields, 3);
    uint64_t count = fields[0].nvmlReturn == NVML_SUCCESS ? field_value(&fields[0], &bits) : 0;
    if (fields[0].nvmlReturn == NVML_SUCCESS) add(to, "device.nvlink_count", "%llu", (unsigned long long)count);
    for (int i = 1; i < 3 && count; i++) {
        uint64_t speed = fields[i].nvmlReturn == NVML_SUCCESS ? field_value(&fields[i], &bits) : 0;
        if (speed == 0) continue;
        add(to, "device.nvlink_megabytes_per_second", "%llu", (unsigned long long)speed);
        break;
    }
}

static void add_power(struct attributes *to, struct device *device) {
    unsigned int usual = 0, now = 0;
    nvmlReturn_t answer = ASK(device, nvmlDeviceGetPowerManagementDefaultLimit, device->handle, &usual);
    add_watts(to, "device.default_power_limit_watts", answer, usual);
    answer = ASK(device, nvmlDeviceGetEnforcedPowerLimit, device->handle, &now);
    add_watts(to, "device.power_limit_watts", answer, now);
}

static void add_modes(struct attributes *to, struct device *device) {
    int ecc = 0, pending = 0, persistence = 0, compute = 0;
    unsigned int mig = 0, later = 0;
    nvmlDevice_t handle = device->handle;
    nvmlReturn_t answer = ASK(device, nvmlDeviceGetEccMode, handle, &ecc, &pending);
    add_mode(to, "device.ecc_mode", answer, ecc);
    answer = ASK(device, nvmlDeviceGetPersistenceMode, handle, &persistence);
    add_mode(to, "device.persistence_mode", answer, persistence);
    answer = ASK(device, nvmlDeviceGetMigMode, handle, &mig, &later);
    add_mode(to, "device.mig_mode", answer, (int)mig);
    if (ASK(device, nvmlDeviceGetComputeMode, handle, &compute) == NVML_SUCCESS)
        add(to, "device.compute_mode", "%s", compute_mode(compute));
}

/* ---- What is a part of another one ---- */

static void add_instance(struct attributes *to, struct device *device) {
    nvmlDeviceAttributes_t attributes = {0};
    add(to, "device.parent_uuid", "%s", device->parent->uuid);
    add(to, "device.mig_index", "%u", device->mig_index);
    if (device->gpu_instance != NVML_NO_INSTANCE) add(to, "device.gpu_instance", "%u", device->gpu_instance);
    if (device->compute_instance != NVML_NO_INSTANCE)
        add(to, "device.compute_instance", "%u", device->compute_instance);
    if (ASK(device, nvmlDeviceGetAttributes_v2, device->handle, &attributes) != NVML_SUCCESS) return;
    add(to, "device.multiprocessor_count", "%u", attributes.multiprocessorCount);
    add(to, "device.gpu_instance_slices", "%u", attributes.gpuInstanceSliceCount);
    add(to, "device.compute_instance_slices", "%u", attributes.computeInstanceSliceCount);
}

/* ---- Publication ---- */

static void publish(struct device *device, const struct attributes *attributes) {
    uint32_t cell = device_cell(device, "device", GAUGE, attributes->tags);
    if (cell == SEGMENT_NONE || cell + 1 == device->identity_cell || device->identities == IDENTITIES) return;
    if (device->identity_cell) segment_set(device->identity_cell - 1, 1, 0);
    segment_set(cell, 1, 1);
    device->identity_cell = cell + 1;
    device->identities++;
}

void poll_identity(struct device *device) {
    if (device->polls % SELDOM != 0 && device->prepared) return;
    struct attributes attributes = {.count = 0};
    add(&attributes, "device.index", "%u", device->index);
    add_chip(&attributes, device);
    add_driver(&attributes);
    add_memory(&attributes, device);
    if (device->parent) add_instance(&attributes, device);
    else {
        add_links(&attributes, device);
        add_power(&attributes, device);
        add_modes(&attributes, device);
    }
    if (!device->fault) publish(device, &attributes);
}
