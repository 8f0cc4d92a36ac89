/** Names of the Itanium ABI: nested, local and unqualified ones, template arguments, substitutions. */

import { lastIdentifier, type Node, sequence, text } from "./node.ts";
import { OPERATORS } from "./operators.ts";
import { isDigit, Malformed, type Reader } from "./reader.ts";

/** Abbreviations of the standard library. */
const STANDARD: Readonly<Record<string, Node>> = {
  t: text("std"),
  a: text("std::allocator"),
  b: text("std::basic_string"),
  s: text("std::basic_string<char, std::char_traits<char>, std::allocator<char> >"),
  i: text("std::basic_istream<char, std::char_traits<char> >"),
  o: text("std::basic_ostream<char, std::char_traits<char> >"),
  d: text("std::basic_iostream<char, std::char_traits<char> >"),
};

/** `<name>`: of a function, a variable or a class. */
export function name(reader: Reader): Node {
  if (reader.takes("N")) return nested(reader);
  if (reader.takes("Z")) return local(reader);
  const isStandard = reader.takes("St");
  if (!isStandard && reader.peek() === "S") {
    const known = substitution(reader);
    return reader.peek() === "I" ? withArgs(reader, known) : known;
  }
  const unscoped = reader.grammar.unqualified(reader, null);
  const whole: Node = isStandard
    ? { kind: "qualified", scope: STANDARD.t!, name: unscoped }
    : unscoped;
  return reader.peek() === "I" ? withArgs(reader, reader.remember(whole)) : whole;
}

function withArgs(reader: Reader, name: Node): Node {
  return { kind: "template", name, args: reader.grammar.templateArgs(reader) };
}

/** `<nested-name>` after its `N`. */
function nested(reader: Reader): Node {
  let suffix = qualifiers(reader);
  if (reader.takes("R")) suffix += " &";
  else if (reader.takes("O")) suffix += " &&";
  let whole: Node | null = null;
  while (!reader.takes("E")) {
    // The variable whose initializer a lambda stands in.
    if (whole && reader.takes("M")) continue;
    const next = reader.peek();
    const isSubstitution = next === "S";
    if (next === "I" && whole) whole = withArgs(reader, whole);
    else {
      const part = nestedPart(reader, whole);
      whole = whole ? { kind: "qualified", scope: whole, name: part } : part;
    }
    if (!isSubstitution && reader.peek() !== "E") reader.remember(whole);
  }
  if (!whole && !reader.isOver) throw new Malformed();
  whole ??= CUT;
  return suffix ? { kind: "member function", name: whole, suffix } : whole;
}

function nestedPart(reader: Reader, scope: Node | null): Node {
  switch (reader.peek()) {
    case "S":
      return substitution(reader);
    case "T":
      return parameter(reader);
    case "D":
      if (/[tT]/.test(reader.peek(1))) return reader.grammar.type(reader);
  }
  return reader.grammar.unqualified(reader, scope);
}

/** Qualifiers in front of what they qualify, as they are written behind it. */
export function qualifiers(reader: Reader): string {
  let suffix = "";
  while (true) {
    if (reader.takes("r")) suffix = " restrict" + suffix;
    else if (reader.takes("V")) suffix = " volatile" + suffix;
    else if (reader.takes("K")) suffix = " const" + suffix;
    else if (reader.takes("Do")) suffix = " noexcept" + suffix;
    else if (reader.takes("Dx")) suffix = " transaction_safe" + suffix;
    else return suffix;
  }
}

/** `<local-name>` after its `Z`: something inside a function. */
function local(reader: Reader): Node {
  const scope = withoutResult(reader.grammar.encoding(reader, false));
  reader.expect("E");
  if (reader.takes("s")) {
    discriminator(reader);
    return { kind: "local", scope, name: text("string literal") };
  }
  const place = reader.takes("d") ? reader.ordinal() : null;
  const entity = reader.grammar.name(reader);
  if (entity.kind !== "lambda") discriminator(reader);
  const inside = place === null ? entity : sequence(`{default arg#${place + 1}}::`, entity);
  return { kind: "local", scope, name: inside };
}

function withoutResult(node: Node): Node {
  return node.kind === "named" ? { ...node, type: { ...node.type, result: null } } : node;
}

/** `_1` or `__10_`, which tells equal names in one function apart: not written. */
function discriminator(reader: Reader): void {
  if (!reader.takes("_")) return;
  if (reader.takes("_")) {
    reader.number();
    reader.expect("_");
  } else reader.digits();
}

