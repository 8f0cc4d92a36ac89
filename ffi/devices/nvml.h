/* NVML's interface, as far as it is used: a header of our own, so that nothing of NVIDIA's is needed to
 * build. Each structure has the layout of nvml.h; tests compare them field by field. */
#ifndef SERVICE_DEVICES_NVML_H
#define SERVICE_DEVICES_NVML_H

#include <stddef.h>

typedef int nvmlReturn_t;

enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NO_PERMISSION = 4,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_TIMEOUT = 10,
    NVML_ERROR_IRQ_ISSUE = 11,
    NVML_ERROR_FUNCTION_NOT_FOUND = 13,
    NVML_ERROR_CORRUPTED_INFOROM = 14,
    NVML_ERROR_GPU_IS_LOST = 15,
    NVML_ERROR_RESET_REQUIRED = 16,
    NVML_ERROR_OPERATING_SYSTEM = 17,
    NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
    NVML_ERROR_IN_USE = 19,
    NVML_ERROR_MEMORY = 20,
    NVML_ERROR_NO_DATA = 21,
    NVML_ERROR_INSUFFICIENT_RESOURCES = 23,
    NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_ERROR_DEPRECATED = 26,
    NVML_ERROR_NOT_READY = 27,
    NVML_ERROR_GPU_NOT_FOUND = 28,
    NVML_ERROR_INVALID_STATE = 29,
    NVML_ERROR_UNKNOWN = 999,
};

#define NVML_VALUE_NOT_AVAILABLE (-1)

typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct nvmlEventSet_st *nvmlEventSet_t;
typedef struct nvmlGpmSample_st *nvmlGpmSample_t;

#define NVML_UUID_SIZE 96
#define NVML_NAME_SIZE 96
#define NVML_VERSION_SIZE 80

typedef struct {
    char busIdLegacy[16];
    unsigned int domain;
    unsigned int bus;
    unsigned int device;
    unsigned int pciDeviceId;
    unsigned int pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;

typedef struct {
    unsigned int gpu;
    unsigned int memory;
} nvmlUtilization_t;

typedef struct {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
} nvmlMemory_t;

typedef struct {
    unsigned int version;
    unsigned long long total;
    unsigned long long reserved;
    unsigned long long free;
    unsigned long long used;
} nvmlMemory_v2_t;

#define NVML_MEMORY_V2 ((unsigned int)sizeof(nvmlMemory_v2_t) | 2u << 24)

typedef struct {
    unsigned int version;
    int sensorType;
    int temperature;
} nvmlTemperature_t;

#define NVML_TEMPERATURE_V1 ((unsigned int)sizeof(nvmlTemperature_t) | 1u << 24)
#define NVML_TEMPERATURE_GPU 0

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };
enum { NVML_PSTATE_UNKNOWN = 32 };
enum { NVML_PCIE_UTIL_TX_BYTES = 0, NVML_PCIE_UTIL_RX_BYTES = 1 };
enum { NVML_COMPUTEMODE_DEFAULT = 0, NVML_COMPUTEMODE_PROHIBITED = 2, NVML_COMPUTEMODE_EXCLUSIVE_PROCESS = 3 };

/* ---- Field values ---- */

enum {
    NVML_VALUE_TYPE_DOUBLE = 0,
    NVML_VALUE_TYPE_UNSIGNED_INT = 1,
    NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
    NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3,
    NVML_VALUE_TYPE_SIGNED_LONG_LONG = 4,
    NVML_VALUE_TYPE_SIGNED_INT = 5,
    NVML_VALUE_TYPE_UNSIGNED_SHORT = 6,
};

typedef union {
    double dVal;
    int siVal;
    unsigned int uiVal;
    unsigned long ulVal;
    unsigned long long ullVal;
    signed long long sllVal;
    unsigned short usVal;
} nvmlValue_t;

typedef struct {
    unsigned int fieldId;
    unsigned int scopeId;
    long long timestamp;
    long long latencyUsec;
    int valueType;
    nvmlReturn_t nvmlReturn;
    nvmlValue_t value;
} nvmlFieldValue_t;

/* The sum over all links, as a scope. */
#define NVML_ALL_LINKS 0xffffffffu

enum {
    NVML_FI_DEV_ECC_SBE_VOL_TOTAL = 3,
    NVML_FI_DEV_ECC_DBE_VOL_TOTAL = 4,
    NVML_FI_DEV_ECC_SBE_AGG_TOTAL = 5,
    NVML_FI_DEV_ECC_DBE_AGG_TOTAL = 6,
    NVML_FI_DEV_RETIRED_SBE = 29,
    NVML_FI_DEV_RETIRED_DBE = 30,
    NVML_FI_DEV_RETIRED_PENDING = 31,
    NVML_FI_DEV_PERF_POLICY_POWER = 74,
    NVML_FI_DEV_PERF_POLICY_SYNC_BOOST = 76,
    NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT = 77,
    NVML_FI_DEV_PERF_POLICY_RELIABILITY = 79,
    NVML_FI_DEV_MEMORY_TEMP = 82,
    NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON = 90,
    NVML_FI_DEV_NVLINK_LINK_COUNT = 91,
    NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX = 138,
    NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX = 139,
    NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX = 140,
    NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX = 141,
    NVML_FI_DEV_REMAPPED_COR = 142,
    NVML_FI_DEV_REMAPPED_UNC = 143,
    NVML_FI_DEV_REMAPPED_PENDING = 144,
    NVML_FI_DEV_REMAPPED_FAILURE = 145,
    NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY = 161,
    NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY = 162,
    NVML_FI_DEV_NVLINK_ERROR_DL_CRC = 163,
    NVML_FI_DEV_NVLINK_GET_SPEED = 164,
    NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES = 202,
    NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES = 204,
    NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS = 215,
    NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN = 269,
    NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN = 270,
    NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN = 271,
};

