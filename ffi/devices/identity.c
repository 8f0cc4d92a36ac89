/* The attributes of a device: what tells devices apart, and what a roofline needs. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static void add_chip(struct attributes *to, struct device *device) {
    nvmlDevice_t handle = device->handle;
    char name[NVML_NAME_SIZE] = "";
    unsigned int number = 0, cores = 0;
    int major = 0, minor = 0;
    if (ASK(device, nvmlDeviceGetName, handle, name, sizeof name) == NVML_SUCCESS) add(to, "device.name", "%s", name);
    if (ASK(device, nvmlDeviceGetArchitecture, handle, &number) == NVML_SUCCESS && architecture(number))
        add(to, "device.architecture", "%s", architecture(number));
    if (ASK(device, nvmlDeviceGetCudaComputeCapability, handle, &major, &minor) != NVML_SUCCESS) return;
    add(to, "device.compute_capability", "%d.%d", major, minor);
    unsigned int of_one = cores_of_multiprocessor(major, minor);
    if (!device->parent && of_one && ASK(device, nvmlDeviceGetNumGpuCores, handle, &cores) == NVML_SUCCESS)
        add(to, "device.multiprocessor_count", "%u", cores / of_one);
}

static void add_driver(struct attributes *to) {
    char version[NVML_VERSION_SIZE] = "";
    int cuda = 0;
    if (NVML(NULL, NULL, nvmlSystemGetDriverVersion, version, sizeof version) == NVML_SUCCESS)
        add(to, "device.driver_version", "%s", version);
    if (NVML(NULL, NULL, nvmlSystemGetCudaDriverVersion_v2, &cuda) == NVML_SUCCESS)
        add(to, "device.cuda_version", "%d.%d", cuda / 1000, cuda % 1000 / 10);
}

static void add_memory(struct attributes *to, struct device *device) {
    nvmlMemory_t memory = {0};
    if (ASK(device, nvmlDeviceGetMemoryInfo, device->handle, &memory) == NVML_SUCCESS)
        add(to, "device.memory_total_bytes", "%llu", memory.total);
}

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
    publish(device, &attributes);
}
