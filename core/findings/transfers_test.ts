/** Transfers: copies that take the time, and why they are slow. */

import { testFindings } from "./testdata/judged.ts";
import { a100, SYMBOLS, training, work } from "./testdata/workloads.ts";

const transfer = { class: "transfer" } as const;
const kernels = [work(SYMBOLS.gemm_ampere, 0.34, 160)];

/** Copies to the device in 60 % of the time, on a link of generation 4 with 16 lanes: 31.5 GB/s. */
function copying(bytes: number, bytes_per_second: number, more: Record<string, number> = {}) {
  return training({
    devices: [a100({
      kernels,
      copies: [{ kind: "host_to_device", share: 0.6, bytes, bytes_per_second }],
      gauges: { utilization_percent: 35, ...more },
    })],
  });
}

testFindings({
  "large pieces at a tenth of the link's speed": {
    load: copying(1.5e8, 3.2e9),
    ...transfer,
    id: "transfers/pageable",
    stake: [0.55, 0.65],
    title: /pageable/,
  },
  "pieces of 6 KB": {
    load: copying(6000, 2e9),
    ...transfer,
    id: "transfers/small",
    stake: [0.55, 0.65],
  },
  "large pieces at the link's speed": {
    load: copying(1.5e8, 26e9),
    ...transfer,
    id: "transfers/link",
    stake: [0.55, 0.65],
  },
  "a link of generation 1 with 4 lanes": {
    load: copying(1.5e8, 0.9e9, { pcie_link_generation: 1, pcie_link_width: 4 }),
    class: "device",
    id: "hardware/link",
    stake: [0.5, 0.62],
    title: /generation 1 with 4 lanes, of generation 4 with 16/,
  },
}, {
  "copies beside kernels that fill the time": {
    load: training({
      devices: [a100({
        kernels: [work(SYMBOLS.gemm_ampere, 0.97, 2000)],
        copies: [{ kind: "host_to_device", share: 0.05, bytes: 4e7, bytes_per_second: 23e9 }],
        busy: 0.98,
      })],
    }),
    never: /transfers|gpu_idle/,
  },
  "a quarter of the time in copies that kernels cover": {
    load: training({
      devices: [a100({
        kernels: [work(SYMBOLS.gemm_ampere, 0.97, 2000)],
        copies: [{ kind: "host_to_device", share: 0.25, bytes: 4e7, bytes_per_second: 23e9 }],
        busy: 0.98,
      })],
    }),
    never: /transfers/,
  },
  "copies within the device": {
    load: training({
      devices: [a100({
        kernels,
        copies: [{ kind: "device_to_device", share: 0.6, bytes: 1e8, bytes_per_second: 800e9 }],
      })],
    }),
    never: /transfers/,
  },
  "a link that is lower and not used": {
    load: training({ devices: [a100({ gauges: { pcie_link_generation: 3 } })] }),
    never: /link/,
  },
});
