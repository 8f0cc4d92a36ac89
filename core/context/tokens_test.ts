/** Tests of the estimate of tokens: never below the encoding's number, in any script. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer";
import { estimateTokens } from "./tokens.ts";

/** Texts of people and machines, and how far above the exact number an estimate may be. */
const TEXTS: readonly [kind: string, most: number, text: string][] = [
  [
    "English",
    1.1,
    "The device is idle three quarters of the time, because one thread launches all kernels, each of which takes less than what its launch costs. Record the step as a graph, or fuse the small ones, and measure again in a steady state: the same span of work, in the same mode.",
  ],
  [
    "a path",
    1.15,
    "/opt/venv/lib/python3.12/site-packages/torch/_inductor/compile_worker/__main__.py --pickler=torch._inductor.compile_worker.subproc_pool.SubprocPickler --workers=32 --parent=4410",
  ],
  [
    "a symbol",
    1.2,
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEESt5arrayIPcLm3EEEEviT0_T1_",
  ],
  [
    "a table",
    1.1,
    "7956 | `graph 7c1f0a92d3be4471` | graph | 46.2 | 22.8 | 20280\n2010 | `gemm TNT bf16 128x256x64` | gemm | 14.9 | 4390 | 33.9\n",
  ],
  [
    "German",
    1.35,
    "Speicherfehler beim Laden der Gewichte: nicht genügend Gerätespeicher verfügbar, bitte verkleinern Sie die Stapelgröße.",
  ],
  [
    "Chinese",
    3.5,
    "显存不足,无法分配张量。请减小批处理大小或使用更小的模型。数据加载进程在读取文件时发生错误。",
  ],
  [
    "Japanese",
    3,
    "メモリが不足しています。バッチサイズを小さくするか、より小さいモデルを使用してください。",
  ],
  ["Korean", 5, "메모리가 부족합니다. 배치 크기를 줄이거나 더 작은 모델을 사용하십시오."],
  ["Russian", 4.5, "Ошибка выделения памяти на устройстве: запрошено больше, чем свободно."],
  ["Arabic", 4, "نفدت ذاكرة الجهاز أثناء تخصيص الموتر. يرجى تقليل حجم الدفعة."],
  ["emoji", 3, "🔥🚀💥😀🤖🐛✨⚡️👩‍💻🇩🇪👍🏽 🎉"],
];

for (const [kind, most, text] of TEXTS) {
  Deno.test(`the estimate is not below the exact number: ${kind}`, () => {
    const exact = countTokens(text);
    const estimate = estimateTokens(text);
    assert.ok(estimate >= exact && estimate <= most * exact, `${estimate} for ${exact}`);
  });
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Letters of texts without a meaning: what a hostile name is made of. */
const ALPHABETS: Readonly<Record<string, readonly string[]>> = {
  hex: [..."0123456789abcdef"],
  base64: [...BASE64],
  "small letters": [...BASE64.slice(26, 52)],
  "capital letters": [...BASE64.slice(0, 26)],
  marks: [..."!\"#$%&'()*+,-./:;<=>?@[]^_{|}~"],
  Latin: range(0xc0, 0x180),
  Greek: range(0x391, 0x3ca),
  Cyrillic: range(0x410, 0x450),
  Hebrew: range(0x5d0, 0x5eb),
  Arabic: range(0x621, 0x64b),
  Devanagari: range(0x905, 0x93a),
  Thai: range(0xe01, 0xe2f),
  Kana: range(0x3041, 0x30ff),
  Han: range(0x4e00, 0x9fa5),
  Hangul: range(0xac00, 0xd7a3),
  symbols: range(0x2190, 0x2400),
  emoji: range(0x1f300, 0x1f6ff),
  "rare scripts": range(0x10900, 0x10a00),
};

Deno.test("the estimate of letters in any order is not below the exact number", () => {
  for (const [kind, letters] of Object.entries(ALPHABETS)) {
    const size = { minLength: 1_500, maxLength: 1_500 };
    const text = fc.noShrink(fc.noBias(fc.array(fc.constantFrom(...letters), size)));
    fc.assert(
      fc.property(text, (letters) => {
        const one = letters.join("");
        const exact = countTokens(one);
        const estimate = estimateTokens(one);
        assert.ok(estimate >= exact, `${kind}: ${estimate} for ${exact}`);
      }),
      { numRuns: 10 },
    );
  }
});

function range(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, at) => String.fromCodePoint(from + at));
}
