/** Text of a demangled name, as `c++filt` writes it. */

import { argsOf, type FunctionNode, type Node, type PointerNode } from "./node.ts";
import { Malformed } from "./reader.ts";

/** Characters of a demangled name: real ones have up to some 20,000. */
const MAX_LENGTH = 65_536;

/** Parts that are written, those written repeatedly counted each time. */
const MAX_PARTS = 50_000;

/** Nested parts: those of the symbol, deeper by what template parameters stand for. */
const MAX_DEPTH = 400;

/** Text of a name. Throws {@linkcode Malformed} past a limit. */
export function print(node: Node): string {
  return new Printer().text(node);
}

/** The function that is written: what its template's parameters stand for. */
interface Scope {
  /** `null` in a lambda's parameters, where they are `auto`. */
  args: readonly Node[] | null;
  /** Where the arguments themselves were written. */
  outer: Scope | null;
  /** Texts of templates: they are what appears again and again. */
  texts: Map<Node, string>;
}

class Printer {
  #parts = 0;
  #depth = 0;
  /** Which argument of the packs is written; -1 outside of an expansion. */
  #index = -1;
  /** Number of arguments of the pack last seen in an expansion. */
  #count: number | null = null;
  #scope: Scope = { args: [], outer: null, texts: new Map() };

  /** The whole of a part. */
  text(node: Node): string {
    const left = this.#left(node);
    return isDeclarator(node) ? left + this.#right(node) : left;
  }

  /** What stands before the name of an object of this type; of other parts the whole. */
  #left(node: Node): string {
    if (++this.#parts > MAX_PARTS || ++this.#depth > MAX_DEPTH) throw new Malformed();
    const written = this.#write(node);
    if (written.length > MAX_LENGTH) throw new Malformed();
    this.#depth--;
    return written;
  }

