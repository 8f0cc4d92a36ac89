/* Handles: valid for one initialization, never reused. */

#include "double.h"

enum { HANDLES = 1 << 16 };

static struct nvmlDevice_st handles[HANDLES];
static int handle_count;

nvmlDevice_t handle_of(int gpu, int instance) {
    unsigned partition = machine.gpus[gpu].partition;
    for (int index = handle_count; index-- > 0 && handles[index].epoch == machine.epoch;) {
        struct nvmlDevice_st *handle = &handles[index];
        if (handle->gpu != gpu || handle->instance != instance) continue;
        if (instance < 0 || handle->partition == partition) return handle;
    }
    if (handle_count == HANDLES) fatal("more than %d handles", HANDLES);
    handles[handle_count] = (struct nvmlDevice_st){ machine.epoch, partition, gpu, instance };
    return &handles[handle_count++];
}

struct nvmlDevice_st *check_handle(nvmlDevice_t handle, const char *function) {
    if (handle < handles || handle >= handles + handle_count) fatal("%s with a pointer that is no handle", function);
    if (handle->epoch != machine.epoch) fatal("%s with a handle of an earlier initialization", function);
    return handle;
}

void list_gpus(void) {
    machine.visible_count = 0;
    for (int gpu = 0; gpu < machine.gpu_count; gpu++) {
        if (machine.gpus[gpu].unplugged) continue;
        int at = machine.visible_count++;
        for (; at > 0 && machine.gpus[machine.visible[at - 1]].bus > machine.gpus[gpu].bus; at--) {
            machine.visible[at] = machine.visible[at - 1];
        }
        machine.visible[at] = gpu;
    }
}
