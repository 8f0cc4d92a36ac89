/* Memory of a device or a MIG device. */
#include "groups.h"

/* What older drivers have: `used` includes what is reserved. */
static void poll_old_memory(struct device *device) {
    nvmlMemory_t memory = {0};
    nvmlReturn_t answer = ASK(device, nvmlDeviceGetMemoryInfo, device->handle, &memory);
    device_answers(device, MEMORY_USED, answer, memory.used);
    device_answers(device, MEMORY_FREE, answer, memory.free);
    device_answers(device, MEMORY_TOTAL, answer, memory.total);
}

void poll_memory(struct device *device) {
    if (!device_wants(device, MEMORY_RESERVED)) {
        if (device_wants(device, MEMORY_TOTAL)) poll_old_memory(device);
        return;
    }
    nvmlMemory_v2_t memory = {.version = NVML_MEMORY_V2};
    nvmlReturn_t answer = ASK(device, nvmlDeviceGetMemoryInfo_v2, device->handle, &memory);
    device_answers(device, MEMORY_RESERVED, answer, memory.reserved);
    if (!device_wants(device, MEMORY_RESERVED)) return poll_memory(device);
    device_answers(device, MEMORY_USED, answer, memory.used);
    device_answers(device, MEMORY_FREE, answer, memory.free);
    device_answers(device, MEMORY_TOTAL, answer, memory.total);
}
