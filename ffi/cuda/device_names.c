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

static void write_name(char *name, const uint8_t whole[16], const uint8_t part[16]) {
    name += sprintf(name, "%s", memcmp(whole, part, 16) == 0 ? "GPU" : "MIG");
    for (int i = 0; i < 16; i++) {
        bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        name += sprintf(name, dash ? "-%02x" : "%02x", part[i]);
    }
}

static void learn_from(void *driver) {
    int (*get_count)(int *) = (int (*)(int *))dlsym(driver, "cuDeviceGetCount");
    int (*get)(int *, int) = (int (*)(int *, int))dlsym(driver, "cuDeviceGet");
    int (*get_whole)(uint8_t *, int) = (int (*)(uint8_t *, int))dlsym(driver, "cuDeviceGetUuid");
    /* The uuid of the MIG instance where there is one. */
    int (*get_part)(uint8_t *, int) = (int (*)(uint8_t *, int))dlsym(driver, "cuDeviceGetUuid_v2");
    int count = 0;
    if (!get_count || !get || !get_whole || get_count(&count) != 0) return;
    learned = true;
    for (int ordinal = 0; ordinal < count && ordinal < (int)DEVICES; ordinal++) {
        int device;
        uint8_t whole[16], part[16];
        if (get(&device, ordinal) != 0 || get_whole(whole, device) != 0) continue;
        if (!get_part || get_part(part, device) != 0) memcpy(part, whole, sizeof part);
        write_name(names[ordinal], whole, part);
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
