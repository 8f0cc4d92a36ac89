/** Peaks of devices against their clocks, and lookups by attributes. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { DataType, DeviceModel } from "./device_model.ts";
import { DEVICE_MODELS, devicePeaks, memoryBandwidth, peakAttributes } from "./device_peaks.ts";

type Rates = Partial<Record<DataType, number>>;

/** Operations of a multiprocessor in a cycle, by CUDA's programming guide and the whitepapers. */
const RATES = {
  volta: { fp64: 64, fp32: 128, fp16: 1024 },
  turing: { fp32: 128, fp16: 1024, int8: 2048 },
  ga100: { fp64: 64, fp64_tensor: 128, fp32: 128, tf32: 1024, fp16: 2048, bf16: 2048, int8: 4096 },
  ga102: { fp32: 256, tf32: 512, fp16: 1024, bf16: 1024, int8: 2048 },
  geforce_30: { fp32: 256, tf32: 256, fp16: 512, bf16: 512, int8: 2048 },
  a10g: { fp32: 256, tf32: 256, fp16: 512, bf16: 512, int8: 1024 },
  ad102: { fp32: 256, tf32: 512, fp16: 1024, bf16: 1024, fp8: 2048, int8: 2048 },
  l40: { fp32: 256, tf32: 256, fp16: 512, bf16: 512, fp8: 1024, int8: 1024 },
  geforce_40: { fp32: 256, tf32: 256, fp16: 512, bf16: 512, fp8: 1024, int8: 2048 },
  gh100: {
    ...{ fp64: 128, fp64_tensor: 256, fp32: 256, tf32: 2048, fp16: 4096, bf16: 4096 },
    ...{ fp8: 8192, int8: 8192 },
  },
  geforce_50: { fp32: 256, tf32: 256, fp16: 512, bf16: 512, fp8: 1024, int8: 2048, fp4: 4096 },
  gb202: { fp32: 256, tf32: 512, fp16: 1024, bf16: 1024, fp8: 2048, int8: 2048, fp4: 4096 },
} as const satisfies Record<string, Rates>;

/** Clocks in MHz, as NVML tells them, and the width of the memory bus. */
interface Clocks {
  rates: keyof typeof RATES;
  boost: number;
  /** Of the tensor cores' peak, where it is another. */
  tensor?: number;
  memory: number;
  bits: number;
}

