/* NVML, opened at run time, and the calls to it: each is named in the segment while it lasts. */
#ifndef SERVICE_DEVICES_LIBRARY_H
#define SERVICE_DEVICES_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "nvml.h"

#define MEMBER(name, parameters) nvmlReturn_t (*name) parameters;
#define INDEX(name, parameters) CALL_##name,

/* The functions; NULL where the driver lacks one. */
extern struct nvml { NVML_FUNCTIONS(MEMBER) } nvml;

enum { NVML_FUNCTIONS(INDEX) CALLS };

#undef MEMBER
#undef INDEX

/* Names in the segment of the calls on one device, made when they are needed. */
struct call_names {
    uint32_t names[CALLS];
};

/* Calls a function of NVML; `on` is the UUID of the device, or NULL. */
#define NVML(names, on, function, ...)                                             \
    (nvml.function ? (library_call_begins((names), (on), CALL_##function),         \
                      library_call_ends(nvml.function(__VA_ARGS__)))               \
                   : NVML_ERROR_FUNCTION_NOT_FOUND)

void library_call_begins(struct call_names *names, const char *on, int call);
nvmlReturn_t library_call_ends(nvmlReturn_t answer);

/* Opens the library; returns false with a reason in plain words. */
bool library_open(const char *path, char *reason, size_t size);

/* Initialises NVML, or does so again. */
nvmlReturn_t library_initialise(void);

/* The driver's CUDA version: 12080 is 12.8; 0: unknown. */
extern int library_cuda_version;

/* What an answer other than success says, in plain words; the buffer is for codes without words. */
const char *library_words(nvmlReturn_t answer, char buffer[static 32]);

#endif
