/** Types of the Itanium ABI. */

import { CUT, parameter, qualifiers, substitution } from "./names.ts";
import { type FunctionNode, type Node, sequence, text } from "./node.ts";
import { isDigit, Malformed, type Reader } from "./reader.ts";

function builtin(text: string, literal: string | null = null): Node {
  return { kind: "builtin", text, literal };
}

/** Builtin types by their letter. */
const BUILTINS: ReadonlyMap<string, Node> = new Map([
  ["a", builtin("signed char")],
  ["b", builtin("bool")],
  ["c", builtin("char")],
  ["d", builtin("double")],
  ["e", builtin("long double")],
  ["f", builtin("float")],
  ["g", builtin("__float128")],
  ["h", builtin("unsigned char")],
  ["i", builtin("int", "")],
  ["j", builtin("unsigned int", "u")],
  ["l", builtin("long", "l")],
  ["m", builtin("unsigned long", "ul")],
  ["n", builtin("__int128")],
  ["o", builtin("unsigned __int128")],
  ["s", builtin("short")],
  ["t", builtin("unsigned short")],
  ["v", builtin("void")],
  ["w", builtin("wchar_t")],
  ["x", builtin("long long", "ll")],
  ["y", builtin("unsigned long long", "ull")],
  ["z", builtin("...")],
]);

/** Builtin types by the letter after `D`. */
const MORE_BUILTINS: ReadonlyMap<string, Node> = new Map([
  ["a", builtin("auto")],
  ["c", builtin("decltype(auto)")],
  ["d", builtin("decimal64")],
  ["e", builtin("decimal128")],
  ["f", builtin("decimal32")],
  ["h", builtin("half")],
  ["i", builtin("char32_t")],
  ["n", builtin("decltype(nullptr)")],
  ["s", builtin("char16_t")],
  ["u", builtin("char8_t")],
]);

/** `<type>`. */
export function type(reader: Reader): Node {
  return reader.deeper(anyType);
}

function anyType(reader: Reader): Node {
  if (reader.isOver) return CUT;
  const next = reader.peek();
  const simple = BUILTINS.get(next);
  if (simple) {
    reader.at++;
    return simple;
  }
  if (next === "S") return substitutedType(reader);
  if (next === "D") return extendedType(reader);
  if (isDigit(next.charCodeAt(0)) || next === "N" || next === "Z") {
    return reader.remember(reader.grammar.name(reader));
  }
  return reader.remember(compoundType(reader));
}

function compoundType(reader: Reader): Node {
  switch (reader.peek()) {
    case "r":
    case "V":
    case "K":
      return qualified(reader);
    case "F":
      return functionType(reader, "");
    case "T":
      return parameterType(reader);
    case "A":
      return array(reader);
  }
  switch (reader.next()) {
    case "P":
      return { kind: "pointer", mark: "*", to: type(reader) };
    case "R":
      return { kind: "pointer", mark: "&", to: type(reader) };
    case "O":
      return { kind: "pointer", mark: "&&", to: type(reader) };
    case "M":
      return { kind: "member pointer", owner: type(reader), type: type(reader) };
    case "C":
      return { kind: "suffixed", type: type(reader), suffix: " _Complex" };
    case "G":
      return { kind: "suffixed", type: type(reader), suffix: " _Imaginary" };
    case "U":
      return vendorQualified(reader);
    case "u":
      return reader.grammar.unqualified(reader, null);
    default:
      throw new Malformed();
  }
}

/** Qualifiers and what they qualify; those of a function are behind its parameters. */
function qualified(reader: Reader): Node {
  const suffix = qualifiers(reader);
  if (reader.peek() === "F") return functionType(reader, suffix);
  return { kind: "suffixed", type: type(reader), suffix };
}

function vendorQualified(reader: Reader): Node {
  const name = reader.grammar.unqualified(reader, null);
  const args = reader.peek() === "I" ? reader.grammar.templateArgs(reader) : null;
  const qualifier: Node = args ? { kind: "template", name, args } : name;
  return sequence(type(reader), " ", qualifier);
}

function parameterType(reader: Reader): Node {
  const found = parameter(reader);
  if (reader.peek() !== "I") return found;
  reader.remember(found);
  return { kind: "template", name: found, args: reader.grammar.templateArgs(reader) };
}

/** A type that begins with what was named before, or with a name of the standard library. */
function substitutedType(reader: Reader): Node {
  const isStandardName = reader.follows("St");
  const name = isStandardName ? reader.grammar.name(reader) : substitution(reader);
  if (isStandardName) return reader.remember(name);
  if (reader.peek() !== "I") return name;
  return reader.remember({ kind: "template", name, args: reader.grammar.templateArgs(reader) });
}

/** Types that begin with `D`. */
function extendedType(reader: Reader): Node {
  const simple = MORE_BUILTINS.get(reader.peek(1));
  if (simple) {
    reader.at += 2;
    return simple;
  }
  if (reader.follows("Do") || reader.follows("Dx")) return reader.remember(qualified(reader));
  if (reader.takes("DF")) return floating(reader);
  if (reader.takes("Dt") || reader.takes("DT")) {
    const of = reader.grammar.expression(reader);
    reader.expect("E");
    return reader.remember(sequence("decltype (", of, ")"));
  }
  if (reader.takes("Dp")) return reader.remember({ kind: "expansion", of: type(reader) });
  if (reader.takes("Dv")) return reader.remember(vector(reader));
  throw new Malformed();
}

function floating(reader: Reader): Node {
  const bits = reader.number();
  if (reader.takes("b")) return builtin("std::bfloat16_t");
  if (reader.takes("x")) return builtin(`_Float${bits}x`);
  reader.expect("_");
  return builtin(`_Float${bits}`);
}

function vector(reader: Reader): Node {
  const length = reader.takes("_")
    ? reader.grammar.expression(reader)
    : text(String(reader.number()));
  reader.expect("_");
  return sequence(type(reader), " __vector(", length, ")");
}

function array(reader: Reader): Node {
  reader.expect("A");
  const isNumber = isDigit(reader.peek().charCodeAt(0));
  const isEmpty = reader.peek() === "_";
  const size = isNumber || isEmpty ? text(reader.digits()) : reader.grammar.expression(reader);
  reader.expect("_");
  return { kind: "array", size, of: type(reader) };
}

function functionType(reader: Reader, qualifiers: string): FunctionNode {
  reader.expect("F");
  reader.takes("Y");
  const result = type(reader);
  const parameters = parametersOf(reader);
  const reference = reader.takes("R") ? " &" : reader.takes("O") ? " &&" : "";
  reader.expect("E");
  return { kind: "function", result, parameters, suffix: qualifiers + reference };
}

/** Types of parameters up to what ends them; `(void)` has none. */
export function parametersOf(reader: Reader): readonly Node[] {
  const found: Node[] = [];
  while (!/^(?:$|[E.]|[RO]E)/.test(reader.peek() + reader.peek(1))) found.push(type(reader));
  return found.length === 1 && found[0] === BUILTINS.get("v") ? [] : found;
}