  #write(node: Node): string {
    switch (node.kind) {
      case "name":
      case "builtin":
      case "structor":
        return node.text;
      case "qualified":
      case "local":
        return `${this.text(node.scope)}::${this.text(node.name)}`;
      case "template":
        return this.#template(node);
      case "pack":
      case "list":
        return this.#list(node.items);
      case "parameter":
        return this.#parameter(node.index, (found) => this.#left(found));
      case "expansion":
        return this.#expansion(node.of);
      case "length":
        return this.#length(node.of);
      case "named":
        return this.#named(node);
      case "member function":
        return this.text(node.name) + node.suffix;
      case "function":
        return this.#result(node);
      case "suffixed":
        return this.#suffixed(this.#left(node.type), node.suffix);
      case "pointer":
        return this.#pointee(node, (to, mark) => this.#opening(to, false) + mark);
      case "member pointer":
        return this.#opening(node.type, true) + `${this.text(node.owner)}::*`;
      case "array":
        return this.#left(node.of);
      case "lambda":
        return this.#inside(null, () => `{lambda(${this.#list(node.parameters)})#${node.number}}`);
      case "conversion":
        return `operator ${this.text(node.type)}`;
      case "literal":
        return this.#literal(node);
      case "braces":
        return `${node.type ? this.text(node.type) : ""}{${this.#list(node.items)}}`;
      case "sequence":
        return node.parts.map((part) => typeof part === "string" ? part : this.text(part)).join("");
    }
  }

  /** What stands behind the name of an object of this type. */
  #right(node: Node): string {
    if (++this.#parts > MAX_PARTS) throw new Malformed();
    switch (node.kind) {
      case "parameter":
        return this.#parameter(node.index, (found) => this.#right(found));
      case "suffixed":
        return this.#right(node.type);
      case "pointer":
        return this.#pointee(node, (to) => this.#closing(to));
      case "member pointer":
        return this.#closing(node.type);
      case "function":
        return `(${this.#list(node.parameters)})${node.suffix}` +
          (node.result ? this.#right(node.result) : "");
      case "array": {
        const rest = this.#right(node.of);
        return ` [${this.text(node.size)}]${rest.startsWith(" [") ? rest.slice(1) : rest}`;
      }
      default:
        return "";
    }
  }

  #named({ name, type }: Extract<Node, { kind: "named" }>): string {
    const args = argsOf(name);
    const write = () => this.#left(type) + this.text(name) + this.#right(type);
    return args.length > 0 ? this.#inside(args, write) : write();
  }

  /** What `write` answers where the template's parameters stand for `args`. */
  #inside<T>(args: readonly Node[] | null, write: () => T): T {
    return this.#at({ args, outer: this.#scope, texts: new Map() }, write);
  }

  #at<T>(scope: Scope, write: () => T): T {
    const outer = this.#scope;
    this.#scope = scope;
    const written = write();
    this.#scope = outer;
    return written;
  }

  /** A function's result, and a space where the name follows it directly. */
  #result({ result }: FunctionNode): string {
    if (!result) return "";
    return this.#left(result) + (this.#right(result) ? "" : " ");
  }

  #pointer({ to, mark }: PointerNode): string {
    return this.#opening(to, false) + mark;
  }

  /** A type before `*`: functions and arrays need parentheses. */
  #opening(to: Node, isMember: boolean): string {
    const left = this.#left(to);
    const inner = this.#shape(to);
    if (inner === "function") return `${left}(`;
    if (inner === "array") return `${left} (`;
    return isMember ? `${left} ` : left;
  }

  #closing(to: Node): string {
    return (this.#shape(to) ? ")" : "") + this.#right(to);
  }

  /** Whether a type is a function or an array, behind parameters and qualifiers. */
  #shape(node: Node): "function" | "array" | null {
    if (node.kind === "parameter") {
      return this.#parameter(node.index, (found) => this.#shape(found));
    }
    if (node.kind === "suffixed") return this.#shape(node.type);
    return node.kind === "function" || node.kind === "array" ? node.kind : null;
  }

  /** What a pointer or reference is to; a reference to a reference is one reference. */
  #pointee<T>({ to, mark }: PointerNode, write: (to: Node, mark: string) => T): T {
    if (mark !== "*" && to.kind === "parameter") {
      return this.#parameter(to.index, (found) => {
        return this.#pointee({ kind: "pointer", mark, to: found }, write);
      });
    }
    if (mark === "*" || to.kind !== "pointer" || to.mark === "*") return write(to, mark);
    const both = mark === "&&" && to.mark === "&&" ? "&&" : "&";
    return this.#pointee({ kind: "pointer", mark: both, to: to.to }, write);
  }

  /** What `write` answers for what a template's parameter stands for, in the place where that was written. */
  #parameter<T>(index: number, write: (found: Node) => T): T {
    if (++this.#parts > MAX_PARTS) throw new Malformed();
    const { args, outer } = this.#scope;
    if (!args) return write({ kind: "name", text: `auto:${index + 1}` });
    const found = args[index];
    if (!found || !outer) throw new Malformed();
    return this.#at(outer, () => write(this.#item(found)));
  }

  /** The argument of a pack that is to be written. */
  #item(found: Node): Node {
    if (found.kind !== "pack" || this.#index < 0) return found;
    this.#count = found.items.length;
    return found.items[this.#index] ?? NOTHING;
  }

  #expansion(of: Node): string {
    const [index, count] = [this.#index, this.#count];
    this.#index = 0;
    this.#count = null;
    let written = this.text(of);
    const found = this.#count as number | null;
    if (found === null) written += "...";
    else if (found === 0) written = "";
    for (let at = 1; at < (found ?? 0); at++) {
      this.#index = at;
      written += `, ${this.text(of)}`;
    }
    this.#index = index;
    this.#count = count;
    return written;
  }

  #length(of: Node): string {
    const found = of.kind === "parameter" ? this.#scope.args?.[of.index] : of;
    return found?.kind === "pack" ? String(found.items.length) : `sizeof...(${this.text(of)})`;
  }

  #template(node: Extract<Node, { kind: "template" }>): string {
    const { texts } = this.#scope;
    const known = this.#index < 0 ? texts.get(node) : undefined;
    if (known !== undefined) return known;
    const name = this.text(node.name);
    const written = node.args.map((item) => this.text(item));
    const isTrimmed = trim(written);
    const args = written.join(", ");
    // `c++filt` separates `>>`, but does not look behind an empty pack that it has left out.
    const end = args.endsWith(">") && !isTrimmed ? " >" : ">";
    const whole = `${name}${name.endsWith("<") ? " " : ""}<${args}${end}`;
    if (this.#index < 0) texts.set(node, whole);
    return whole;
  }

  #list(items: readonly Node[]): string {
    const written = items.map((item) => this.text(item));
    trim(written);
    return written.join(", ");
  }

  /** A parameter of a template may stand for a type that is const already. */
  #suffixed(left: string, suffix: string): string {
    return left.endsWith(suffix) ? left : left + suffix;
  }

  #literal({ type, sign, digits }: Extract<Node, { kind: "literal" }>): string {
    if (type.kind === "builtin") {
      if (type.literal !== null) return sign + digits + type.literal;
      if (type.text === "bool" && !sign && /^[01]$/.test(digits)) {
        return digits === "1" ? "true" : "false";
      }
      if (/float|double/.test(type.text)) return `(${type.text})${sign}[${digits}]`;
    }
    return `(${this.text(type)})${sign}${digits}`;
  }
}

const NOTHING: Node = { kind: "name", text: "" };

/** Leaves out empty packs at the end of a list; answers whether there were any. */
function trim(written: string[]): boolean {
  const { length } = written;
  while (written.length > 1 && written.at(-1) === "") written.pop();
  return written.length < length;
}

function isDeclarator({ kind }: Node): boolean {
  switch (kind) {
    case "parameter":
    case "suffixed":
    case "pointer":
    case "member pointer":
    case "function":
    case "array":
      return true;
    default:
      return false;
  }
}
