/**
 * NVIDIA's workstation and consumer models with their peaks as the named documents state them: dense, at
 * the boost clock. GeForce sums FP16 and FP8 in FP32 at half the rate of FP16 sums; the half is meant here.
 */

import type { DeviceModel } from "./device_model.ts";

/** Workstation and consumer models, oldest first. */
export const NVIDIA_WORKSTATION: readonly DeviceModel[] = [
  {
    names: ["RTX 6000", "RTX 8000"],
    multiprocessors: 72,
    memory_gigabytes_per_second: 672,
    teraflops: { fp32: 16.3, fp16: 130.5 },
    source: "NVIDIA Quadro RTX 6000 and 8000 data sheets",
  },
  {
    names: ["RTX A6000"],
    multiprocessors: 84,
    memory_gigabytes_per_second: 768,
    teraflops: { fp32: 38.7, tf32: 77.4, fp16: 154.8, bf16: 154.8, int8: 309.7 },
    source: "NVIDIA Ampere GA102 GPU architecture whitepaper",
  },
  {
    names: ["RTX A5000"],
    multiprocessors: 64,
    memory_gigabytes_per_second: 768,
    teraflops: { fp32: 27.8, fp16: 111.1, bf16: 111.1 },
    source: "NVIDIA RTX A5000 data sheet, half its rate with sparsity",
  },
  {
    names: ["RTX A4000"],
    multiprocessors: 48,
    memory_gigabytes_per_second: 448,
    teraflops: { fp32: 19.2, fp16: 76.7, bf16: 76.7 },
    source: "NVIDIA RTX A4000 data sheet, half its rate with sparsity",
  },
  {
    names: ["RTX 3090"],
    multiprocessors: 82,
    memory_gigabytes_per_second: 936,
    teraflops: { fp32: 35.6, tf32: 35.6, fp16: 71, bf16: 71, int8: 284 },
    source: "NVIDIA Ampere GA102 GPU architecture whitepaper",
  },
  {
    names: ["RTX 3090 Ti"],
    multiprocessors: 84,
    memory_gigabytes_per_second: 1008,
    teraflops: { fp32: 40, tf32: 40, fp16: 80, bf16: 80, int8: 320 },
    source: "NVIDIA Ada GPU architecture whitepaper",
  },
  {
    names: ["RTX 4080"],
    multiprocessors: 76,
    memory_gigabytes_per_second: 716.8,
    teraflops: { fp32: 48.7, tf32: 48.7, fp16: 97.5, bf16: 97.5, fp8: 194.9, int8: 389.9 },
    source: "NVIDIA Ada GPU architecture whitepaper",
  },
  {
    names: ["RTX 4090"],
    multiprocessors: 128,
    memory_gigabytes_per_second: 1008,
    teraflops: { fp32: 82.6, tf32: 82.6, fp16: 165.2, bf16: 165.2, fp8: 330.3, int8: 660.6 },
    source: "NVIDIA Ada GPU architecture whitepaper",
  },
  {
    names: ["RTX 6000 Ada Generation"],
    multiprocessors: 142,
    memory_gigabytes_per_second: 960,
    teraflops: { fp32: 91.1, tf32: 182.1, fp16: 364.2, bf16: 364.2, fp8: 728.5, int8: 728.5 },
    source: "NVIDIA Ada Lovelace professional GPU architecture whitepaper",
  },
  {
    names: ["RTX 5080"],
    multiprocessors: 84,
    memory_gigabytes_per_second: 960,
    teraflops: {
      fp32: 56.3,
      tf32: 56.3,
      fp16: 112.6,
      bf16: 112.6,
      fp8: 225.1,
      int8: 450.2,
      fp4: 900.4,
    },
    source: "NVIDIA RTX Blackwell GPU architecture whitepaper",
  },
  {
    names: ["RTX 5090"],
    multiprocessors: 170,
    memory_gigabytes_per_second: 1792,
    teraflops: {
      fp32: 104.8,
      tf32: 104.8,
      fp16: 209.5,
      bf16: 209.5,
      fp8: 419,
      int8: 838,
      fp4: 1676,
    },
    source: "NVIDIA RTX Blackwell GPU architecture whitepaper",
  },
  {
    names: ["RTX PRO 6000 Blackwell Workstation Edition"],
    multiprocessors: 188,
    memory_gigabytes_per_second: 1792,
    teraflops: {
      fp32: 126,
      tf32: 251.9,
      fp16: 503.8,
      bf16: 503.8,
      fp8: 1007.6,
      int8: 1007.6,
      fp4: 2015.2,
    },
    source: "NVIDIA RTX Blackwell PRO GPU architecture whitepaper",
  },
  {
    names: ["RTX PRO 6000 Blackwell Max-Q Workstation Edition"],
    multiprocessors: 188,
    memory_gigabytes_per_second: 1792,
    teraflops: { fp32: 110, fp4: 1755.5 },
    source: "NVIDIA RTX PRO 6000 Blackwell Max-Q data sheet, half its rate with sparsity",
  },
];
