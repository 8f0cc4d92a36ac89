/** Kernels by name: the table of real symbols, tunings of one operation, and names that are none. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { demangle } from "../itanium/demangle.ts";
import { canonicalName, kernelName } from "./kernel_name.ts";

/** A row of the table; its header says what the columns are. */
interface Row {
  library: string;
  category: string;
  types: string;
  tile: string;
  same: string;
  symbol: string;
}

/** The rows of a table. */
async function rowsOf(name: string): Promise<Row[]> {
  const text = await Deno.readTextFile(new URL(`../testdata/${name}`, import.meta.url));
  return text.split("\n").filter((line) => line && !line.startsWith("#")).map((line) => {
    const [, library, category, types, tile, same, , , , symbol] = line.split("\t") as string[];
    return { library, category, types, tile, same, symbol } as Row;
  });
}

const ROWS: readonly Row[] = await rowsOf("kernel_symbols.tsv");

/** A fifth of the symbols, which who wrote the rules had not seen. */
const UNSEEN: readonly Row[] = await rowsOf("kernel_symbols_unseen.tsv");

/** Rows that are read in another way, with what is read. */
const EXCEPTIONS: Readonly<Record<string, Partial<Row>>> = {
  // An addition of vectors is one of elements.
  _Z9vectorAddPKfS0_Pfi: { category: "elementwise" },
};

Deno.test("real symbols are read as the table says", () => {
  const wrong: string[] = [];
  for (const row of ROWS) {
    const expected = { ...row, ...EXCEPTIONS[row.symbol] };
    const found = kernelName(row.symbol);
    const types = found.dataTypes.join(",");
    const isAsTold = (!expected.library || found.library === expected.library) &&
      found.category === expected.category &&
      // The table names a type that only the result has where that is of interest.
      `${types},`.startsWith(expected.types && `${expected.types},`) &&
      (!expected.tile || found.tile === expected.tile);
    if (!isAsTold) wrong.push(`${JSON.stringify(found)} of ${row.symbol}`);
  }
  assert.deepEqual(wrong, []);
});

Deno.test("symbols that nobody wrote rules for are read nearly as well", () => {
  const found = UNSEEN.map((row) => ({ row, ...kernelName(row.symbol) }));
  const share = (asked: typeof found, isRight: (one: typeof found[number]) => boolean) =>
    asked.filter(isRight).length / asked.length;
  const stated = (of: "library" | "types" | "tile") => found.filter(({ row }) => row[of]);
  // First measured: library 152 of 152, category 173 of 180, types 114 of 118, tile 55 of 57.
  assert(share(stated("library"), ({ row, library }) => library === row.library) >= 0.98);
  assert(share(found, ({ row, category }) => category === row.category) >= 0.95);
  assert(
    share(stated("types"), ({ row, dataTypes }) => `${dataTypes},`.startsWith(`${row.types},`)) >=
      0.95,
  );
  assert(share(stated("tile"), ({ row, tile }) => tile === row.tile) >= 0.95);
});

Deno.test("tunings of one operation have one canonical name, and others do not have it", () => {
  const marked = ROWS.filter(({ same }) => same);
  for (const [mark, rows] of Map.groupBy(marked, ({ same }) => same)) {
    const names = new Set(rows.map(({ symbol }) => canonicalName(symbol)));
    assert.equal(names.size, 1, `${mark}: ${[...names].join(" | ")}`);
  }
  for (const [name, rows] of Map.groupBy(marked, ({ symbol }) => canonicalName(symbol))) {
    // Marks that differ only behind the slash claim nothing about each other.
    const operations = new Set(rows.map(({ same }) => same.split("/")[0]));
    assert.equal(operations.size, 1, `${name}: ${[...operations].join(" | ")}`);
  }
});

Deno.test("short names are at most 60 characters, on one line", () => {
  for (const { symbol } of ROWS) assert.match(kernelName(symbol).name, /^\P{C}{1,60}$/u, symbol);
});

Deno.test("a symbol says the same mangled and demangled", () => {
  for (const { symbol } of ROWS) {
    const text = demangle(symbol);
    if (text) assert.deepEqual(kernelName(text), kernelName(symbol), symbol);
  }
});

