/**
 * Kernels: time in kernels for which a faster kind is known: 32-bit products beside unused tensor cores,
 * attention of an older generation, elementwise work that could be fused, or one kernel above all.
 */

import type { KernelWork } from "../facts/mod.ts";
import type { Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import {
  amdahl,
  computeSeconds,
  digits,
  mean,
  ofDevices,
  percent,
  sum,
  type WorkedDevice,
  workedDevices,
} from "./measures.ts";
import type { Rule } from "./rule.ts";

/** Kernels below this share of the GPU's time are not worth a change. */
const SHARE = 0.1;
/** Elementwise work up to this share is what models have between their products. */
const ELEMENTWISE_SHARE = 0.25;
/** One kernel above this share decides the speed by itself. */
const DOMINATING_SHARE = 0.4;
/** Memory traffic that fusing saves of a chain of elementwise kernels: three of four reads and writes. */
const FUSED_GAIN = 0.6;
/** FlashAttention 3 is 1.5 to 2 times as fast as 2 on Hopper (arXiv 2407.08608, section 4). */
const NEW_ATTENTION_GAIN = 1 - 1 / 1.75;
/** FlashAttention 2 is 2 to 4 times as fast as memory-efficient attention without it (arXiv 2307.08691). */
const FLASH_ATTENTION_GAIN = 1 - 1 / 2.5;

/** Products in 32-bit on plain cores: cuBLAS and CUTLASS call them sgemm and simt, cuDNN scudnn. */
const SINGLE =
  /(?:^|[^a-z])(?:s?gemm_(?:fp32|f32)_(?!.*tf32)|[a-z]+_sgemm|sgemm|simt_s|scudnn|implicit_convolve_sgemm)/i;
const TENSOR =
  /tf32|s1688|s16816|h1688|h16816|tensorop|xmma_.*(?:bf16|f16|tf32)|nvjet|wgmma|tcgen05/i;
/** Attention that is built of products and a softmax, or memory-efficient attention of CUTLASS 2. */
const OLD_ATTENTION =
  /fmha_cutlass|attention_kernel_batched|AttentionKernel|mem_?eff|efficient_attention/i;
const OLD_FLASH = /flash_fwd|flash_bwd|flash_attn_2|pytorch_flash/i;
/** Generation that a symbol was built for. */
const BUILT_FOR = /sm_?(\d{2,3})(?!\d)|(volta|turing|ampere|hopper|blackwell)/i;
const GENERATION: Readonly<Record<string, number>> = {
  volta: 70,
  turing: 75,
  ampere: 80,
  hopper: 90,
  blackwell: 100,
};

/** The rule. */
export const kernels: Rule = {
  id: "kernels",
  judge(facts): Judgement {
    const devices = workedDevices(facts);
    if (devices.length === 0) return NOTHING;
    const findings = [
      precision(devices),
      attention(devices),
      oldProducts(devices),
      elementwise(devices),
    ]
      .filter((found) => found !== null);
    const dominating = findings.length === 0 ? dominatingKernel(devices) : null;
    return { ...NOTHING, findings: dominating ? [dominating] : findings };
  },
};

/** Kernels that are meant, and their share of the time of a device: the mean of all devices. */
interface Part {
  share: number;
  kernels: KernelWork[];
  devices: readonly WorkedDevice[];
}

function part(
  devices: readonly WorkedDevice[],
  isMeant: (kernel: KernelWork, device: WorkedDevice) => boolean,
): Part {
  const shares = devices.map((device) =>
    sum(
      device.activity.kernels.filter((kernel) => isMeant(kernel, device)).map(({ seconds }) =>
        seconds
      ),
    ) /
    device.activity.captured_seconds
  );
  const [first] = devices;
  return {
    share: Math.min(1, mean(shares)),
    kernels: first!.activity.kernels.filter((kernel) => isMeant(kernel, first!)),
    devices,
  };
}

function capability({ attributes }: WorkedDevice): number | null {
  const [major, minor = "0"] = (attributes["device.compute_capability"] ?? "").split(".");
  return major ? Number(major) * 10 + Number(minor) : null;
}

function builtFor(name: string): number | null {
  const match = BUILT_FOR.exec(name);
  return match ? Number(match[1] ?? GENERATION[match[2]!.toLowerCase()]) : null;
}

function finding(
  { share, kernels, devices }: Part,
  { gain, ...rest }:
    & Pick<Finding, "id" | "title" | "remedies" | "verify" | "confidence" | "doubt">
    & {
      /** Share of the kernels' time that a faster kind saves. */
      gain: number;
    },
): Finding {
  const [first] = devices;
  return {
    ...rest,
    class: "kernel",
    share_at_stake: share * gain,
    evidence: [
      {
        metric: `${first!.activity.source}_kernels_nanoseconds`,
        tags: {},
        value: 100 * share,
        unit: "%",
        what: `share of the time in these kernels; if they took none: ${amdahl(share)}`,
      },
      ...kernels.slice(0, 2).map((kernel) => ({
        metric: `${first!.activity.source}_kernels_nanoseconds`,
        tags: { frame: kernel.short },
        value: kernel.seconds / kernel.times * 1e6,
        unit: "µs",
        what: `mean of ${digits(kernel.times)} launches, ${
          percent(kernel.seconds / first!.activity.captured_seconds)
        } of the time`,
      })),
      ...(first!.tensor
        ? [{
          metric: "gpu_tensor_utilization_percent",
          tags: {},
          value: 100 * mean(devices.map(({ tensor }) => tensor?.mean ?? 0)),
          unit: "%",
          what: "tensor cores in use",
        }]
        : []),
      ...(first!.dram
        ? [{
          metric: "gpu_dram_bandwidth_utilization_percent",
          tags: {},
          value: 100 * mean(devices.map(({ dram }) => dram?.mean ?? 0)),
          unit: "%",
          what: "memory bandwidth in use",
        }]
        : []),
    ],
    where: ofDevices(devices, devices),
    explains: [],
  };
}

function precision(devices: readonly WorkedDevice[]): Finding | null {
  const able = devices.filter((device) => (capability(device) ?? 0) >= 80);
  if (able.length === 0) return null;
  const single = part(
    able,
    ({ name, category }) =>
      (category === "gemm" || category === "convolution" || category === "other") &&
      SINGLE.test(name) && !TENSOR.test(name),
  );
  if (single.share < SHARE) return null;
  const teraflops = able[0]!.peaks?.teraflops ?? {};
  const ratio = teraflops.fp32 && teraflops.tf32 ? teraflops.tf32 / teraflops.fp32 : 4;
  return finding(single, {
    id: "kernels/precision",
    title:
      `Precision: ${
        percent(single.share)
      } of the time is in 32-bit products on the plain cores, while the tensor cores, ` +
      `${digits(ratio)} times as fast in TF32, are not used for them`,
    // Half of the ratio of peaks is what products of usual sizes reach.
    gain: 1 - 1 / Math.max(2, ratio / 2),
    confidence: "high",
    doubt: "",
    remedies: [
      'bf16 with torch.autocast("cuda", dtype=torch.bfloat16), or the trainer\'s bf16 option',
      'TF32 for what must stay in 32 bits: torch.set_float32_matmul_precision("high"), torch.backends.cudnn.allow_tf32 = True',
    ],
    verify:
      "kernels named sgemm and simt give way to tensorop, s1688 or s16816 ones; compare the loss of a few hundred steps",
  });
}

function attention(devices: readonly WorkedDevice[]): Finding | null {
  const old = part(devices, ({ name }, device) =>
    OLD_ATTENTION.test(name) ||
    (OLD_FLASH.test(name) && (capability(device) ?? 0) === 90 && !/sm_?90|hopper/i.test(name)));
  if (old.share < SHARE) return null;
  const isFallback = old.kernels.some(({ name }) => OLD_ATTENTION.test(name));
  const generation = builtFor(old.kernels[0]?.name ?? "");
  const able = capability(devices[0]!);
  return finding(old, {
    id: isFallback ? "kernels/attention_fallback" : "kernels/attention_generation",
    title: isFallback
      ? `Attention takes ${
        percent(old.share)
      } of the time in the memory-efficient fallback kernel` +
        `${
          generation && able && generation < able
            ? `, built for sm${generation} on an sm${able} device`
            : ""
        }, where a flash kernel could run`
      : `Attention takes ${
        percent(old.share)
      } of the time in FlashAttention 2 on an sm90 device, where FlashAttention 3 or cuDNN could run`,
    gain: isFallback ? FLASH_ATTENTION_GAIN : NEW_ATTENTION_GAIN,
    confidence: isFallback ? "high" : "medium",
    doubt: isFallback ? "" : "head sizes, masks and dropout may rule the newer kernel out",
    remedies: [
      ...(isFallback
        ? [
          "find what keeps the flash kernel away: an attention mask or bias, float32, a head size that is not a multiple of 8; use bf16 or fp16 and is_causal instead of a mask",
        ]
        : []),
      ...(able !== null && able >= 90
        ? [
          "FlashAttention 3 (flash-attn with hopper), or cuDNN attention: torch.nn.attention.sdpa_kernel(SDPBackend.CUDNN_ATTENTION)",
        ]
        : [
          "FlashAttention 2: torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION) fails with the reason where it cannot run",
        ]),
    ],
    verify:
      "the attention kernel's name changes and its mean time falls; compare outputs within the tolerance of the data type",
  });
}

function oldProducts(devices: readonly WorkedDevice[]): Finding | null {
  const old = part(devices, ({ name, category }, device) => {
    const [built, able] = [builtFor(name), capability(device)];
    return category === "gemm" && built !== null && able !== null && able >= 90 && built < 90 &&
      !SINGLE.test(name);
  });
  if (old.share < 2 * SHARE) return null;
  const built = builtFor(old.kernels[0]!.name);
  return finding(old, {
    id: "kernels/old_generation",
    title: `${percent(old.share)} of the time is in products built for sm${built} on an sm${
      capability(devices[0]!)
    } device, which leaves newer tensor instructions unused`,
    gain: 0.35,
    confidence: "medium",
    doubt: "for small or odd shapes libraries choose older kernels since they are faster",
    remedies: [
      "newer CUDA libraries (cuBLAS 12 and later has nvjet kernels), or a framework built for this device",
      "shapes that are multiples of 64 or 128",
    ],
    verify: "kernels named nvjet, sm90 or gmma take over, and their mean time falls",
  });
}

function elementwise(devices: readonly WorkedDevice[]): Finding | null {
  const plain = part(
    devices,
    ({ category, library }) =>
      ["elementwise", "reduction", "normalization", "softmax"].includes(category) &&
      library === "ATen",
  );
  const share = plain.share /
    Math.max(
      1e-9,
      mean(devices.map((device) => computeSeconds(device) / device.activity.captured_seconds)),
    );
  if (share < ELEMENTWISE_SHARE || plain.share < SHARE) return null;
  return finding(plain, {
    id: "kernels/elementwise",
    title: `Unfused: ${
      percent(plain.share)
    } of the time is in elementwise and reduction kernels of PyTorch, each of which reads and writes memory once`,
    gain: FUSED_GAIN,
    confidence: "medium",
    doubt: "",
    remedies: [
      "torch.compile: chains of elementwise kernels become one",
      "fused versions: F.scaled_dot_product_attention, fused optimizers (fused=True), fused layer norm, Liger or Apex kernels",
    ],
    verify:
      "launches a second and the elementwise share fall; triton_ kernels appear with torch.compile",
  });
}

function dominatingKernel(devices: readonly WorkedDevice[]): Finding | null {
  const [first] = devices;
  const largest = first!.activity.kernels[0];
  if (!largest || largest.category === "collective") return null;
  const one = part(devices, ({ name }) => name === largest.name);
  if (one.share < DOMINATING_SHARE) return null;
  return finding(one, {
    id: "kernels/dominating",
    title: `One kernel, ${largest.short}, takes ${
      percent(one.share)
    } of the time: if it took none, the work would be ${amdahl(one.share)} as fast`,
    gain: 0.3,
    confidence: "low",
    doubt:
      "whether it could be faster is not measured: compare its bytes and operations with the device's peaks",
    remedies: [
      largest.category === "other" || largest.library === null
        ? "a library's tuned kernel for the same operation, or tuning this one (Nsight Compute shows what limits it)"
        : "another shape, precision or version of the library for this operation",
    ],
    verify: "its mean time falls at the same number of launches for the same work",
  });
}
