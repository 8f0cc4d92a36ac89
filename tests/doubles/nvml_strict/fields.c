/* Field values: each with its own result, type and scope. */

#include "double.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* One more than the highest field of the driver's header. */
#if DRIVER >= 615
enum { FIELDS = 310 };
#elif DRIVER >= 575
enum { FIELDS = 274 };
#elif DRIVER >= 550
enum { FIELDS = 200 };
#elif DRIVER >= 535
enum { FIELDS = 197 };
#else
enum { FIELDS = 161 };
#endif

enum scope { WHOLE, LINK, POWER };
enum {
    DOUBLE = NVML_VALUE_TYPE_DOUBLE,
    U32 = NVML_VALUE_TYPE_UNSIGNED_INT,
    LONG = NVML_VALUE_TYPE_UNSIGNED_LONG,
    U64 = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG,
    I64 = NVML_VALUE_TYPE_SIGNED_LONG_LONG,
    /* Signed and short integers came later: an old driver has the next best. */
#if DRIVER >= 535
    I32 = NVML_VALUE_TYPE_SIGNED_INT,
#else
    I32 = NVML_VALUE_TYPE_SIGNED_LONG_LONG,
#endif
#if DRIVER >= 575
    U16 = NVML_VALUE_TYPE_UNSIGNED_SHORT,
#else
    U16 = NVML_VALUE_TYPE_UNSIGNED_INT,
#endif
};

struct field {
    unsigned id;
    const char *key;
    unsigned type;
    enum scope scope;
};

static const struct field fields[] = {
    { 1, "ecc_mode", U16, WHOLE },
    { 3, "ecc_corrected_volatile", U64, WHOLE },
    { 4, "ecc_uncorrected_volatile", LONG, WHOLE },
    { 5, "ecc_corrected_aggregate", I64, WHOLE },
    { 6, "ecc_uncorrected_aggregate", U64, WHOLE },
    { 29, "retired_sbe", U32, WHOLE },
    { 30, "retired_dbe", LONG, WHOLE },
    { 31, "retired_pending", U16, WHOLE },
    { 38, "nvlink_crc_flit", U64, WHOLE },
    { 45, "nvlink_crc_data", U64, WHOLE },
    { 52, "nvlink_replay", U64, WHOLE },
    { 59, "nvlink_recovery", U64, WHOLE },
    { 74, "policy_power", U64, WHOLE },
    { 75, "policy_thermal", U64, WHOLE },
    { 76, "policy_sync_boost", I64, WHOLE },
    { 77, "policy_board_limit", U64, WHOLE },
    { 78, "policy_low_utilization", LONG, WHOLE },
    { 79, "policy_reliability", U64, WHOLE },
    { 80, "policy_app_clocks", U64, WHOLE },
    { 81, "policy_base_clocks", U64, WHOLE },
    { 82, "memory_temperature", U32, WHOLE },
    { 83, "energy", U64, WHOLE },
    { 90, "link_speed", U32, WHOLE },
    { 91, "links", U16, WHOLE },
    { 94, "pcie_replay", U32, WHOLE },
    { 138, "nvlink_data_tx", U64, LINK },
    { 139, "nvlink_data_rx", U64, LINK },
    { 140, "nvlink_raw_tx", LONG, LINK },
    { 141, "nvlink_raw_rx", I64, LINK },
    { 142, "remapped_corrected", U32, WHOLE },
    { 143, "remapped_uncorrected", LONG, WHOLE },
    { 144, "remapped_pending", U16, WHOLE },
    { 145, "remapped_failure", I32, WHOLE },
    { 160, "nvlink_ecc", U64, WHOLE },
    { 161, "nvlink_replay", U32, LINK },
    { 162, "nvlink_recovery", U32, LINK },
    { 163, "nvlink_crc_flit", U64, LINK },
    { 164, "link_speed", U32, LINK },
    { 165, "link_active", U16, LINK },
    { 166, "link_version", U32, LINK },
    { 173, "pcie_correctable", U32, WHOLE },
    { 185, "power", U32, POWER },
    { 186, "power_instant", I32, POWER },
    { 187, "power_min", U32, POWER },
    { 188, "power_max", U32, POWER },
    { 189, "power_default", U32, POWER },
    { 190, "enforced_power_limit", U32, POWER },
    { 191, "energy", DOUBLE, POWER },
    { 192, "power_limit", U32, POWER },
    { 193, "tlimit_shutdown", I32, WHOLE },
    { 194, "tlimit_slowdown", I32, WHOLE },
    /* "Value can be wrapped": in 32 bits by old drivers. */
    { 197, "pcie_bytes_tx", DRIVER >= 575 ? U64 : U32, WHOLE },
    { 198, "pcie_bytes_rx", DRIVER >= 575 ? U64 : U32, WHOLE },
    { 202, "nvlink_bytes_tx", U64, LINK },
    { 204, "nvlink_bytes_rx", U64, LINK },
    { 208, "nvlink_receive_errors", U64, LINK },
    { 213, "nvlink_recovered", U64, LINK },
    { 214, "nvlink_unrecovered", U64, LINK },
    { 215, "nvlink_recovery", U64, LINK },
    { 219, "nvlink_effective_errors", U64, LINK },
    { 221, "nvlink_symbol_errors", U64, LINK },
    { 269, "throttle_sw_thermal", U64, WHOLE },
    { 270, "throttle_hw_thermal", U64, WHOLE },
    { 271, "throttle_power_brake", U64, WHOLE },
};

