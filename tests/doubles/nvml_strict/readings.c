/* Readings of a GPU or a MIG instance by key. A key that is not there: the device does not support it. */

#include "double.h"

#include <stdio.h>
#include <string.h>

struct reading *find_reading(struct subject *subject, const char *key) {
    for (int index = 0; index < subject->count; index++) {
        if (strcmp(subject->readings[index].key, key) == 0) return &subject->readings[index];
    }
    return NULL;
}

void set_reading(struct subject *subject, const char *key, uint64_t value, double per_second) {
    struct reading *reading = find_reading(subject, key);
    if (!reading) {
        if (subject->count == KEYS) fatal("more than %d readings", KEYS);
        reading = &subject->readings[subject->count++];
        snprintf(reading->key, sizeof reading->key, "%s", key);
    }
    reading->base = value;
    reading->per_second = per_second;
    reading->since_ns = now_ns();
}

void unset_reading(struct subject *subject, const char *key) {
    struct reading *reading = find_reading(subject, key);
    if (reading) *reading = subject->readings[--subject->count];
}

bool read_value(struct subject *subject, const char *key, uint64_t *value) {
    struct reading *reading = find_reading(subject, key);
    if (!reading) return false;
    double seconds = (double)(now_ns() - reading->since_ns) / 1e9;
    *value = reading->base + (uint64_t)(int64_t)(reading->per_second * seconds);
    return true;
}

uint64_t value_or(struct subject *subject, const char *key, uint64_t otherwise) {
    uint64_t value;
    return read_value(subject, key, &value) ? value : otherwise;
}

bool mig_is_enabled(struct gpu *gpu) { return value_or(&gpu->self, "mig_mode", 0) == 1; }
