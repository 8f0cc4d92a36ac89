/* PCIe throughput, where GPM does not tell it: from counters of bytes, or by a function that watches the
 * link for 20 ms each way, and is asked of one device a second in turn. */
#include "fields.h"
#include "groups.h"

#define SECOND_NS 1000000000u
#define KILOBYTE 1000u

static const enum metric WAYS[] = {PCIE_TX, PCIE_RX};

/* Returns false if the device does not count bytes, or wraps too soon for a second. */
static bool poll_counters(struct device *device) {
    nvmlFieldValue_t fields[] = {{.fieldId = NVML_FI_DEV_PCIE_COUNT_TX_BYTES},
                                 {.fieldId = NVML_FI_DEV_PCIE_COUNT_RX_BYTES}};
    fields_ask(device, fields, 2);
    if (device->fault) return true;
    uint64_t since_ns = device->pcie_at_ns ? device->polled_ns - device->pcie_at_ns : 0;
    for (int way = 0; way < 2; way++) {
        unsigned bits;
        if (fields[way].nvmlReturn != NVML_SUCCESS) return false;
        uint64_t bytes = field_value(&fields[way], &bits), before = device->pcie_bytes[way];
        if (bits < 64) return false;
        /* The counters may wrap at any width: one that fell tells nothing. */
        if (since_ns && bytes >= before)
            device_gauge(device, WAYS[way], (uint64_t)((__uint128_t)(bytes - before) * SECOND_NS / since_ns));
        device->pcie_bytes[way] = bytes;
    }
    device->pcie_at_ns = device->polled_ns;
    return true;
}

static void watch_link(struct device *device) {
    for (int way = 0; way < 2; way++) {
        unsigned int kilobytes = 0;
        if (!device_wants(device, WAYS[way])) continue;
        nvmlReturn_t answer = ASK(device, nvmlDeviceGetPcieThroughput, device->handle,
                                  way == 0 ? NVML_PCIE_UTIL_TX_BYTES : NVML_PCIE_UTIL_RX_BYTES, &kilobytes);
        device_answers(device, WAYS[way], answer, (uint64_t)kilobytes * KILOBYTE);
    }
}

void poll_pcie(struct device *device) {
    if (device->gpm_has_pcie || device->polls == 0) return;
    if (!device->pcie_uncounted && !poll_counters(device)) device->pcie_uncounted = true;
    if (device->pcie_uncounted && devices_beat % devices_whole == device->index % devices_whole) watch_link(device);
}