const CLOCKS: Record<string, Clocks> = {
  "V100-SXM2-16GB": { rates: "volta", boost: 1530, memory: 877, bits: 4096 },
  "V100-PCIE-16GB": { rates: "volta", boost: 1380, memory: 877, bits: 4096 },
  "V100S-PCIE-32GB": { rates: "volta", boost: 1597, memory: 1107, bits: 4096 },
  "T4": { rates: "turing", boost: 1590, memory: 5001, bits: 256 },
  "RTX 6000": { rates: "turing", boost: 1770, memory: 7001, bits: 384 },
  "A100-SXM4-40GB": { rates: "ga100", boost: 1410, memory: 1215, bits: 5120 },
  "A100-PCIE-40GB": { rates: "ga100", boost: 1410, memory: 1215, bits: 5120 },
  "A100-SXM4-80GB": { rates: "ga100", boost: 1410, memory: 1593, bits: 5120 },
  "A100 80GB PCIe": { rates: "ga100", boost: 1410, memory: 1512, bits: 5120 },
  "A30": { rates: "ga100", boost: 1440, memory: 1215, bits: 3072 },
  "A40": { rates: "ga102", boost: 1740, memory: 7251, bits: 384 },
  "A10": { rates: "ga102", boost: 1695, memory: 6251, bits: 384 },
  "A10G": { rates: "a10g", boost: 1710, memory: 6251, bits: 384 },
  "A16": { rates: "ga102", boost: 1755, memory: 6251, bits: 128 },
  "A2": { rates: "ga102", boost: 1770, memory: 6251, bits: 128 },
  "RTX A6000": { rates: "ga102", boost: 1800, memory: 8001, bits: 384 },
  "RTX A5000": { rates: "ga102", boost: 1695, memory: 8001, bits: 384 },
  "RTX A4000": { rates: "ga102", boost: 1560, memory: 7001, bits: 256 },
  "RTX 3090": { rates: "geforce_30", boost: 1695, memory: 9751, bits: 384 },
  "RTX 3090 Ti": { rates: "geforce_30", boost: 1860, memory: 10501, bits: 384 },
  "RTX 4080": { rates: "geforce_40", boost: 2505, memory: 11201, bits: 256 },
  "RTX 4090": { rates: "geforce_40", boost: 2520, memory: 10501, bits: 384 },
  "RTX 6000 Ada Generation": { rates: "ad102", boost: 2505, memory: 10001, bits: 384 },
  "L4": { rates: "ad102", boost: 2040, memory: 6251, bits: 192 },
  "L40": { rates: "l40", boost: 2490, memory: 9001, bits: 384 },
  "L40S": { rates: "ad102", boost: 2520, memory: 9001, bits: 384 },
  "H100 80GB HBM3": { rates: "gh100", boost: 1980, tensor: 1830, memory: 2619, bits: 5120 },
  "H100 PCIe": { rates: "gh100", boost: 1755, tensor: 1620, memory: 1593, bits: 5120 },
  "H100 NVL": { rates: "gh100", boost: 1785, tensor: 1545, memory: 2619, bits: 6016 },
  "H200": { rates: "gh100", boost: 1980, tensor: 1830, memory: 3201, bits: 6144 },
  "H200 NVL": { rates: "gh100", boost: 1785, tensor: 1545, memory: 3201, bits: 6144 },
  "GH200 120GB": { rates: "gh100", boost: 1980, tensor: 1830, memory: 2619, bits: 6144 },
  "GH200 144G HBM3e": { rates: "gh100", boost: 1980, tensor: 1830, memory: 3201, bits: 6144 },
  "RTX 5080": { rates: "geforce_50", boost: 2617, memory: 15001, bits: 256 },
  "RTX 5090": { rates: "geforce_50", boost: 2407, memory: 14001, bits: 512 },
  "RTX PRO 6000 Blackwell Workstation Edition": {
    ...{ rates: "gb202", boost: 2617, memory: 14001, bits: 512 },
  },
  "RTX PRO 6000 Blackwell Max-Q Workstation Edition": {
    ...{ rates: "gb202", boost: 2280, memory: 14001, bits: 512 },
  },
};

/** Models whose clocks no document states. */
const WITHOUT_CLOCKS = ["B100", "B200", "GB200", "B300 SXM6 AC", "GB300"];

const model = fc.constantFrom(...DEVICE_MODELS);
const GIB = 2 ** 30;

function near(actual: number, expected: number, share: number, what: string): void {
  assert(Math.abs(actual / expected - 1) <= share, `${what}: ${actual}, not ${expected}`);
}

for (const { names: [name], ...row } of DEVICE_MODELS) {
  const clocks = CLOCKS[name!];
  if (!clocks) continue;
  Deno.test(`peaks of ${name} follow from its clocks`, () => {
    const { rates, boost, tensor = boost, memory, bits } = clocks;
    near(memoryBandwidth(memory, bits), row.memory_gigabytes_per_second, 0.03, "bandwidth");
    for (const [type, value] of Object.entries(row.teraflops)) {
      const operations = (RATES[rates] as Rates)[type as DataType];
      assert(operations !== undefined, `${type} is not a type of ${rates}`);
      const megahertz = type.startsWith("fp64") || type === "fp32" ? boost : tensor;
      near(value, row.multiprocessors! * operations * megahertz / 1e6, 0.02, type);
    }
  });
}