/** Names with numbers that tuning changes. */
const TUNED: readonly ((a: number, b: number, c: number) => string)[] = [
  (a, b, c) => `triton_poi_fused_add_mul_${a + b * c}`,
  (a, b, c) => `nvjet_tst_${8 * a}x${8 * b}_64x${c}_${a}x${b}_v_bz_TNT`,
  (a, b, c) => `ampere_bf16_s16816gemm_bf16_${8 * a}x${8 * b}_ldg8_f2f_stages_64x${c}_tn`,
  (a, b, c) =>
    `sm${70 + a}_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize${8 * b}x${8 * c}x64_stage${a}_cublas`,
  (a, b, c) =>
    `void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_${8 * a}x${8 * b}_16x${c}_nn_align${a}>()`,
  (a, b, c) => `Cijk_Ailk_Bljk_HHS_BH_Bias_SAV_UserArgs_MT${a}x${b}x${c}_MI16x16x1_SN_GSU${a}`,
  (a, b, c) =>
    `void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, ${a}, ${b}, ${c}, false, false, cutlass::half_t>>(P)`,
  (a, b, c) =>
    `void at::native::reduce_kernel<${a}, ${b}, at::native::ReduceOp<float, at::native::MeanOps<float, float>, unsigned int, float, ${c}> >()`,
  (a, b, c) =>
    `void deep_gemm::fp8_gemm_kernel<${a}u, ${b}u, ${
      8 * c
    }u, 128u, 128u, 0u, (deep_gemm::GemmType)1>(__nv_bfloat16*)`,
  (a, b, c) => `void vllm::paged_attention_v2_kernel<__nv_bfloat16, ${a}, ${b}, ${c}>(float*)`,
  (a, b, c) => `igemm_fwd_gtcx${a % 4}_nhwc_bf16_bx0_ex1_bt${a}x${b}x${c}_wt32x32x8_ws${a}x1`,
  (a) => `_w8a8_block_fp8_matmul_${a}`,
];

Deno.test("the numbers of a tuning do not change a canonical name", () => {
  const number = fc.integer({ min: 1, max: 32 });
  const numbers = fc.tuple(number, number, number);
  fc.assert(fc.property(fc.constantFrom(...TUNED), numbers, numbers, (name, one, other) => {
    assert.equal(canonicalName(name(...one)), canonicalName(name(...other)));
  }));
});

Deno.test("what decides does change a canonical name", () => {
  const names = [
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ncclDevKernel_AllReduce_Max_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "triton_poi_fused_add_0",
    "triton_poi_fused_mul_0",
    "ampere_sgemm_32x128_nn",
    "ampere_sgemm_32x128_tn",
    "void vllm::rms_norm_kernel<c10::BFloat16>(float*)",
    "void vllm::rms_norm_kernel<c10::Half>(float*)",
  ];
  assert.equal(new Set(names.map(canonicalName)).size, names.length);
});

Deno.test("a mangled name that is cut off still tells its library and category", () => {
  const whole = ROWS.filter(({ symbol }) => symbol.startsWith("_ZN") && symbol.length > 200);
  const kept = whole.filter(({ symbol }) => {
    const [found, cut] = [kernelName(symbol), kernelName(symbol.slice(0, -20))];
    return cut.library === found.library && cut.category === found.category;
  });
  assert.ok(kept.length > 0.9 * whole.length, `${kept.length} of ${whole.length}`);
});

Deno.test("any text has a name within bounds", () => {
  const changed = fc.tuple(
    fc.constantFrom(...ROWS),
    fc.nat(),
    fc.string({ unit: "binary", maxLength: 9 }),
  )
    .map(([{ symbol }, at, text]) => {
      const place = at % symbol.length;
      return symbol.slice(0, place) + text + symbol.slice(place + text.length);
    });
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), changed), (symbol) => {
      const { name, dataTypes } = kernelName(symbol);
      assert.match(name, /^\P{C}{1,60}$/u);
      assert.ok(dataTypes.length <= 30);
      assert.match(canonicalName(symbol), /^\P{C}{1,200}$/u);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("long names of brackets and words are read in the end", () => {
  const hostile = [
    "<",
    "(",
    "{",
    "a<",
    "<>",
    "a::",
    "_",
    "0x",
    "triton_poi_fused_",
    "tuple<C<16>, ",
    "_1x1",
    "Cijk_",
    "cutlass_3x_gemm",
    "rocprim::a_config",
    "cudnn_1x1",
    "trt_fprop",
    "chunk_fwd_",
    "mean_rsqrt_",
    "{lambda(int)",
  ];
  for (const part of hostile) {
    const symbol = part.repeat(Math.ceil(60_000 / part.length));
    for (const text of [symbol, `void at::native::reduce_kernel<${symbol}`, `_Z1f${symbol}`]) {
      assert.match(kernelName(text).name, /^\P{C}{1,60}$/u, part);
    }
  }
});