static const struct field *field_with(unsigned id) {
    for (size_t index = 0; index < sizeof fields / sizeof *fields; index++) {
        if (fields[index].id == id) return &fields[index];
    }
    return NULL;
}

/* Readings of NVLinks have one key a link, settings of all have one for all. */
static uint64_t of_link(struct subject *subject, const char *key, unsigned link) {
    char of_one[40];
    snprintf(of_one, sizeof of_one, "%s.%u", key, link);
    uint64_t of_all = strcmp(key, "link_active") == 0 ? 1 : value_or(subject, key, 0);
    return value_or(subject, of_one, of_all);
}

static unsigned read_links(struct subject *subject, const struct field *field, unsigned link, uint64_t *value) {
    uint64_t links, version = value_or(subject, "link_version", 0);
    if (!read_value(subject, "links", &links)) return NVML_ERROR_NOT_SUPPORTED;
    bool is_new = field->id >= 201 && field->id <= 222, is_old = field->id >= 161 && field->id <= 163;
    if ((is_new && version < 5) || (is_old && version >= 5)) return NVML_ERROR_NOT_SUPPORTED;
    bool is_total = field->scope == WHOLE || link == UINT32_MAX;
    if (is_total && field->scope == LINK && field->id > 141) return NVML_ERROR_INVALID_ARGUMENT;
    if (!is_total && link >= links) return NVML_ERROR_INVALID_ARGUMENT;
    // A link that is down counts nothing.
    bool is_counter = strncmp(field->key, "nvlink_", 7) == 0;
    if (!is_total && is_counter && of_link(subject, "link_active", link) == 0) return NVML_ERROR_NOT_SUPPORTED;
    *value = 0;
    for (unsigned at = 0; at < links; at++) {
        if (is_total || at == link) *value += of_link(subject, field->key, at);
    }
    return NVML_SUCCESS;
}

static unsigned read_field(struct call *call, const nvmlFieldValue_t *asked, const struct field *field,
                           uint64_t *value) {
    struct subject *subject = call->subject;
    if (asked->fieldId == 0 || asked->fieldId >= FIELDS) return NVML_ERROR_INVALID_ARGUMENT;
    if (!field) return NVML_ERROR_NOT_SUPPORTED;
    bool of_links = strncmp(field->key, "nvlink_", 7) == 0 || field->scope == LINK;
    if (of_links) return read_links(subject, field, asked->scopeId, value);
    if (field->scope == POWER && asked->scopeId > 2) return NVML_ERROR_INVALID_ARGUMENT;
    if (field->scope == POWER && asked->scopeId > 0) return NVML_ERROR_NOT_SUPPORTED;
    if (field->id == 185 && value_or(subject, "architecture", 0) < 7) return NVML_ERROR_NOT_SUPPORTED;
    if (field->id >= 142 && field->id <= 145 && mig_is_enabled(call->gpu)) return NVML_ERROR_NOT_SUPPORTED;
    if (field->id >= 3 && field->id <= 6 && value_or(subject, "ecc_mode", 0) == 0) return NVML_ERROR_NOT_SUPPORTED;
    return read_value(subject, field->key, value) ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

static void store(nvmlFieldValue_t *to, unsigned type, uint64_t value) {
    to->valueType = type;
    switch (type) {
    case NVML_VALUE_TYPE_DOUBLE: to->value.dVal = (double)value; break;
    case NVML_VALUE_TYPE_UNSIGNED_INT: to->value.uiVal = (unsigned)value; break;
    case NVML_VALUE_TYPE_UNSIGNED_LONG: to->value.ulVal = value; break;
    case NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: to->value.ullVal = value; break;
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG: to->value.sllVal = (long long)value; break;
#if DRIVER >= 535
    case NVML_VALUE_TYPE_SIGNED_INT: to->value.siVal = (int)value; break;
#endif
#if DRIVER >= 575
    case NVML_VALUE_TYPE_UNSIGNED_SHORT: to->value.usVal = (unsigned short)value; break;
#endif
    }
}

EXPORT nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values) {
    DEVICE_CALL(call, device);
    if (!values || count <= 0) return leave(&call, NVML_ERROR_INVALID_ARGUMENT);
    if (count > 1024) fatal("nvmlDeviceGetFieldValues of %d values", count);
    int number = (int)(call.gpu - machine.gpus), filled = 0;
    unsigned first = NVML_SUCCESS;
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    for (nvmlFieldValue_t *asked = values; asked < values + count; asked++) {
        const struct field *field = field_with(asked->fieldId);
        char subject[32];
        uint64_t value = 0;
        snprintf(subject, sizeof subject, "field:%u", asked->fieldId);
        unsigned result = failure_of(number, call.instance, subject);
        if (result == NVML_SUCCESS) result = read_field(&call, asked, field, &value);
        fill_with_noise(&asked->value, sizeof asked->value);
        asked->valueType = (nvmlValueType_t)(noise() % 4);
        asked->timestamp = wall.tv_sec * 1000000LL + wall.tv_nsec / 1000;
        asked->latencyUsec = 40;
        asked->nvmlReturn = result;
        if (result == NVML_SUCCESS) {
            store(asked, field->type, value);
            filled++;
        } else if (first == NVML_SUCCESS) {
            first = result;
        }
    }
    return leave(&call, filled > 0 ? NVML_SUCCESS : first);
}
