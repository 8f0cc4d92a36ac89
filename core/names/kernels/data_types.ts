/** Data types in kernels' names, in one spelling: `bf16`, `fp8`, `int64`. */

/** Types by their spelling in C++, without namespaces. */
const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    fp64: "double|float64",
    fp32: "float|float32",
    tf32: "tfloat32_t",
    fp16: "__half|half|half_t|Half|__half2|half2|_Float16|float16",
    bf16:
      "__nv_bfloat16|__nv_bfloat162|nv_bfloat16|BFloat16|bfloat16_t|__hip_bfloat16|hip_bfloat16|" +
      "__bf16|bf16|bf16_t|bfloat16|bhalf_t|rccl_bfloat16",
    fp8: "Float8_e4m3fn|Float8_e5m2|Float8_e4m3fnuz|Float8_e5m2fnuz|__nv_fp8_e4m3|__nv_fp8_e5m2|" +
      "float_e4m3_t|float_e5m2_t|__hip_fp8_e4m3|__hip_fp8_e4m3_fnuz|fp8_t|bf8_t|f8_t",
    fp6: "float_e2m3_t|float_e3m2_t",
    fp4: "float_e2m1_t|__nv_fp4_e2m1|Float4_e2m1fn_x2|float_e2m1_unpacksmem_t|f4_t|pk_fp4_t",
    int4: "int4b_t|uint4b_t|pk_int4_t",
    int8: "int8_t|signed char",
    uint8: "uint8_t|unsigned char",
    int16: "int16_t|short",
    uint16: "uint16_t|unsigned short",
    int32: "int32_t|int",
    uint32: "uint32_t|unsigned int",
    int64: "int64_t|long|long long",
    uint64: "uint64_t|unsigned long|unsigned long long",
    bool: "bool",
    complex32: "complex<c10::Half>",
    complex64: "complex<float>",
    complex128: "complex<double>",
  }).flatMap(([type, spellings]) => spellings.split("|").map((name) => [name, type])),
);

/** The longest spellings first: `unsigned int` is no `int`. */
const SPELLED = new RegExp(
  `(?<!\\w)(?:${[...TYPES.keys()].sort((a, b) => b.length - a.length).join("|")})(?!\\w)`,
  "g",
);

/** Types that are mostly those of indices, where there are others. */
const INDICES = /^(?:u?int(?:32|64)|bool)$/;

/** Types narrower than those of sums. */
const NARROW = /^(?:bf16|fp16|fp8|fp6|fp4|u?int8|int4)$/;

/** Types in the text in their order, each once. */
export function spelledTypes(text: string): string[] {
  return [...new Set(text.match(SPELLED)?.map((name) => TYPES.get(name)!))];
}

/**
 * Types of a kernel's elements, among those of its arguments: not those of indices, and not that of sums,
 * which is wider than the elements.
 */
export function elementTypes(text: string): string[] {
  // Elements of any type: the integers are indices.
  if (text.includes("OpaqueType")) return [];
  const types = spelledTypes(text);
  const first = types.find((type) => !INDICES.test(type)) ?? types[0];
  // 16 bits without a sign stand for those of some other type.
  if (!first || first === "uint16") return [];
  const others = types.slice(types.indexOf(first) + 1);
  return [first, ...others.filter((type) => NARROW.test(type))];
}

/** Types among the words of a function's name: `kdequant_mm_int32_fp16`. */
export function namedTypes(base: string): string[] {
  const words = base.match(
    /(?<=^|_)(?:bf16|fp16|fp32|fp8|int8|int32|f16|f32|e4m3|half|bfloat16|float16)(?=_|$)/gi,
  ) ?? [];
  return [...new Set(words.map((word) => shortType(word.toLowerCase())))];
}

/** Types in names of generated kernels, by their spelling there. */
const SHORT: Readonly<Record<string, string>> = {
  f64: "fp64",
  f32: "fp32",
  f16: "fp16",
  e4m3: "fp8",
  e5m2: "fp8",
  f8: "fp8",
  e2m1: "fp4",
  s8: "int8",
  i8: "int8",
  u8: "uint8",
  f8e4m3: "fp8",
  f8e5m2: "fp8",
  s32: "int32",
  i32: "int32",
  u32: "uint32",
  i64: "int64",
  u64: "uint64",
  float: "fp32",
  half: "fp16",
  double: "fp64",
  bfloat16: "bf16",
  float16: "fp16",
  mxe4m3: "fp8",
  mxe2m1: "fp4",
};

/** A type as generated names spell it, such as `f16`. */
export function shortType(spelled: string): string {
  return SHORT[spelled] ?? spelled;
}
