/* What the cases of the proof share: calls of the double by name, its script and its ledger. */
#ifndef NVML_STRICT_PROOF_H
#define NVML_STRICT_PROOF_H

#include "abi.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls a function of the double; the process ends if the result is another. */
#define CALL(name, ...) ((nvmlReturn_t(*)())find(name))(__VA_ARGS__)
#define EXPECT(result, name, ...) expect(result, CALL(name, __VA_ARGS__), name, __LINE__)
#define OK(name, ...) EXPECT(NVML_SUCCESS, name, __VA_ARGS__)
#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

struct proof_case {
    const char *name;
    void (*run)(void);
    bool aborts; /* the double has to abort the process at its end */
};
/* Each ends with a case without a name. */
extern const struct proof_case device_cases[], time_cases[];

extern void *library;
void *find(const char *name);
void fail(const char *what, int line);
void expect(nvmlReturn_t due, nvmlReturn_t result, const char *name, int line);
/* Appends lines to the script. */
void say(const char *lines);
/* Whether the ledger has a text. */
bool is_booked(const char *text);
void rest_ms(int milliseconds);
double seconds(void);
nvmlDevice_t device(unsigned index);

#endif
