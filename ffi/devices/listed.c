/* The series `listed`: the devices that this process may see. Another run's process may poll them; by it a
 * reader knows which devices of other pollers are its own too. */
#include <stdio.h>

#include "list.h"

static uint32_t listed_cell(struct device *device) {
    char name[NVML_NAME_SIZE] = "", gpu[16], compute[16];
    const char *tags[9] = {NULL};
    size_t count = 0;
    if (ASK(device, nvmlDeviceGetName, device->handle, name, sizeof name) == NVML_SUCCESS && name[0]) {
        name[sizeof name - 1] = '\0';
        tags[count++] = "device.name", tags[count++] = name;
    }
    if (device->parent) tags[count++] = "device.parent_uuid", tags[count++] = device->parent->uuid;
    if (device->parent && device->gpu_instance != NVML_NO_INSTANCE) {
        snprintf(gpu, sizeof gpu, "%u", device->gpu_instance);
        tags[count++] = "device.gpu_instance", tags[count++] = gpu;
    }
    if (device->parent && device->compute_instance != NVML_NO_INSTANCE) {
        snprintf(compute, sizeof compute, "%u", device->compute_instance);
        tags[count++] = "device.compute_instance", tags[count++] = compute;
    }
    return device_cell(device, "listed", SEGMENT_GAUGE, tags);
}

void list_publish(void) {
    bool changed = false;
    for (uint32_t i = 0; i < devices_count; i++) {
        struct device *device = &devices[i];
        if (device->told == device->listed) continue;
        if (device->listed_cell == 0) device->listed_cell = listed_cell(device) + 1;
        segment_set(device->listed_cell - 1, 1, device->listed);
        device->told = device->listed;
        changed = true;
    }
    if (changed) segment_publish(0);
}
