/* Iterates over generated buffers with a real libcupti, which needs no driver for it, and prints its version
 * and the step of its iterator for each kind of record. Run by tests/doubles/cuda/headers_test.ts. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../ffi/cuda/cupti.h"

enum { SIZE = 4096, KINDS = 7 };

static const struct {
    const char *name;
    uint32_t kind;
} kinds[KINDS] = {
    {"kernel", CUPTI_KIND_CONCURRENT_KERNEL}, {"memcpy", CUPTI_KIND_MEMCPY},
    {"memcpy2", CUPTI_KIND_MEMCPY2},          {"memset", CUPTI_KIND_MEMSET},
    {"synchronization", CUPTI_KIND_SYNCHRONIZATION}, {"graph_trace", CUPTI_KIND_GRAPH_TRACE},
    {"context", CUPTI_KIND_CONTEXT},
};

static struct cupti cupti;
static uint8_t buffer[SIZE] __attribute__((aligned(8)));

static void expect(int condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* A record may begin at every multiple of 8 bytes. */
static size_t step_over(uint32_t kind) {
    void *record = NULL;
    for (size_t at = 0; at < SIZE; at += 8) memcpy(buffer + at, &kind, sizeof kind);
    expect(cupti.ActivityGetNextRecord(buffer, SIZE, &record) == CUPTI_SUCCESS, "no first record");
    expect(record == buffer, "the first record is not at the beginning");
    expect(cupti.ActivityGetNextRecord(buffer, SIZE, &record) == CUPTI_SUCCESS, "no second record");
    return (size_t)((uint8_t *)record - buffer);
}

/* All kinds in one buffer, twice, up to its last byte. */
static void walk_all(const size_t steps[KINDS]) {
    size_t valid = 0;
    void *record = NULL;
    memset(buffer, 0, SIZE);
    for (int i = 0; i < 2 * KINDS; i++) {
        memcpy(buffer + valid, &kinds[i % KINDS].kind, sizeof(uint32_t));
        valid += steps[i % KINDS];
    }
    for (int i = 0; i < 2 * KINDS; i++) {
        expect(cupti.ActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS, "a record is missing");
        expect(record_u32(record, RECORD_KIND) == kinds[i % KINDS].kind, "a record is of another kind");
    }
    expect(cupti.ActivityGetNextRecord(buffer, valid, &record) == CUPTI_ERROR_MAX_LIMIT_REACHED, "no end");
}

static void walk_nothing(void) {
    void *record = NULL;
    expect(cupti.ActivityGetNextRecord(buffer, 0, &record) == CUPTI_ERROR_MAX_LIMIT_REACHED,
           "an empty buffer has a record");
}

int main(int count, char **arguments) {
    void *library = dlopen(count > 1 ? arguments[1] : "libcupti.so", RTLD_NOW);
    size_t steps[KINDS];
    uint32_t version = 0;
    if (!library) fprintf(stderr, "%s\n", dlerror());
    expect(library != NULL, "no libcupti");
    *(void **)&cupti.GetVersion = dlsym(library, "cuptiGetVersion");
    *(void **)&cupti.ActivityGetNextRecord = dlsym(library, "cuptiActivityGetNextRecord");
    if (cupti.GetVersion(&version) != CUPTI_SUCCESS) {
        printf("{}\n"); /* 13.5 has no result without a driver */
        return 0;
    }
    for (int i = 0; i < KINDS; i++) steps[i] = step_over(kinds[i].kind);
    walk_all(steps);
    walk_nothing();
    printf("{\"version\":%u", version);
    for (int i = 0; i < KINDS; i++) printf(",\"%s\":%zu", kinds[i].name, steps[i]);
    printf("}\n");
}
