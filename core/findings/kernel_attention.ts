/** Attention kernels: fallbacks, and those of an older generation than the device. */

import type { Finding } from "./finding.ts";
import { builtFor, capability, finding, part, SHARE } from "./kernel_part.ts";
import { percent, type WorkedDevice } from "./measures.ts";

/** FlashAttention 3 is 1.5 to 2 times as fast as 2 on Hopper (arXiv 2407.08608, section 4). */
const NEW_ATTENTION_GAIN = 1 - 1 / 1.75;

/** FlashAttention 2 is 2 to 4 times as fast as memory-efficient attention without it (arXiv 2307.08691). */
const FLASH_ATTENTION_GAIN = 1 - 1 / 2.5;

/** Attention that is built of products and a softmax, or memory-efficient attention of CUTLASS 2. */
const OLD_ATTENTION =
  /fmha_cutlass|attention_kernel_batched|AttentionKernel|mem_?eff|efficient_attention/i;

const OLD_FLASH = /flash_fwd|flash_bwd|flash_attn_2|pytorch_flash/i;

/** The finding that attention runs in a slower kernel than the device has. */
export function attention(devices: readonly WorkedDevice[]): Finding | null {
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
