/** Hardware: errors, links and kernels that never end. */

import { testFindings } from "./testdata/judged.ts";
import { a100, h100, SYMBOLS, training, work } from "./testdata/workloads.ts";

const device = { class: "device" } as const;
const busy = training({ devices: [h100()] });
const spinning = training({
  devices: [
    h100({
      kernels: [],
      copies: [],
      busy: 0,
      gauges: { utilization_percent: 100, power_usage_watts: 170 },
    }),
  ],
});

testFindings({
  "errors that ECC could not correct": {
    load: training({ devices: [h100({ counters: { ecc_errors_uncorrected_volatile: 0.01 } })] }),
    ...device,
    id: "hardware/ecc_uncorrected",
    stake: null,
  },
  "many errors that ECC corrected": {
    load: training({ devices: [h100({ counters: { ecc_errors_corrected_volatile: 0.5 } })] }),
    ...device,
    id: "hardware/ecc_corrected",
    stake: null,
  },
  "critical events": {
    load: training({ devices: [h100({ counters: { xid_critical_errors: 0.01 } })] }),
    ...device,
    id: "hardware/xid",
    stake: null,
  },
  "links that are down": {
    load: training({ devices: [h100({ gauges: { nvlink_active_links: 12 } })] }),
    ...device,
    id: "hardware/nvlink",
    stake: null,
    title: /12 of 18 links/,
  },
  "a link that sends again and again": {
    load: training({
      devices: [a100({
        kernels: [work(SYMBOLS.gemm_ampere, 0.9, 900)],
        copies: [{ kind: "host_to_device", share: 0.06, bytes: 4e7, bytes_per_second: 20e9 }],
        counters: { pcie_replay_counter: 40 },
      })],
    }),
    ...device,
    id: "hardware/link",
    stake: [0, 0.06],
  },
  "a kernel without end from the middle on": {
    load: (step) => step < 15 ? busy : spinning,
    class: "error",
    id: "hardware/hang",
    stake: [0.48, 0.52],
    title: /in the last 150 s/,
  },
}, {
  "a corrected error a day": {
    load: (step) =>
      training({
        devices: [h100({ counters: { ecc_errors_corrected_volatile: step === 3 ? 0.1 : 0 } })],
      }),
    never: /ecc/,
  },
  "a pause of work": {
    load: (step) =>
      step < 15 ? busy : training({
        devices: [h100({ kernels: [], copies: [], busy: 0, gauges: { utilization_percent: 0 } })],
      }),
    never: /^hardware/,
  },
  "a hang that ended": {
    load: (step) => step === 10 || step === 11 ? spinning : busy,
    never: /^hardware/,
  },
});