/* ---- Events ---- */

#define nvmlEventTypeXidCriticalError 8ull
#define NVML_NO_INSTANCE 0xffffffffu

typedef struct {
    nvmlDevice_t device;
    unsigned long long eventType;
    unsigned long long eventData;
    unsigned int gpuInstanceId;
    unsigned int computeInstanceId;
} nvmlEventData_t;

/* ---- MIG ---- */

typedef struct {
    unsigned int multiprocessorCount;
    unsigned int sharedCopyEngineCount;
    unsigned int sharedDecoderCount;
    unsigned int sharedEncoderCount;
    unsigned int sharedJpegCount;
    unsigned int sharedOfaCount;
    unsigned int gpuInstanceSliceCount;
    unsigned int computeInstanceSliceCount;
    unsigned long long memorySizeMB;
} nvmlDeviceAttributes_t;

/* ---- GPM ---- */

enum {
    NVML_GPM_METRIC_SM_UTIL = 2,
    NVML_GPM_METRIC_SM_OCCUPANCY = 3,
    NVML_GPM_METRIC_ANY_TENSOR_UTIL = 5,
    NVML_GPM_METRIC_DRAM_BW_UTIL = 10,
    NVML_GPM_METRIC_FP64_UTIL = 11,
    NVML_GPM_METRIC_FP32_UTIL = 12,
    NVML_GPM_METRIC_FP16_UTIL = 13,
    NVML_GPM_METRIC_PCIE_TX_PER_SEC = 20,
    NVML_GPM_METRIC_PCIE_RX_PER_SEC = 21,
    NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC = 60,
    NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC = 61,
};

#define NVML_GPM_VERSION 1

typedef struct {
    unsigned int metricId;
    nvmlReturn_t nvmlReturn;
    double value;
    struct {
        char *shortName;
        char *longName;
        char *unit;
    } metricInfo;
} nvmlGpmMetric_t;

/* The driver's structure has as many metrics as it knows (333 in 13.0, 477 in 13.5) under the same
 * version: there are more of them here, so that a driver that touches all of its own stays inside. */
#define NVML_GPM_METRICS 1024

typedef struct {
    unsigned int version;
    unsigned int numMetrics;
    nvmlGpmSample_t sample1;
    nvmlGpmSample_t sample2;
    nvmlGpmMetric_t metrics[NVML_GPM_METRICS];
} nvmlGpmMetricsGet_t;

typedef struct {
    unsigned int version;
    unsigned int isSupportedDevice;
} nvmlGpmSupport_t;

/* ---- Functions ---- */

