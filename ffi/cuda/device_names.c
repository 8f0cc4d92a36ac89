/* Names of CUDA devices, asked of the driver. */
#define _GNU_SOURCE
#include "device_names.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DEVICES 64u
#define NAME_SIZE 48

static char names[DEVICES][NAME_SIZE];
static bool learned;

static void write_name(char *name, const uint8_t gpu[16], const uint8_t instance[16]) {
    name += sprintf(name, "%s", memcmp(gpu, instance, 16) == 0 ? "GPU" : "MIG");
    for (int i = 0; i < 16; i++) {
        bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        name += sprintf(name, dash ? "-%02x" : "%02x", instance[i]);
    }
}

static void learn_from(void *driver) {
    int (*get_count)(int *) = (int (*)(int *))dlsym(driver, "cuDeviceGetCount");
    int (*get)(int *, int) = (int (*)(int *, int))dlsym(driver, "cuDeviceGet");
    int (*get_gpu)(uint8_t *, int) = (int (*)(uint8_t *, int))dlsym(driver, "cuDeviceGetUuid");
    /* The uuid of the MIG instance, if the device is one. */
    int (*get_instance)(uint8_t *, int) = (int (*)(uint8_t *, int))dlsym(driver, "cuDeviceGetUuid_v2");
    int count = 0;
    if (!get_count || !get || !get_gpu || get_count(&count) != 0) return;
    learned = true;
    for (int ordinal = 0; ordinal < count && ordinal < (int)DEVICES; ordinal++) {
        int device;
        uint8_t gpu[16], instance[16];
        if (get(&device, ordinal) != 0 || get_gpu(gpu, device) != 0) continue;
        if (!get_instance || get_instance(instance, device) != 0) memcpy(instance, gpu, sizeof instance);
        write_name(names[ordinal], gpu, instance);
    }
}

void device_names_learn(void) {
    if (learned) return;
    void *driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
    if (!driver) return;
    learn_from(driver);
    dlclose(driver);
}

const char *device_name(uint32_t ordinal) {
    if (ordinal >= DEVICES) return NULL;
    char *name = names[ordinal];
    if (!*name) snprintf(name, NAME_SIZE, "device-%u", ordinal);
    return name;
}