Deno.test("all models have clocks or are known to have none", () => {
  const names = DEVICE_MODELS.map(({ names }) => names[0]!);
  assert.deepEqual(names.toSorted(), [...Object.keys(CLOCKS), ...WITHOUT_CLOCKS].toSorted());
});

Deno.test("a narrower type is never slower", () => {
  const wider: [DataType, DataType][] = [
    ["fp64", "fp32"],
    ["fp32", "tf32"],
    ["tf32", "bf16"],
    ["bf16", "fp8"],
    ["fp8", "fp4"],
  ];
  fc.assert(fc.property(model, ({ teraflops }) => {
    for (const [wide, narrow] of wider) {
      const [slow, fast] = [teraflops[wide], teraflops[narrow]];
      if (slow && fast) assert(fast >= slow, `${narrow} ${fast} < ${wide} ${slow}`);
    }
    if (teraflops.bf16) assert.equal(teraflops.bf16, teraflops.fp16);
  }));
});

Deno.test("each model is found by its name with any brand, and no name is twice in the table", () => {
  const brand = fc.constantFrom("", "NVIDIA ", "Tesla ", "NVIDIA GeForce ", "Quadro ");
  fc.assert(fc.property(model, brand, (row: DeviceModel, before) => {
    for (const name of row.names) {
      assert.equal(devicePeaks({ "device.name": before + name }), row);
    }
  }));
  const names = DEVICE_MODELS.flatMap(({ names }) => names);
  assert.equal(new Set(names).size, names.length);
});

Deno.test("parts of a device and unknown models have no peaks", () => {
  for (
    const name of [
      "NVIDIA A100-SXM4-80GB MIG 3g.40gb",
      "GRID A100-40C",
      "NVIDIA A100-SXM-64GB",
      "NVIDIA GeForce RTX 4090 Laptop GPU",
      "NVIDIA GeForce RTX 4090 D",
      "",
    ]
  ) assert.equal(devicePeaks({ "device.name": name }), null, name);
  assert.equal(devicePeaks({}), null);
  assert.deepEqual(peakAttributes({ "device.name": "NVIDIA X900" }), {});
});

Deno.test("a device that differs from the model of its name has no peaks", () => {
  const name = { "device.name": "NVIDIA GH200 480GB" };
  const of = (multiprocessors: number, gibibytes: number) =>
    devicePeaks({
      ...name,
      "device.multiprocessor_count": String(multiprocessors),
      "device.memory_total_bytes": String(gibibytes * GIB),
    });
  assert.equal(of(132, 95.6)?.memory_gigabytes_per_second, 4000);
  assert.equal(of(114, 95.6), null);
  assert.equal(of(132, 143.4), null);
});

Deno.test("attributes tell the peaks by data type", () => {
  assert.deepEqual(peakAttributes({ "device.name": "NVIDIA H100 80GB HBM3" }), {
    "device.peak_memory_gigabytes_per_second": "3352",
    "device.peak_fp64_teraflops": "33.5",
    "device.peak_fp64_tensor_teraflops": "66.9",
    "device.peak_fp32_teraflops": "66.9",
    "device.peak_tf32_teraflops": "494.7",
    "device.peak_fp16_teraflops": "989.4",
    "device.peak_bf16_teraflops": "989.4",
    "device.peak_fp8_teraflops": "1978.9",
    "device.peak_int8_teraops": "1978.9",
  });
});

Deno.test("an unknown model's bandwidth follows from its clock and bus", () => {
  const attributes = {
    "device.name": "NVIDIA X900",
    "device.memory_clock_megahertz": "2619",
    "device.memory_bus_width_bits": "5120",
  };
  assert.deepEqual(peakAttributes(attributes), {
    "device.peak_memory_gigabytes_per_second": "3352.3",
  });
  assert.deepEqual(peakAttributes({ ...attributes, "device.memory_bus_width_bits": "0" }), {});
  assert.deepEqual(peakAttributes({ ...attributes, "device.parent_uuid": "GPU-1" }), {});
});
