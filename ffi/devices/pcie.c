/* PCIe throughput, where GPM does not tell it: a function watches the link for 20 ms each way, so it is asked
 * of one device a second in turn. NVML's counters of bytes are of no use: they wrap at 32 bits, which is
 * several times a second. */
#include "groups.h"

#define KILOBYTE 1000u

static void watch(struct device *device, enum metric metric, int way) {
    unsigned int kilobytes = 0;
    if (!device_wants(device, metric)) return;
    nvmlReturn_t answer = ASK(device, nvmlDeviceGetPcieThroughput, device->handle, way, &kilobytes);
    device_answers(device, metric, answer, (uint64_t)kilobytes * KILOBYTE);
}

void poll_pcie(struct device *device) {
    /* At first, GPM has only one sample. */
    if (device->gpm_has_pcie || (!device->gpm_refused && device->polls == 0)) return;
    if (devices_beat % devices_whole != device->index % devices_whole) return;
    watch(device, PCIE_TX, NVML_PCIE_UTIL_TX_BYTES);
    watch(device, PCIE_RX, NVML_PCIE_UTIL_RX_BYTES);
}
