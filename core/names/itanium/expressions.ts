/** Expressions of the Itanium ABI, as template arguments and `decltype` have them. */

import { CUT, parameter } from "./names.ts";
import { type Node, sequence, text } from "./node.ts";
import { CASTS, type Operator, OPERATORS } from "./operators.ts";
import { isDigit, Malformed, type Reader } from "./reader.ts";

/** `<expression>`. */
export function expression(reader: Reader): Node {
  return reader.deeper(anyExpression);
}

function anyExpression(reader: Reader): Node {
  if (reader.isOver) return CUT;
  const next = reader.peek();
  if (next === "L") return literal(reader);
  if (next === "T") return parameter(reader);
  if (isDigit(next.charCodeAt(0)) || reader.takes("on")) return memberName(reader);
  const code = next + reader.peek(1);
  const special = SPECIAL.get(code);
  const cast = CASTS.get(code);
  const found = OPERATORS.get(code);
  if (!special && !cast && !found) throw new Malformed();
  reader.at += 2;
  if (special) return special(reader);
  if (cast) {
    const type = reader.grammar.type(reader);
    return sequence(cast, "<", type, ">(", expression(reader), ")");
  }
  return operation(reader, code, found!);
}

/** Expressions that are more than an operator with its operands. */
const SPECIAL: ReadonlyMap<string, (reader: Reader) => Node> = new Map([
  ["ad", addressOf],
  ["cl", call],
  ["cv", conversion],
  ["dt", (reader) => sequence(operand(reader), ".", memberName(reader))],
  ["pt", (reader) => sequence(operand(reader), "->", memberName(reader))],
  ["fL", (reader) => fold(reader, "L")],
  ["fR", (reader) => fold(reader, "R")],
  ["fl", (reader) => fold(reader, "l")],
  ["fp", functionParameter],
  ["fr", (reader) => fold(reader, "r")],
  ["gs", (reader) => sequence("::", expression(reader))],
  ["il", (reader) => ({ kind: "braces", type: null, items: reader.untilEnd(expression) })],
  ["ix", (reader) => sequence(operand(reader), "[", expression(reader), "]")],
  ["nx", (reader) => sequence("noexcept(", expression(reader), ")")],
  ["sP", (reader) => lengthOf({ kind: "pack", items: reader.untilEnd(templateArgument) })],
  ["sZ", (reader) => lengthOf(expression(reader))],
  ["sp", (reader) => ({ kind: "expansion", of: expression(reader) })],
  ["sr", scoped],
  ["st", (reader) => sequence("sizeof (", reader.grammar.type(reader), ")")],
  ["ti", (reader) => sequence("typeid (", reader.grammar.type(reader), ")")],
  ["tl", typedBraces],
]);

function templateArgument(reader: Reader): Node {
  return reader.peek() === "L" ? literal(reader) : reader.grammar.type(reader);
}

function lengthOf(of: Node): Node {
  return { kind: "length", of };
}

function typedBraces(reader: Reader): Node {
  const type = reader.grammar.type(reader);
  return { kind: "braces", type, items: reader.untilEnd(expression) };
}

/** `<expr-primary>`: a number with its type, or a function or variable. */
export function literal(reader: Reader): Node {
  reader.expect("L");
  const isEntity = reader.takes("_Z") || reader.takes("Z");
  const found = isEntity ? reader.grammar.encoding(reader, false) : number(reader);
  reader.expect("E");
  return found;
}

function number(reader: Reader): Node {
  const type = reader.grammar.type(reader);
  if (reader.peek() === "E" && type.kind === "builtin") return type;
  const sign = reader.takes("n") ? "-" : "";
  const start = reader.at;
  const end = reader.text.indexOf("E", start);
  if (end < 0 && !reader.form.isCut) throw new Malformed();
  reader.at = end < 0 ? reader.text.length : end;
  return { kind: "literal", type, sign, digits: reader.text.slice(start, reader.at) };
}

/** A name that belongs to what is before it, with template arguments where it has some. */
function memberName(reader: Reader): Node {
  if (reader.follows("gs") || reader.follows("sr")) return expression(reader);
  const name = reader.grammar.unqualified(reader, null);
  if (reader.peek() !== "I") return name;
  return { kind: "template", name, args: reader.grammar.templateArgs(reader) };
}

/** A member of a type, or of what a name stands for that only the instance of the template tells. */
function scoped(reader: Reader): Node {
  if (reader.form.isModern && isDigit(reader.peek().charCodeAt(0))) {
    return [...reader.untilEnd(memberName), memberName(reader)].reduce(inside);
  }
  const scope = reader.grammar.type(reader);
  return { kind: "qualified", scope, name: memberName(reader) };
}

/** A name in a scope, the template arguments last. */
function inside(scope: Node, name: Node): Node {
  return name.kind === "template"
    ? { ...name, name: inside(scope, name.name) }
    : { kind: "qualified", scope, name };
}

function functionParameter(reader: Reader): Node {
  if (reader.takes("T")) return text("this");
  return text(`{parm#${reader.ordinal() + 1}}`);
}

function conversion(reader: Reader): Node {
  const type = reader.grammar.type(reader);
  const of: Node = reader.takes("_")
    ? sequence("(", { kind: "list", items: reader.untilEnd(expression) }, ")")
    : operand(reader);
  return sequence("(", type, ")", of);
}

/** The address of a function is written without its parameters, unless it is a template's. */
function addressOf(reader: Reader): Node {
  const of = expression(reader);
  return sequence("&", inParentheses(isPlainFunction(of) ? of.name : of));
}

function call(reader: Reader): Node {
  const callee = expression(reader);
  const args = reader.untilEnd(expression);
  const name = callee.kind === "named" ? callee.name : callee;
  return sequence(inParentheses(name), "(", { kind: "list", items: args }, ")");
}

function fold(reader: Reader, direction: "L" | "R" | "l" | "r"): Node {
  const found = OPERATORS.get(reader.next() + reader.next());
  if (!found) throw new Malformed();
  const { text } = found;
  const first = operand(reader);
  switch (direction) {
    case "l":
      return sequence("(...", text, first, ")");
    case "r":
      return sequence("(", first, text, "...)");
    default:
      return sequence("(", first, text, "...", text, operand(reader), ")");
  }
}

function operation(reader: Reader, code: string, { text, operands }: Operator): Node {
  if (operands === 0) return sequence(text);
  if (operands === 1) {
    const isSuffix = (code === "pp" || code === "mm") && !reader.takes("_");
    return isSuffix ? sequence(operand(reader), text) : sequence(text, operand(reader));
  }
  if (code === "qu") {
    return sequence(operand(reader), text, operand(reader), " : ", operand(reader));
  }
  if (operands === 3) throw new Malformed();
  const whole = sequence(operand(reader), text, operand(reader));
  // Otherwise it would end the template's arguments.
  return text === ">" ? sequence("(", whole, ")") : whole;
}

function operand(reader: Reader): Node {
  return inParentheses(expression(reader));
}

function inParentheses(node: Node): Node {
  return ["name", "qualified", "braces"].includes(node.kind) ? node : sequence("(", node, ")");
}

function isPlainFunction(node: Node): node is Extract<Node, { kind: "named" }> {
  return node.kind === "named" && node.name.kind === "qualified" && !node.type.suffix;
}
