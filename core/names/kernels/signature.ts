/** Parts of a kernel's name as C++ writes it; a name in another form is a function without arguments. */

/** A kernel's name in parts. */
export interface Signature {
  /** The whole name, demangled. */
  text: string;
  /** The function with its namespaces, without template arguments: `at::native::reduce_kernel`. */
  path: string;
  /** The function alone: `reduce_kernel`. */
  base: string;
  /** Template arguments of the function. */
  args: readonly string[];
  /** Types of the parameters, with commas between them. */
  parameters: string;
}

/** Characters of a name that are read. */
const MAX_TEXT = 16_384;

/** Characters of a function with its namespaces, and of a name without arguments. */
const MAX_PATH = 1_000;

/** What stands between names, or opens a group. */
const DELIMITER = /[ <([{:]/g;

/** What opens or closes a group. */
const BRACKET = /[<>()[\]{}]/g;

/** Brackets by what opens them. */
const CLOSERS: Readonly<Record<string, string>> = { "<": ">", "(": ")", "[": "]", "{": "}" };

/** Parts of names that only look like groups. */
const WORDS = ["(anonymous namespace)", "operator()"];

/**
 * Parts of a demangled name. Of a name that is cut off, what is there.
 *
 * @example
 * ```ts
 * import { signature } from "./signature.ts";
 *
 * signature("void ns::scale<float, 4>(float*, int)");
 * // { path: "ns::scale", base: "scale", args: ["float", "4"], parameters: "float*, int", … }
 * ```
 */
export function signature(name: string): Signature {
  const isPlain = !/[<(]/.test(name);
  const text = commonForm(name.slice(0, isPlain ? MAX_PATH : MAX_TEXT));
  let [path, parameters, args] = ["", "", ""];
  let at = 0;
  while (at < text.length) {
    const word = WORDS.find((word) => text.startsWith(word, at));
    DELIMITER.lastIndex = at + (word?.length ?? 0);
    const here = DELIMITER.exec(text)?.index ?? text.length;
    path += text.slice(at, here);
    const delimiter = text[here];
    at = here + 1;
    if (delimiter === ":") {
      path += ":";
      args = "";
    } else if (delimiter === " ") {
      // What was read is the result's type, or a part of it.
      path = args = "";
    } else if (delimiter) {
      if (delimiter === "(" && WORDS.some((word) => text.startsWith(word, here))) {
        at = here;
        continue;
      }
      const end = closing(text, here);
      const inner = text.slice(at, end);
      if (delimiter === "<") args = inner;
      else if (delimiter === "{") path += `{${inner}}`;
      else if (!/^(?: const)?::/.test(text.slice(end + 1, end + 9))) {
        parameters = inner;
        break;
      }
      at = text.startsWith(" const::", end + 1) ? end + 7 : end + 1;
    }
  }
  path = path.slice(0, MAX_PATH);
  const base = path.slice(path.lastIndexOf("::") + 1).replace(/^:/, "");
  return { text, path, base, args: split(args), parameters };
}

/** The name as `c++filt` has it, without what compilers add to copies. */
function commonForm(text: string): string {
  const whole = text.replace(/(?: \[clone [^\]]*\]|\.kd)+$/, "").trim();
  if (!/<unnamed>|\((?:int|bool|unsigned int|unsigned long)\)\d/.test(whole)) return whole;
  // The demangler of NVIDIA's tools writes the types of numbers.
  return whole.replaceAll("<unnamed>", "(anonymous namespace)")
    .replace(/\(bool\)([01])/g, (_, digit) => digit === "1" ? "true" : "false")
    .replace(/\((?:int|long|unsigned int|unsigned long)\)(?=\d)/g, "");
}

/** Where the bracket at `at` is closed; the text's end, where it is not. */
export function closing(text: string, at: number): number {
  const open: string[] = [];
  BRACKET.lastIndex = at;
  for (let found = BRACKET.exec(text); found; found = BRACKET.exec(text)) {
    const [bracket] = found;
    const closer = CLOSERS[bracket];
    if (closer) open.push(closer);
    else if (bracket === ">" && (text[found.index - 1] === "-" || open.at(-1) !== ">")) continue;
    else {
      // `<` may also have been an operator.
      while (open.length > 0 && open.pop() !== bracket);
      if (open.length === 0) return found.index;
    }
  }
  return text.length;
}

/** Items between the commas that stand in no brackets. */
export function split(list: string): readonly string[] {
  const items: string[] = [];
  let start = 0;
  for (let at = 0; at < list.length; at++) {
    const character = list[at]!;
    if (character === ",") {
      items.push(list.slice(start, at).trim());
      start = at + 1;
    } else if (CLOSERS[character]) at = closing(list, at);
  }
  const last = list.slice(start).trim();
  return last || items.length > 0 ? [...items, last] : items;
}