/** `<unqualified-name>`; constructors are named after `scope`. */
export function unqualified(reader: Reader, scope: Node | null): Node {
  let node = untagged(reader, scope);
  while (reader.takes("B")) node = sequence(node, `[abi:${identifier(reader)}]`);
  return node;
}

/** What is missing of a name that is cut off. */
export const CUT: Node = text("…");

function untagged(reader: Reader, scope: Node | null): Node {
  if (reader.isOver) return CUT;
  const next = reader.peek();
  if (isDigit(next.charCodeAt(0))) return text(identifier(reader));
  if (next >= "a" && next <= "z") return reader.grammar.operator(reader);
  if (next === "C" || next === "D") return structor(reader, scope);
  if (reader.takes("L")) {
    const internal = text(identifier(reader));
    discriminator(reader);
    return internal;
  }
  if (reader.takes("Ul")) return lambda(reader);
  if (reader.takes("Ut")) return unnamed(reader);
  throw new Malformed();
}

/** `<source-name>`: its length, then its characters. */
function identifier(reader: Reader): string {
  const length = reader.number();
  const start = reader.at;
  reader.at = start + length;
  if (reader.form.isCut) reader.at = Math.min(reader.at, reader.text.length);
  if (length === 0 || reader.at > reader.text.length) throw new Malformed();
  const found = reader.text.slice(start, reader.at);
  return /^_GLOBAL_[._$]N/.test(found) ? "(anonymous namespace)" : found;
}

/** `C1`, `D0` and their kind. */
function structor(reader: Reader, scope: Node | null): Node {
  const isDestructor = reader.next() === "D";
  if (!isDestructor) reader.takes("I");
  if (reader.isOver) return CUT;
  const variant = reader.next();
  const owner = scope && lastIdentifier(scope);
  if (!owner || !/[0-5]/.test(variant)) throw new Malformed();
  return { kind: "structor", text: isDestructor ? `~${owner}` : owner };
}

function lambda(reader: Reader): Node {
  const parameters = reader.grammar.parameters(reader);
  reader.expect("E");
  return { kind: "lambda", parameters, number: reader.ordinal() + 1 };
}

function unnamed(reader: Reader): Node {
  return reader.remember(text(`{unnamed type#${reader.ordinal() + 1}}`));
}

/** The operator of a name such as `operator+`. */
export function operator(reader: Reader): Node {
  if (reader.takes("on")) return operator(reader);
  if (reader.takes("cv")) return { kind: "conversion", type: reader.grammar.type(reader) };
  if (reader.takes("li")) return text(`operator"" ${identifier(reader)}`);
  const found = OPERATORS.get(reader.next() + reader.next());
  if (!found) throw new Malformed();
  const space = /^[a-z]/.test(found.text) ? " " : "";
  return text(`operator${space}${found.text.trimEnd()}`);
}

/** `<template-args>`: `I … E`, and a pack: `J … E`. */
export function templateArgs(reader: Reader): readonly Node[] {
  if (!reader.takes("J")) reader.expect("I");
  return reader.untilEnd(templateArg);
}

function templateArg(reader: Reader): Node {
  if (reader.takes("X")) {
    const found = reader.grammar.expression(reader);
    reader.expect("E");
    return found;
  }
  if (reader.peek() === "L") return reader.grammar.literal(reader);
  if (/[IJ]/.test(reader.peek())) {
    return reader.deeper((reader) => ({ kind: "pack", items: templateArgs(reader) }));
  }
  return reader.grammar.type(reader);
}

/** `<template-param>`: `T_`, `T0_` and so on. */
export function parameter(reader: Reader): Node {
  reader.expect("T");
  return { kind: "parameter", index: reader.ordinal() };
}

/** `<substitution>`: a part that was named before, or an abbreviation of the standard library. */
export function substitution(reader: Reader): Node {
  reader.expect("S");
  const standard = STANDARD[reader.peek()];
  if (standard) {
    reader.at++;
    if (reader.peek() !== "B") return standard;
    let tagged = standard;
    while (reader.takes("B")) tagged = sequence(tagged, `[abi:${identifier(reader)}]`);
    return reader.remember(tagged);
  }
  const end = reader.text.indexOf("_", reader.at);
  if (end < 0 && reader.form.isCut) {
    reader.at = reader.text.length;
    return CUT;
  }
  const digits = reader.text.slice(reader.at, end);
  if (end < 0 || !/^[0-9A-Z]{0,4}$/.test(digits)) throw new Malformed();
  reader.at = end + 1;
  const found = reader.substitutions[digits ? parseInt(digits, 36) + 1 : 0];
  if (!found) throw new Malformed();
  return found;
}
