/* Metrics that are field values of the whole device. */
#include "fields.h"

#include "groups.h"

static const struct {
    unsigned int id;
    enum metric metric;
} FIELDS[] = {
    {NVML_FI_DEV_MEMORY_TEMP, MEMORY_TEMPERATURE},
    {NVML_FI_DEV_ECC_SBE_VOL_TOTAL, ECC_CORRECTED},
    {NVML_FI_DEV_ECC_DBE_VOL_TOTAL, ECC_UNCORRECTED},
    {NVML_FI_DEV_ECC_SBE_AGG_TOTAL, ECC_CORRECTED_AGGREGATE},
    {NVML_FI_DEV_ECC_DBE_AGG_TOTAL, ECC_UNCORRECTED_AGGREGATE},
    {NVML_FI_DEV_REMAPPED_COR, REMAPPED_CORRECTABLE},
    {NVML_FI_DEV_REMAPPED_UNC, REMAPPED_UNCORRECTABLE},
    {NVML_FI_DEV_REMAPPED_PENDING, REMAPPED_PENDING},
    {NVML_FI_DEV_REMAPPED_FAILURE, REMAPPED_FAILURE},
    {NVML_FI_DEV_RETIRED_SBE, RETIRED_SINGLE_BIT},
    {NVML_FI_DEV_RETIRED_DBE, RETIRED_DOUBLE_BIT},
    {NVML_FI_DEV_RETIRED_PENDING, RETIRED_PENDING},
};

#define COUNT (sizeof FIELDS / sizeof FIELDS[0])

void fields_ask(struct device *device, nvmlFieldValue_t *fields, int count) {
    nvmlReturn_t answer = ASK(device, nvmlDeviceGetFieldValues, device->handle, count, fields);
    bool answered = device_is_answered(device, answer);
    for (int i = 0; i < count; i++) {
        if (!answered) fields[i].nvmlReturn = answer;
        /* A number past the driver's own. */
        if (fields[i].nvmlReturn == NVML_ERROR_INVALID_ARGUMENT) fields[i].nvmlReturn = NVML_ERROR_FUNCTION_NOT_FOUND;
    }
}

uint64_t field_value(const nvmlFieldValue_t *field, unsigned *bits) {
    const nvmlValue_t *value = &field->value;
    *bits = 64;
    switch (field->valueType) {
    case NVML_VALUE_TYPE_DOUBLE: return value->dVal > 0 ? (uint64_t)(value->dVal + 0.5) : 0;
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG: return value->sllVal > 0 ? (uint64_t)value->sllVal : 0;
    case NVML_VALUE_TYPE_SIGNED_INT: *bits = 32; return value->siVal > 0 ? (uint64_t)value->siVal : 0;
    case NVML_VALUE_TYPE_UNSIGNED_INT: *bits = 32; return value->uiVal;
    case NVML_VALUE_TYPE_UNSIGNED_SHORT: *bits = 16; return value->usVal;
    default: return value->ullVal;
    }
}

void field_answers(struct device *device, enum metric metric, const nvmlFieldValue_t *field) {
    unsigned bits;
    if (field->nvmlReturn != NVML_SUCCESS) return device_refuses(device, metric, field->nvmlReturn);
    uint64_t value = field_value(field, &bits);
    if (metrics[metric].type == COUNTER) device_counter(device, metric, value, bits);
    else device_gauge(device, metric, value);
}

void poll_fields(struct device *device) {
    nvmlFieldValue_t fields[COUNT] = {0};
    enum metric wanted[COUNT];
    int count = 0;
    for (size_t i = 0; i < COUNT; i++) {
        if (!device_wants(device, FIELDS[i].metric)) continue;
        fields[count].fieldId = FIELDS[i].id;
        wanted[count++] = FIELDS[i].metric;
    }
    if (count == 0) return;
    fields_ask(device, fields, count);
    for (int i = 0; i < count; i++) field_answers(device, wanted[i], &fields[i]);
}
