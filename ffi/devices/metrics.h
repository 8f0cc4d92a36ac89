/* The metrics of a device: public name, type, and the divisor of the integers that NVML gives. */
#ifndef SERVICE_DEVICES_METRICS_H
#define SERVICE_DEVICES_METRICS_H

#include <stdint.h>

#include "../segment/segment.h"

#define GAUGE SEGMENT_GAUGE
#define COUNTER SEGMENT_COUNTER

/* Divisor of values that NVML gives as doubles. */
#define MILLIONTHS 1000000

#define METRICS(METRIC)                                                                \
    METRIC(UTILIZATION, "gpu_utilization_percent", GAUGE, 1)                           \
    METRIC(MEMORY_UTILIZATION, "gpu_memory_utilization_percent", GAUGE, 1)             \
    METRIC(MEMORY_USED, "gpu_memory_used_bytes", GAUGE, 1)                             \
    METRIC(MEMORY_FREE, "gpu_memory_free_bytes", GAUGE, 1)                             \
    METRIC(MEMORY_TOTAL, "gpu_memory_total_bytes", GAUGE, 1)                           \
    METRIC(MEMORY_RESERVED, "gpu_memory_reserved_bytes", GAUGE, 1)                     \
    METRIC(TEMPERATURE, "gpu_temperature_celsius", GAUGE, 1)                           \
    METRIC(MEMORY_TEMPERATURE, "gpu_memory_temperature_celsius", GAUGE, 1)             \
    METRIC(POWER, "gpu_power_usage_watts", GAUGE, 1000)                                \
    METRIC(POWER_LIMIT, "gpu_power_management_limit_watts", GAUGE, 1000)               \
    METRIC(ENERGY, "gpu_energy_joules", COUNTER, 1000)                                 \
    METRIC(FAN_SPEED, "gpu_fan_speed_percent", GAUGE, 1)                               \
    METRIC(CLOCK_SM, "gpu_clock_sm_megahertz", GAUGE, 1)                               \
    METRIC(CLOCK_MEM, "gpu_clock_mem_megahertz", GAUGE, 1)                             \
    METRIC(MAX_CLOCK_SM, "gpu_max_clock_sm_megahertz", GAUGE, 1)                       \
    METRIC(THROTTLE_REASONS_MASK, "gpu_clocks_throttle_reasons", GAUGE, 1)                  \
    METRIC(PERFORMANCE_STATE, "gpu_performance_state", GAUGE, 1)                       \
    METRIC(PCIE_GENERATION, "gpu_pcie_link_generation", GAUGE, 1)                      \
    METRIC(PCIE_WIDTH, "gpu_pcie_link_width", GAUGE, 1)                                \
    METRIC(PCIE_MAX_GENERATION, "gpu_pcie_max_link_generation", GAUGE, 1)              \
    METRIC(PCIE_MAX_WIDTH, "gpu_pcie_max_link_width", GAUGE, 1)                        \
    METRIC(PCIE_TX, "gpu_pcie_throughput_tx_kilobytes_per_second", GAUGE, 1000)        \
    METRIC(PCIE_RX, "gpu_pcie_throughput_rx_kilobytes_per_second", GAUGE, 1000)        \
    METRIC(PCIE_REPLAYS, "gpu_pcie_replay_counter", COUNTER, 1)                        \
    METRIC(NVLINKS, "gpu_nvlink_link_count", GAUGE, 1)                                 \
    METRIC(NVLINKS_ACTIVE, "gpu_nvlink_active_links", GAUGE, 1)                        \
    METRIC(NVLINK_DATA_TX, "gpu_nvlink_throughput_data_tx_kibibytes", COUNTER, 1024)   \
    METRIC(NVLINK_DATA_RX, "gpu_nvlink_throughput_data_rx_kibibytes", COUNTER, 1024)   \
    METRIC(NVLINK_RAW_TX, "gpu_nvlink_throughput_raw_tx_kibibytes", COUNTER, 1024)     \
    METRIC(NVLINK_RAW_RX, "gpu_nvlink_throughput_raw_rx_kibibytes", COUNTER, 1024)     \
    METRIC(NVLINK_REPLAYS, "gpu_nvlink_errors_replay", COUNTER, 1)                     \
    METRIC(NVLINK_RECOVERIES, "gpu_nvlink_errors_recovery", COUNTER, 1)                \
    METRIC(NVLINK_CRC_ERRORS, "gpu_nvlink_errors_crc", COUNTER, 1)                     \
    METRIC(NVLINK_TX, "gpu_nvlink_throughput_tx_kilobytes_per_second", GAUGE, 1000)    \
    METRIC(NVLINK_RX, "gpu_nvlink_throughput_rx_kilobytes_per_second", GAUGE, 1000)    \
    METRIC(ECC_CORRECTED, "gpu_ecc_errors_corrected_volatile", COUNTER, 1)             \
    METRIC(ECC_UNCORRECTED, "gpu_ecc_errors_uncorrected_volatile", COUNTER, 1)         \
    METRIC(ECC_CORRECTED_AGGREGATE, "gpu_ecc_errors_corrected_aggregate", COUNTER, 1)  \
    METRIC(ECC_UNCORRECTED_AGGREGATE, "gpu_ecc_errors_uncorrected_aggregate", COUNTER, 1) \
    METRIC(REMAPPED_CORRECTABLE, "gpu_remapped_rows_correctable", GAUGE, 1)            \
    METRIC(REMAPPED_UNCORRECTABLE, "gpu_remapped_rows_uncorrectable", GAUGE, 1)        \
    METRIC(REMAPPED_PENDING, "gpu_remapped_rows_pending", GAUGE, 1)                    \
    METRIC(REMAPPED_FAILURE, "gpu_remapped_rows_failure", GAUGE, 1)                    \
    METRIC(RETIRED_SINGLE_BIT, "gpu_retired_pages_single_bit", GAUGE, 1)               \
    METRIC(RETIRED_DOUBLE_BIT, "gpu_retired_pages_double_bit", GAUGE, 1)               \
    METRIC(RETIRED_PENDING, "gpu_retired_pages_pending", GAUGE, 1)                     \
    METRIC(XIDS, "gpu_xid_critical_errors", COUNTER, 1)                                \
    METRIC(SM_UTILIZATION, "gpu_sm_utilization_percent", GAUGE, MILLIONTHS)            \
    METRIC(SM_OCCUPANCY, "gpu_sm_occupancy_percent", GAUGE, MILLIONTHS)                \
    METRIC(TENSOR_UTILIZATION, "gpu_tensor_utilization_percent", GAUGE, MILLIONTHS)    \
    METRIC(DRAM_UTILIZATION, "gpu_dram_bandwidth_utilization_percent", GAUGE, MILLIONTHS) \
    METRIC(FP64_UTILIZATION, "gpu_fp64_utilization_percent", GAUGE, MILLIONTHS)        \
    METRIC(FP32_UTILIZATION, "gpu_fp32_utilization_percent", GAUGE, MILLIONTHS)        \
    METRIC(FP16_UTILIZATION, "gpu_fp16_utilization_percent", GAUGE, MILLIONTHS)

#define NUMBER(metric, name, type, divisor) metric,
enum metric { METRICS(NUMBER) METRICS_COUNT };
#undef NUMBER

struct metric_description {
    const char *name;
    uint32_t type;
    uint32_t divisor;
};

extern const struct metric_description metrics[METRICS_COUNT];

#endif
