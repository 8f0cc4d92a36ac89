/** Parts of a demangled name: a tree, where a part that was named before appears again (substitution). */

/** Type of a function. */
export interface FunctionNode {
  kind: "function";
  /** `null`: a function's own type without the result, as templates alone state it. */
  result: Node | null;
  parameters: readonly Node[];
  /** Qualifiers after the parameters, such as ` const`. */
  suffix: string;
}

/** Pointer or reference. */
export interface PointerNode {
  kind: "pointer";
  mark: "*" | "&" | "&&";
  to: Node;
}

/** A part of a name. */
export type Node =
  /** An identifier, a builtin type or any other fixed text. */
  | { kind: "name"; text: string }
  /** A builtin type; `literal` is how its numbers are written: a suffix, or `null` with the type. */
  | { kind: "builtin"; text: string; literal: string | null }
  | { kind: "qualified"; scope: Node; name: Node }
  /** A name inside a function. */
  | { kind: "local"; scope: Node; name: Node }
  | { kind: "template"; name: Node; args: readonly Node[] }
  /** A pack of template arguments. */
  | { kind: "pack"; items: readonly Node[] }
  /** The parameter of a template, `T_`: what it stands for depends on the function that it is written in. */
  | { kind: "parameter"; index: number }
  /** `T...`: the pattern for each argument of the packs in it. */
  | { kind: "expansion"; of: Node }
  /** `sizeof...(T)`. */
  | { kind: "length"; of: Node }
  | FunctionNode
  /** A function's name with its type. */
  | { kind: "named"; name: Node; type: FunctionNode }
  /** A member function's name with its qualifiers, such as ` const`. */
  | { kind: "member function"; name: Node; suffix: string }
  /** A type with qualifiers after it, such as ` const`. */
  | { kind: "suffixed"; type: Node; suffix: string }
  | PointerNode
  | { kind: "member pointer"; owner: Node; type: Node }
  | { kind: "array"; size: Node; of: Node }
  | { kind: "lambda"; parameters: readonly Node[]; number: number }
  /** Constructor or destructor. */
  | { kind: "structor"; text: string }
  | { kind: "conversion"; type: Node }
  | { kind: "literal"; type: Node; sign: string; digits: string }
  /** `{a, b}`, with the type before it where it is given. */
  | { kind: "braces"; type: Node | null; items: readonly Node[] }
  | { kind: "list"; items: readonly Node[] }
  /** Parts one after another. */
  | { kind: "sequence"; parts: readonly (string | Node)[] };

/** Fixed text. */
export function text(text: string): Node {
  return { kind: "name", text };
}

/** Parts one after another. */
export function sequence(...parts: readonly (string | Node)[]): Node {
  return { kind: "sequence", parts };
}

/** Whether a function with this name states its result: template functions do, constructors do not. */
export function hasResult(name: Node): boolean {
  switch (name.kind) {
    case "local":
    case "member function":
      return hasResult(name.name);
    case "template":
      return !isStructor(name.name);
    default:
      return false;
  }
}

/** Template arguments of the function that is named. */
export function argsOf(name: Node): readonly Node[] {
  switch (name.kind) {
    case "template":
      return name.args;
    case "local":
    case "member function":
      return argsOf(name.name);
    default:
      return [];
  }
}

function isStructor(name: Node): boolean {
  switch (name.kind) {
    case "qualified":
    case "local":
      return isStructor(name.name);
    case "structor":
    case "conversion":
      return true;
    default:
      return false;
  }
}

/** The last identifier of a name, which its constructors bear. */
export function lastIdentifier(name: Node): string {
  switch (name.kind) {
    case "qualified":
    case "local":
    case "template":
      return lastIdentifier(name.name);
    case "name":
      return name.text.replace(/<.*/, "").replace(/^.*::/, "");
    default:
      return "";
  }
}
