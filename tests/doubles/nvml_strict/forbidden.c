/* Calls that a profiler must not make: they change the device, or list its processes. Each is a misuse. */

#include "double.h"

#ifndef REAL_HEADER

#define FORBIDDEN(function) \
    EXPORT nvmlReturn_t function(void) { \
        lock_state(); \
        misuse(#function " is forbidden"); \
        unlock_state(); \
        return NVML_ERROR_NO_PERMISSION; \
    }

FORBIDDEN(nvmlDeviceGetComputeRunningProcesses)
FORBIDDEN(nvmlDeviceGetComputeRunningProcesses_v2)
FORBIDDEN(nvmlDeviceGetComputeRunningProcesses_v3)
FORBIDDEN(nvmlDeviceGetGraphicsRunningProcesses)
FORBIDDEN(nvmlDeviceGetGraphicsRunningProcesses_v2)
FORBIDDEN(nvmlDeviceGetGraphicsRunningProcesses_v3)
FORBIDDEN(nvmlDeviceGetMPSComputeRunningProcesses)
FORBIDDEN(nvmlDeviceGetMPSComputeRunningProcesses_v2)
FORBIDDEN(nvmlDeviceGetMPSComputeRunningProcesses_v3)
FORBIDDEN(nvmlDeviceGetRunningProcessDetailList)
FORBIDDEN(nvmlDeviceGetProcessUtilization)
FORBIDDEN(nvmlDeviceGetProcessesUtilizationInfo)
FORBIDDEN(nvmlSystemGetProcessName)
FORBIDDEN(nvmlDeviceGetAccountingPids)
FORBIDDEN(nvmlDeviceGetAccountingStats)
FORBIDDEN(nvmlDeviceSetAccountingMode)
FORBIDDEN(nvmlDeviceClearAccountingPids)
FORBIDDEN(nvmlDeviceClearEccErrorCounts)
FORBIDDEN(nvmlDeviceClearFieldValues)
FORBIDDEN(nvmlDeviceClearCpuAffinity)
FORBIDDEN(nvmlDeviceSetCpuAffinity)
FORBIDDEN(nvmlDeviceSetPersistenceMode)
FORBIDDEN(nvmlDeviceSetComputeMode)
FORBIDDEN(nvmlDeviceSetEccMode)
FORBIDDEN(nvmlDeviceSetMigMode)
FORBIDDEN(nvmlDeviceSetGpuLockedClocks)
FORBIDDEN(nvmlDeviceSetMemoryLockedClocks)
FORBIDDEN(nvmlDeviceSetApplicationsClocks)
FORBIDDEN(nvmlDeviceResetApplicationsClocks)
FORBIDDEN(nvmlDeviceSetPowerManagementLimit)
FORBIDDEN(nvmlDeviceSetPowerManagementLimit_v2)
FORBIDDEN(nvmlDeviceSetNvLinkUtilizationControl)
FORBIDDEN(nvmlDeviceFreezeNvLinkUtilizationCounter)
FORBIDDEN(nvmlDeviceResetNvLinkUtilizationCounter)
FORBIDDEN(nvmlDeviceResetNvLinkErrorCounters)
FORBIDDEN(nvmlDeviceModifyDrainState)
FORBIDDEN(nvmlDeviceRemoveGpu)
FORBIDDEN(nvmlDeviceRemoveGpu_v2)
FORBIDDEN(nvmlDeviceDiscoverGpus)
FORBIDDEN(nvmlGpmSetStreamingEnabled)

/* Functions as they were before their second version: they see no MIG devices and no second PCI domain. */
#define OLDEST(function) \
    EXPORT nvmlReturn_t function(void) { \
        lock_state(); \
        misuse(#function " is of an old version"); \
        unlock_state(); \
        return NVML_ERROR_NOT_SUPPORTED; \
    }

OLDEST(nvmlInit)
OLDEST(nvmlDeviceGetCount)
OLDEST(nvmlDeviceGetHandleByIndex)
OLDEST(nvmlDeviceGetHandleByPciBusId)
OLDEST(nvmlDeviceGetPciInfo)
OLDEST(nvmlDeviceGetPciInfo_v2)
OLDEST(nvmlDeviceGetAttributes)
OLDEST(nvmlEventSetWait)
OLDEST(nvmlDeviceGetNvLinkUtilizationCounter)
OLDEST(nvmlDeviceGetDetailedEccErrors)


#endif
