/* Devices found through NVML, and their locks: files in a directory that all runs of this user share. The
 * process that has the lock of a device polls it; the kernel frees the lock when the process ends. */
#include "list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int directory = -1;

int list_open(const char *directories) {
    directory = segment_directory(directories);
    return directory < 0 ? directory : 0;
}

void list_close(void) {
    for (uint32_t i = 0; i < devices_count; i++)
        if (devices[i].lock >= 0) close(devices[i].lock);
    if (directory >= 0) close(directory);
    directory = -1;
    devices_count = 0;
}

/* ---- Locks ---- */

/* Older drivers have slashes in the UUIDs of MIG devices. */
static int open_lock(const char *uuid) {
    char name[NVML_UUID_SIZE + 8];
    snprintf(name, sizeof name, "%s.lock", uuid);
    for (char *slash = name; (slash = strchr(slash, '/'));) *slash = '_';
    int fd = openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fd;
}

void list_hold(struct device *device) {
    if (!device->listed || device->held) return;
    if (device->lock < 0) device->lock = open_lock(device->uuid);
    if (device->lock >= 0) device->held = flock(device->lock, LOCK_EX | LOCK_NB) == 0;
}

/* ---- Devices ---- */

static bool is_full;
static char silent[128];

const char *list_limit(void) {
    if (is_full) return "only the first 128 devices are measured";
    return silent[0] ? silent : NULL;
}

/* A device that answers nothing, not even which it is. */
static void note_silent(unsigned int index, nvmlReturn_t answer) {
    char buffer[32];
    /* Those of others, in a container. */
    if (answer == NVML_SUCCESS || answer == NVML_ERROR_NO_PERMISSION) return;
    snprintf(silent, sizeof silent, "device %u is not measured: %s", index, library_words(answer, buffer));
}

_Static_assert(DEVICES == 128, "the text says it");

static struct device *find(const char *uuid) {
    for (uint32_t i = 0; i < devices_count; i++)
        if (strcmp(devices[i].uuid, uuid) == 0) return &devices[i];
    is_full = devices_count == DEVICES;
    if (is_full) return NULL;
    struct device *device = &devices[devices_count++];
    *device = (struct device){.lock = -1};
    strcpy(device->uuid, uuid);
    return device;
}

/* The device with this handle; NULL: there is no room, or it does not say which it is, and `answer` says why. */
static struct device *found(nvmlDevice_t handle, nvmlReturn_t *answer) {
    char uuid[NVML_UUID_SIZE] = "";
    *answer = NVML(NULL, NULL, nvmlDeviceGetUUID, handle, uuid, sizeof uuid);
    if (*answer != NVML_SUCCESS || !uuid[0]) return NULL;
    uuid[sizeof uuid - 1] = '\0';
    struct device *device = find(uuid);
    if (!device) return NULL;
    device->handle = handle;
    device->listed = true;
    device->fault = NVML_SUCCESS;
    return device;
}

static void read_bus_id(struct device *device) {
    nvmlPciInfo_t pci = {0};
    if (device->bus_id[0] || ASK(device, nvmlDeviceGetPciInfo_v3, device->handle, &pci) != NVML_SUCCESS) return;
    memcpy(device->bus_id, pci.busId, sizeof device->bus_id - 1);
}

nvmlReturn_t list_devices(void) {
    unsigned int count = 0;
    nvmlReturn_t answer = NVML(NULL, NULL, nvmlDeviceGetCount_v2, &count);
    if (answer == NVML_SUCCESS && count == 0) answer = NVML_ERROR_GPU_NOT_FOUND;
    if (answer != NVML_SUCCESS) return answer;
    devices_whole = count;
    bool seen = false;
    silent[0] = '\0';
    for (uint32_t i = 0; i < devices_count; i++) devices[i].listed = false;
    for (unsigned int i = 0; i < count; i++) {
        nvmlDevice_t handle;
        answer = NVML(NULL, NULL, nvmlDeviceGetHandleByIndex_v2, i, &handle);
        struct device *device = answer == NVML_SUCCESS ? found(handle, &answer) : NULL;
        if (!device) note_silent(i, answer);
        if (!device) continue;
        device->index = i;
        read_bus_id(device);
        list_mig_devices(device);
        seen = true;
    }
    return seen ? NVML_SUCCESS : answer;
}

void list_mig_devices(struct device *parent) {
    unsigned int mode = 0, pending = 0, count = 0;
    if (ASK(parent, nvmlDeviceGetMigMode, parent->handle, &mode, &pending) != NVML_SUCCESS) return;
    parent->can_be_split = true;
    for (uint32_t i = 0; i < devices_count; i++)
        if (devices[i].parent == parent) devices[i].listed = false;
    if (!mode || ASK(parent, nvmlDeviceGetMaxMigDeviceCount, parent->handle, &count) != NVML_SUCCESS) return;
    for (unsigned int i = 0; i < count; i++) {
        nvmlDevice_t handle;
        nvmlReturn_t answer = ASK(parent, nvmlDeviceGetMigDeviceHandleByIndex, parent->handle, i, &handle);
        struct device *device = answer == NVML_SUCCESS ? found(handle, &answer) : NULL;
        if (!device) continue;
        device->parent = parent;
        device->index = parent->index;
        device->mig_index = i;
        memcpy(device->bus_id, parent->bus_id, sizeof device->bus_id);
        device->gpu_instance = device->compute_instance = NVML_NO_INSTANCE;
        ASK(device, nvmlDeviceGetGpuInstanceId, handle, &device->gpu_instance);
        ASK(device, nvmlDeviceGetComputeInstanceId, handle, &device->compute_instance);
    }
}