/* Each function that is called, and its parameters. A driver may lack any of them. */
#define NVML_FUNCTIONS(FUNCTION)                                                                      \
    FUNCTION(nvmlInit_v2, (void))                                                                     \
    FUNCTION(nvmlShutdown, (void))                                                                    \
    FUNCTION(nvmlSystemGetDriverVersion, (char *, unsigned int))                                      \
    FUNCTION(nvmlSystemGetCudaDriverVersion_v2, (int *))                                              \
    FUNCTION(nvmlDeviceGetCount_v2, (unsigned int *))                                                 \
    FUNCTION(nvmlDeviceGetHandleByIndex_v2, (unsigned int, nvmlDevice_t *))                           \
    FUNCTION(nvmlDeviceGetUUID, (nvmlDevice_t, char *, unsigned int))                                 \
    FUNCTION(nvmlDeviceGetPciInfo_v3, (nvmlDevice_t, nvmlPciInfo_t *))                                \
    FUNCTION(nvmlDeviceGetName, (nvmlDevice_t, char *, unsigned int))                                 \
    FUNCTION(nvmlDeviceGetArchitecture, (nvmlDevice_t, unsigned int *))                               \
    FUNCTION(nvmlDeviceGetCudaComputeCapability, (nvmlDevice_t, int *, int *))                        \
    FUNCTION(nvmlDeviceGetNumGpuCores, (nvmlDevice_t, unsigned int *))                                \
    FUNCTION(nvmlDeviceGetMemoryBusWidth, (nvmlDevice_t, unsigned int *))                             \
    FUNCTION(nvmlDeviceGetPowerManagementDefaultLimit, (nvmlDevice_t, unsigned int *))                \
    FUNCTION(nvmlDeviceGetEccMode, (nvmlDevice_t, int *, int *))                                      \
    FUNCTION(nvmlDeviceGetPersistenceMode, (nvmlDevice_t, int *))                                     \
    FUNCTION(nvmlDeviceGetComputeMode, (nvmlDevice_t, int *))                                         \
    FUNCTION(nvmlDeviceGetUtilizationRates, (nvmlDevice_t, nvmlUtilization_t *))                      \
    FUNCTION(nvmlDeviceGetMemoryInfo, (nvmlDevice_t, nvmlMemory_t *))                                 \
    FUNCTION(nvmlDeviceGetMemoryInfo_v2, (nvmlDevice_t, nvmlMemory_v2_t *))                           \
    FUNCTION(nvmlDeviceGetTemperature, (nvmlDevice_t, int, unsigned int *))                           \
    FUNCTION(nvmlDeviceGetTemperatureV, (nvmlDevice_t, nvmlTemperature_t *))                          \
    FUNCTION(nvmlDeviceGetPowerUsage, (nvmlDevice_t, unsigned int *))                                 \
    FUNCTION(nvmlDeviceGetEnforcedPowerLimit, (nvmlDevice_t, unsigned int *))                         \
    FUNCTION(nvmlDeviceGetTotalEnergyConsumption, (nvmlDevice_t, unsigned long long *))               \
    FUNCTION(nvmlDeviceGetFanSpeed, (nvmlDevice_t, unsigned int *))                                   \
    FUNCTION(nvmlDeviceGetClockInfo, (nvmlDevice_t, int, unsigned int *))                             \
    FUNCTION(nvmlDeviceGetMaxClockInfo, (nvmlDevice_t, int, unsigned int *))                          \
    FUNCTION(nvmlDeviceGetCurrentClocksEventReasons, (nvmlDevice_t, unsigned long long *))            \
    FUNCTION(nvmlDeviceGetCurrentClocksThrottleReasons, (nvmlDevice_t, unsigned long long *))         \
    FUNCTION(nvmlDeviceGetPerformanceState, (nvmlDevice_t, int *))                                    \
    FUNCTION(nvmlDeviceGetCurrPcieLinkGeneration, (nvmlDevice_t, unsigned int *))                     \
    FUNCTION(nvmlDeviceGetCurrPcieLinkWidth, (nvmlDevice_t, unsigned int *))                          \
    FUNCTION(nvmlDeviceGetMaxPcieLinkGeneration, (nvmlDevice_t, unsigned int *))                      \
    FUNCTION(nvmlDeviceGetMaxPcieLinkWidth, (nvmlDevice_t, unsigned int *))                           \
    FUNCTION(nvmlDeviceGetPcieThroughput, (nvmlDevice_t, int, unsigned int *))                        \
    FUNCTION(nvmlDeviceGetPcieReplayCounter, (nvmlDevice_t, unsigned int *))                          \
    FUNCTION(nvmlDeviceGetFieldValues, (nvmlDevice_t, int, nvmlFieldValue_t *))                       \
    FUNCTION(nvmlDeviceGetNvLinkState, (nvmlDevice_t, unsigned int, int *))                           \
    FUNCTION(nvmlEventSetCreate, (nvmlEventSet_t *))                                                  \
    FUNCTION(nvmlEventSetFree, (nvmlEventSet_t))                                                      \
    FUNCTION(nvmlEventSetWait_v2, (nvmlEventSet_t, nvmlEventData_t *, unsigned int))                  \
    FUNCTION(nvmlDeviceRegisterEvents, (nvmlDevice_t, unsigned long long, nvmlEventSet_t))            \
    FUNCTION(nvmlDeviceGetMigMode, (nvmlDevice_t, unsigned int *, unsigned int *))                    \
    FUNCTION(nvmlDeviceGetMaxMigDeviceCount, (nvmlDevice_t, unsigned int *))                          \
    FUNCTION(nvmlDeviceGetMigDeviceHandleByIndex, (nvmlDevice_t, unsigned int, nvmlDevice_t *))       \
    FUNCTION(nvmlDeviceGetGpuInstanceId, (nvmlDevice_t, unsigned int *))                              \
    FUNCTION(nvmlDeviceGetComputeInstanceId, (nvmlDevice_t, unsigned int *))                          \
    FUNCTION(nvmlDeviceGetAttributes_v2, (nvmlDevice_t, nvmlDeviceAttributes_t *))                    \
    FUNCTION(nvmlGpmQueryDeviceSupport, (nvmlDevice_t, nvmlGpmSupport_t *))                           \
    FUNCTION(nvmlGpmSampleAlloc, (nvmlGpmSample_t *))                                                 \
    FUNCTION(nvmlGpmSampleFree, (nvmlGpmSample_t))                                                    \
    FUNCTION(nvmlGpmSampleGet, (nvmlDevice_t, nvmlGpmSample_t))                                       \
    FUNCTION(nvmlGpmMigSampleGet, (nvmlDevice_t, unsigned int, nvmlGpmSample_t))                      \
    FUNCTION(nvmlGpmMetricsGet, (nvmlGpmMetricsGet_t *))

#endif
