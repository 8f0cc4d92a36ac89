/* NVML's library: found, resolved, initialised, and its answers in words. */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../segment/segment.h"

#define DEFAULT_PATH "libnvidia-ml.so.1"

struct nvml nvml;
int library_cuda_version;

#define NAME(name, parameters) #name,
static const char *const NAMES[CALLS] = {NVML_FUNCTIONS(NAME)};

static struct call_names common_names;

/* ---- Calls ---- */

static uint32_t call_name(const char *on, int call) {
    char text[256];
    int length = snprintf(text, sizeof text, on ? "%s on %s" : "%s", NAMES[call], on);
    return segment_name(text, (size_t)length);
}

static _Atomic bool calling;

void library_call_begins(struct call_names *names, const char *on, int call) {
    uint32_t *name = &(names ? names : &common_names)->names[call];
    if (*name == 0) *name = call_name(on, call);
    calling = true;
    segment_call_begins(*name);
}

nvmlReturn_t library_call_ends(nvmlReturn_t answer) {
    segment_call_ends();
    calling = false;
    return answer;
}

/* At exit the driver's destructors may wait for a call that hangs: the process must end all the same. It is
 * registered after each step in which the driver may register functions, to be called before them. */
static void leave(int status, void *unused) {
    (void)unused;
    if (calling) _exit(status);
}

/* ---- Opening ---- */

bool library_open(const char *path, char *reason, size_t size) {
    if (!path || !*path) path = DEFAULT_PATH;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *error = dlerror();
        bool missing = error && strncmp(error, path, strlen(path)) == 0 && strstr(error, "No such file");
        if (missing) snprintf(reason, size, "no NVIDIA driver: there is no %s", path);
        else snprintf(reason, size, "%s", error ? error : path);
        return false;
    }
#define RESOLVE(name, parameters) nvml.name = (nvmlReturn_t(*) parameters)dlsym(library, #name);
    NVML_FUNCTIONS(RESOLVE)
    on_exit(leave, NULL);
    return true;
}

nvmlReturn_t library_initialise(void) {
    static bool initialised;
    if (initialised) NVML(NULL, NULL, nvmlShutdown);
    nvmlReturn_t answer = NVML(NULL, NULL, nvmlInit_v2);
    initialised = answer == NVML_SUCCESS;
    if (initialised) on_exit(leave, NULL);
    library_cuda_version = 0;
    if (initialised) NVML(NULL, NULL, nvmlSystemGetCudaDriverVersion_v2, &library_cuda_version);
    return answer;
}

/* ---- Words ---- */

const char *library_words(nvmlReturn_t answer, char buffer[static 32]) {
    switch (answer) {
    case NVML_ERROR_UNINITIALIZED: return "NVML was shut down";
    case NVML_ERROR_INVALID_ARGUMENT: return "invalid argument";
    case NVML_ERROR_NOT_SUPPORTED: return "not supported";
    case NVML_ERROR_NO_PERMISSION: return "no permission";
    case NVML_ERROR_NOT_FOUND: return "not found";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "the NVIDIA driver is not loaded";
    case NVML_ERROR_TIMEOUT: return "timeout";
    case NVML_ERROR_IRQ_ISSUE: return "the kernel has a problem with the device's interrupts";
    case NVML_ERROR_FUNCTION_NOT_FOUND: return "unknown to this driver";
    case NVML_ERROR_CORRUPTED_INFOROM: return "the device's infoROM is corrupted";
    case NVML_ERROR_GPU_IS_LOST: return "the device has fallen off the bus";
    case NVML_ERROR_RESET_REQUIRED: return "the device must be reset";
    case NVML_ERROR_OPERATING_SYSTEM: return "refused by the operating system";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
        return "the NVIDIA driver and its libraries have different versions";
    case NVML_ERROR_IN_USE: return "in use";
    case NVML_ERROR_MEMORY: return "no memory";
    case NVML_ERROR_NO_DATA: return "no data";
    case NVML_ERROR_INSUFFICIENT_RESOURCES: return "no resources";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH: return "another version than this driver's";
    case NVML_ERROR_DEPRECATED: return "no longer supported by this driver";
    case NVML_ERROR_NOT_READY: return "not ready";
    case NVML_ERROR_GPU_NOT_FOUND: return "no NVIDIA device was found";
    case NVML_ERROR_INVALID_STATE: return "invalid state";
    default: snprintf(buffer, 32, "NVML error %d", answer); return buffer;
    }
}
