/** Demangling of C++ symbols (Itanium ABI), as compilers for GPUs write them on Linux. */

import { encoding, mangledName } from "./encoding.ts";
import { expression, literal } from "./expressions.ts";
import { name, operator, templateArgs, unqualified } from "./names.ts";
import { print } from "./print.ts";
import { type Form, type Grammar, Malformed, Reader } from "./reader.ts";
import { parametersOf, type } from "./types.ts";

/** Characters of a symbol that is demangled; profilers keep up to 4,096. */
const MAX_SYMBOL = 8_192;

const GRAMMAR: Grammar = {
  encoding,
  name,
  unqualified,
  templateArgs,
  operator,
  type,
  parameters: parametersOf,
  expression,
  literal,
};

/**
 * The symbol as C++ writes it, in the form of `c++filt`; `null` where it is no mangled name, is longer
 * than 8,192 characters, nests deeper than 200 levels, or would be longer than 65,536 characters.
 *
 * @example
 * ```ts
 * import { demangle } from "@service/core/names";
 *
 * demangle("_Z4axpyIfEvT_PKS0_PS0_"); // "void axpy<float>(float, float const*, float*)"
 * ```
 */
export function demangle(symbol: string): string | null {
  if (!symbol.startsWith("_Z") || symbol.length > MAX_SYMBOL) return null;
  return attempt(symbol, { isModern: true, isCut: false }) ??
    (/sr\d/.test(symbol) ? attempt(symbol, { isModern: false, isCut: false }) : null);
}

/** What is there of a symbol that is cut off, as far as {@linkcode demangle} would write it. */
export function demangleStart(symbol: string): string | null {
  if (!symbol.startsWith("_Z") || symbol.length > MAX_SYMBOL) return null;
  return attempt(symbol, { isModern: true, isCut: true });
}

function attempt(symbol: string, form: Form): string | null {
  try {
    return print(mangledName(new Reader(symbol, GRAMMAR, form)));
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}
