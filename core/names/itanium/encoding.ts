/** Encodings of the Itanium ABI: a function's name with its type, or a variable. */

import { type FunctionNode, hasResult, type Node, sequence } from "./node.ts";
import { Malformed, type Reader } from "./reader.ts";

/** `<encoding>`: of the symbol itself, or of a function in whose name or arguments it is. */
export function encoding(reader: Reader, isTop: boolean): Node {
  return reader.deeper((reader) => anyEncoding(reader, isTop));
}

function anyEncoding(reader: Reader, isTop: boolean): Node {
  const name = reader.grammar.name(reader);
  if (/^[E.]?$/.test(reader.peek())) return name;
  const isStated = hasResult(name) || reader.takes("J");
  const result = isStated ? reader.grammar.type(reader) : null;
  const parameters = reader.grammar.parameters(reader);
  // What surrounds a name in a function does not repeat that function's result.
  const isHidden = !isTop && name.kind === "local";
  const type: FunctionNode = {
    kind: "function",
    result: isHidden ? null : result,
    parameters,
    suffix: suffixOf(name),
  };
  return { kind: "named", name: withoutSuffix(name), type };
}

function suffixOf(name: Node): string {
  if (name.kind === "member function") return name.suffix;
  return name.kind === "local" ? suffixOf(name.name) : "";
}

/** The name without the qualifiers of a member function, which stand behind the parameters. */
function withoutSuffix(name: Node): Node {
  if (name.kind === "member function") return name.name;
  return name.kind === "local" ? { ...name, name: withoutSuffix(name.name) } : name;
}

/** `<mangled-name>`: the whole symbol, with what compilers add to copies of a function. */
export function mangledName(reader: Reader): Node {
  reader.expect("_Z");
  const found = reader.grammar.encoding(reader, true);
  const parts: (string | Node)[] = [found];
  const copies = /(?:\.(?:[a-zA-Z_]+|\d+)(?:\.\d+)*)*$/y;
  copies.lastIndex = reader.at;
  const suffix = copies.exec(reader.text)?.[0];
  if (suffix === undefined) throw new Malformed();
  for (const [copy] of suffix.matchAll(/\.(?:[a-zA-Z_]+|\d+)(?:\.\d+)*/g)) {
    parts.push(` [clone ${copy}]`);
  }
  return parts.length > 1 ? sequence(...parts) : found;
}
