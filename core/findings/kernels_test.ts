/** Kernels: a faster kind is known, or they leave the device empty. */

import { testFindings } from "./testdata/judged.ts";
import { a100, h100, mi300x, SYMBOLS, training, work } from "./testdata/workloads.ts";

const kernel = { class: "kernel" } as const;
const { gemm, gemm_ampere, gemm_single, attention_flash2, attention_fallback, add, mul } = SYMBOLS;

const storm = [work(add, 0.5, 3), work(mul, 0.3, 3.2), work(gemm, 0.14, 5)];
const empty = {
  sm_utilization_percent: 10,
  sm_occupancy_percent: 5,
  tensor_utilization_percent: 1,
  dram_bandwidth_utilization_percent: 4,
  fp32_utilization_percent: 2,
};

testFindings({
  "products in 32 bits on an A100: TF32 is 8 times as fast, half of that is reached": {
    load: training({
      devices: [a100({ kernels: [work(gemm_single, 0.8, 1400), work(add, 0.17, 210)] })],
    }),
    ...kernel,
    id: "kernels/precision",
    stake: [0.8 * 0.7, 0.8 * 0.8],
    title: /TF32/,
  },
  "products in 32 bits on an MI300X": {
    load: training({
      devices: [mi300x({
        kernels: [work(SYMBOLS.gemm_amd_single, 0.8, 1500), work(SYMBOLS.fused, 0.17, 200)],
      })],
    }),
    ...kernel,
    id: "kernels/precision",
    stake: [0.8 * 0.7, 0.8 * 0.8],
    title: /matrix cores/,
  },
  "products in 64 bits": {
    load: training({
      devices: [
        a100({ kernels: [work("ampere_dgemm_64x64_tn", 0.9, 4000), work(add, 0.07, 200)] }),
      ],
    }),
    ...kernel,
    id: "kernels/double",
    stake: [0.4, 0.5],
  },
  "attention in the memory-efficient fallback": {
    load: training({
      devices: [h100({ kernels: [work(attention_fallback, 0.7, 96_000), work(gemm, 0.28, 3400)] })],
    }),
    ...kernel,
    id: "kernels/attention_fallback",
    stake: [0.7 * 0.5, 0.7 * 0.7],
    title: /sm80 on an sm90/,
  },
  "FlashAttention 2 on an H100": {
    load: training({
      devices: [h100({ kernels: [work(attention_flash2, 0.6, 1400), work(gemm, 0.38, 900)] })],
    }),
    ...kernel,
    id: "kernels/attention_generation",
    stake: [0.6 * 0.35, 0.6 * 0.5],
  },
  "products built for sm80 on an H100": {
    load: training({
      devices: [h100({ kernels: [work(gemm_ampere, 0.75, 2000), work(SYMBOLS.fused, 0.22, 170)] })],
    }),
    ...kernel,
    id: "kernels/old_generation",
    stake: [0.75 * 0.2, 0.75 * 0.5],
  },
  "elementwise kernels that nothing fuses": {
    load: training({
      devices: [
        a100({
          kernels: [work(gemm_ampere, 0.45, 900), work(add, 0.3, 200), work(mul, 0.22, 190)],
        }),
      ],
    }),
    ...kernel,
    id: "kernels/elementwise",
    stake: [0.52 * 0.4, 0.52 * 0.75],
  },
  "a kernel of one's own above all": {
    load: training({
      devices: [a100({ kernels: [work(SYMBOLS.own, 0.7, 4000), work(gemm_ampere, 0.27, 900)] })],
    }),
    ...kernel,
    id: "kernels/dominating",
    stake: [0.7 * 0.1, 0.7],
    title: /scan_sequential/,
  },
  "kernels with too few threads": {
    load: training({
      devices: [h100({
        kernels: [work(SYMBOLS.own, 0.7, 4000), work("_Z9backtrackPKfPiii", 0.28, 2000)],
        gauges: empty,
      })],
    }),
    ...kernel,
    id: "kernels/latency",
    stake: [0.8, 0.95],
  },
  "300,000 kernels of 3 µs a second on a busy device": {
    load: training({ devices: [h100({ kernels: storm, gauges: empty })] }),
    ...kernel,
    id: "small_kernels",
    // 290,000 launches a second with 1.5 µs of beginning and end each.
    stake: [0.35, 0.5],
  },
}, {
  "products in bf16": {
    load: training({ devices: [a100()] }),
    never: /precision|dominating|old_gen/,
  },
  "FlashAttention 2 on an A100, where no newer one runs": {
    load: training({
      devices: [
        a100({ kernels: [work(attention_flash2, 0.7, 1400), work(gemm_ampere, 0.28, 900)] }),
      ],
    }),
    never: /attention|dominating/,
  },
  "elementwise kernels that are fused already": {
    load: training({
      devices: [a100({ kernels: [work(gemm_ampere, 0.5, 900), work(SYMBOLS.fused, 0.47, 200)] })],
    }),
    never: /elementwise/,
  },
  "short kernels that a graph launches": {
    load: training({ devices: [h100({ kernels: storm, graph_trace_mode: 1, gauges: empty })] }),
    never: /small_kernels/,
  },
  "short kernels beside long ones": {
    load: training({ devices: [h100({ kernels: [work(gemm, 0.8, 900), work(add, 0.15, 3)] })] }),
    never: /small_kernels|latency/,
  },
  "a device that does nothing but communicate": {
    load: training({
      devices: [h100({ kernels: [work(SYMBOLS.reduce, 0.97, 5000)], gauges: empty })],
    }),
    never: /latency|dominating/,
  },
});
