/** Kernels of PyTorch (ATen): what an elementwise or reducing kernel computes is in its functor. */

import { elementTypes, spelledTypes } from "./data_types.ts";
import type { KernelCategory, Reading, Rule } from "./reading.ts";
import { closing, type Signature, signature, split } from "./signature.ts";
import { categoryOf } from "./words.ts";

/** Wrappers of a functor, and which of their arguments it is. */
const WRAPPERS: readonly [RegExp, number][] = [
  [/^at::native::gpu_kernel_impl/, 0],
  [/::(?:A|B)UnaryFunctor$/, 3],
  [/::BinaryFunctor$/, 3],
  [/::func_wrapper_t$/, 1],
  [/::ReduceOp$/, 1],
];

/** Functors that move data. */
const MOVES =
  /^(?:direct_copy|copy|fill|float8_copy|cat|flip|roll|tril|triu|index|masked_scatter|take|put)/;

/** Words of functors that are said in another way. */
const OPERATIONS: Readonly<Record<string, string>> = {
  direct_copy: "copy",
  arg_max: "argmax",
  arg_min: "argmin",
  max_nan: "max",
  min_nan: "min",
  norm_two: "norm",
  norm_one: "norm",
};

/** The functor inside of its wrappers; `types` of those that state them. */
function innermost(text: string): { functor: Signature; types: string[] } {
  let found = signature(text);
  let types: string[] = [];
  for (let depth = 0; depth < 8; depth++) {
    const wrapper = WRAPPERS.find(([pattern]) => pattern.test(beforeLambda(found.path)));
    const inner = wrapper && functorArgs(found)[wrapper[1]];
    if (!inner) break;
    // What is computed with may be wider than what is read.
    if (wrapper[1] === 3) types = spelledTypes(functorArgs(found)[0]!);
    found = signature(inner);
  }
  return { functor: found, types };
}

/** The path up to the first lambda in it: the function around it. */
function beforeLambda(path: string): string {
  return path.replace(/(?:::operator\(\))?(?:::)?\{.*/, "");
}

/** Template arguments of the functor, or of the function around the lambda that it is. */
function functorArgs({ args, text }: Signature): readonly string[] {
  if (args.length > 0) return args;
  const start = text.indexOf("<");
  return start < 0 ? [] : split(text.slice(start + 1, closing(text, start)));
}

/** `CUDAFunctor_add` and `add_kernel_cuda(…)::{lambda…}` are `add`. */
function operationOf(path: string): string {
  const name = beforeLambda(path).split("::").at(-1)!
    .replace(/^CUDAFunctor(?:OnSelf|OnOther)?_|^(?:launch_|gpu_)/, "")
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, "_").toLowerCase()
    .replace(/(?:_?(?:cuda|kernel|impl|functor)|_(?:ops|op|out|f))+$/, "")
    .replace(/_?cuda(?=_|$)/, "");
  return OPERATIONS[name] ?? name;
}

/** Types that a functor computes with: of the parameters of its lambda, or of its template. */
function functorTypes(functor: Signature): string[] {
  const lambda = [...functor.text.matchAll(/\{lambda\(([^(){}]*)\)#\d+\}/g)]
    .map(([, parameters]) => spelledTypes(parameters!)).findLast((types) => types.length > 0);
  return (lambda ?? elementTypes(functor.args.join(", "))).slice(0, 1);
}

/** A kernel that applies a functor to each element, or reduces with it. */
function withFunctor(category: KernelCategory, at: number) {
  return ({ args }: Signature): Reading => {
    const { functor, types } = innermost(args[at] ?? "");
    const operation = operationOf(functor.path);
    return {
      category: MOVES.test(operation) && category === "elementwise" ? "memory" : category,
      operation,
      dataTypes: types.length > 0 ? types : functorTypes(functor),
    };
  };
}

/** `reduce_kernel<512, 1, ReduceOp<c10::Half, MeanOps<…>, …>>`. */
function reduced(kernel: Signature): Reading {
  const [type = ""] = signature(kernel.args[2] ?? "").args;
  return { ...withFunctor("reduction", 2)(kernel), dataTypes: spelledTypes(type).slice(0, 1) };
}

/** `multi_tensor_apply_kernel<TensorListMetadata<4>, FusedAdamMathFunctor<float, 4>, …>`. */
function multiTensor({ args }: Signature): Reading {
  const functor = signature(args.find((arg) => /Functor/.test(arg)) ?? args[1] ?? "");
  const operation = operationOf(functor.path);
  return {
    category: multiTensorCategory(operation),
    operation: `multi-tensor ${operation}`,
    dataTypes: elementTypes(functor.args.join(", ")).slice(0, 1),
  };
}

function multiTensorCategory(operation: string): KernelCategory {
  if (categoryOf(operation) === "optimizer") return "optimizer";
  if (/norm(?!al)/.test(operation)) return "reduction";
  return MOVES.test(operation) ? "memory" : "elementwise";
}

/** A softmax of one warp a row: types of input and result, and whether it takes the logarithm. */
function warpSoftmax({ base, args }: Signature): Reading {
  return {
    operation: `${args[4] === "true" ? "log_" : ""}${base.replace("_warp", "")}`,
    dataTypes: [...new Set(spelledTypes(args.slice(0, 2).join(", ")))],
  };
}

/** Kernels that update lists of tensors: Apex had them first, others have their own copies. */
export const MULTI_TENSOR: readonly Rule[] = [
  {
    library: "Transformer Engine",
    path: /multi_tensor_apply_kernel$/,
    text: /transformer_engine/,
    read: multiTensor,
  },
  { library: "ATen", path: /^at::.*multi_tensor_apply_kernel$/, read: multiTensor },
  { library: "Apex", path: /^multi_tensor_apply_kernel$/, read: multiTensor },
];

const ELEMENTWISE = "(?:at::native::|\\(anonymous namespace\\)::)+";

/** Rules for ATen. */
export const ATEN: readonly Rule[] = [
  {
    library: "ATen",
    path: new RegExp(`${ELEMENTWISE}vectorized_elementwise_kernel$`),
    read: withFunctor("elementwise", 1),
  },
  {
    library: "ATen",
    path: new RegExp(`${ELEMENTWISE}elementwise_kernel(?:_manual_unroll)?$`),
    read: withFunctor("elementwise", 2),
  },
  {
    library: "ATen",
    path: new RegExp(`${ELEMENTWISE}elementwise_kernel_with_index$`),
    read: withFunctor("elementwise", 1),
  },
  {
    library: "ATen",
    path: new RegExp(
      `${ELEMENTWISE}(?:legacy_)?(?:vectorized_|unrolled_)?(?:templated_)?elementwise_kernel`,
    ),
    read: withFunctor("elementwise", 0),
  },
  { library: "ATen", path: /^at::native::reduce_kernel$/, read: reduced },
  {
    library: "ATen",
    path: /softmax_warp_(?:forward|backward)$/,
    text: /^\S* ?(?:at::native::)?\(anonymous namespace\)::softmax_warp/,
    category: "softmax",
    read: warpSoftmax,
  },
  {
    library: "ATen",
    path: /::(?:compute_grad_weight\w*|krn_partials?_\w*|sum_and_scatter)$/,
    category: "embedding",
  },
  { library: "ATen", path: /^(?:at|c10|at_cuda_detail)::/ },
  {
    library: "ATen",
    path:
      /^\(anonymous namespace\)::(?:cunn_SoftMax|elementwise|distribution|index|fused_dropout|upsample|adaptive|max_pool|batch_norm|vectorized_layer_norm)/,
  },
];
