/** Real headers of NVML on this machine, and the declarations of a header, as a compiler sees them. */

import { run } from "../../command.ts";
import { compiler } from "../cuda/build.ts";
import { temporaryDirectory } from "../../temporary_directory.ts";

/** What a header declares, by name. */
export interface Declarations {
  /** Numbers; those of other kinds (strings, macros with parameters) are not here. */
  constants: Set<string>;
  /** Fields of each structure; those of nested ones as `outer.inner`. */
  structures: Map<string, string[]>;
  /** Types of the parameters, enumerations as `int`. */
  functions: Map<string, string>;
}

/**
 * Files `nvml.h`: of `$NVML_HEADERS` (separated by `:`), the toolkit of `$CUDA_HOME`, and the wheels that
 * python3 sees.
 */
export async function findHeaders(): Promise<string[]> {
  const given = Deno.env.get("NVML_HEADERS")?.split(":").filter((path) => path !== "") ?? [];
  const toolkit = `${Deno.env.get("CUDA_HOME") ?? "/usr/local/cuda"}/include/nvml.h`;
  return [...given, toolkit, ...await inWheels()].filter(isFile);
}

async function inWheels(): Promise<string[]> {
  const program = "import glob, sysconfig\n" +
    "root = sysconfig.get_paths()['purelib'] + '/nvidia/'\n" +
    "print('\\n'.join(glob.glob(root + '*/include/nvml.h')))";
  try {
    const { stdout } = await run(["python3", "-c", program]);
    return stdout.split("\n").filter((line) => line !== "");
  } catch {
    return [];
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** The declarations in the text of a header, ours or NVIDIA's. */
export function readDeclarations(header: string): Declarations {
  const text = header.replace(/\\\n/g, " ").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, " ");
  const types = new Map<string, string>();
  const constants = new Set<string>();
  const structures = new Map<string, string[]>();
  for (const [, name] of text.matchAll(/^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+[^\s]/gm)) {
    constants.add(name!);
  }
  for (const [, body, name] of text.matchAll(/\benum\b[^{;]*\{([^}]*)\}\s*(\w*)/g)) {
    for (const [constant] of body!.matchAll(/\b[A-Za-z_]\w*(?=\s*(=|,|$))/g)) {
      constants.add(constant);
    }
    if (name) types.set(name, "int");
  }
  const structure = /\btypedef\s+(?:struct|union)\b[^{;]*\{((?:[^{}]|\{[^{}]*\})*)\}\s*(\w+)/g;
  for (const [, body, name] of text.matchAll(structure)) structures.set(name!, fieldsOf(body!));
  for (const [, type, name] of text.matchAll(/\btypedef\s+([\w ]+?)\s+(\w+)\s*;/g)) {
    types.set(name!, type!);
    const fields = structures.get(type!);
    if (fields) structures.set(name!, fields);
  }
  for (const name of structures.keys()) types.delete(name);
  return { constants, structures, functions: functionsOf(text, types) };
}

function fieldsOf(body: string): string[] {
  const fields: string[] = [];
  const member = /\s*(?:struct|union)\b[^{;]*\{([^}]*)\}\s*(\w+)|([^;{}]+)/g;
  for (const [, inner, outer, plain] of body.matchAll(member)) {
    if (outer) fields.push(outer, ...fieldsOf(inner!).map((name) => `${outer}.${name}`));
    else {fields.push(...Array.from(plain!.matchAll(/(\w+)\s*(\[[^\]]*\]\s*)*(?=,|$)/g), (m) =>
        m[1]!));}
  }
  return fields;
}

const C_TYPES = new Set(["void", "char", "short", "int", "long", "unsigned", "signed", "double"]);

/** Ours are rows of a table, `FUNCTION(name, (types))`; NVIDIA's are prototypes with names of parameters. */
function functionsOf(text: string, types: ReadonlyMap<string, string>): Map<string, string> {
  const ours = text.matchAll(/\bFUNCTION\((nvml\w+), \(([^)]*)\)\)/g);
  const theirs = text.matchAll(/\bDECLDIR\s+(nvml\w+)\s*\(([^)]*)\)/g);
  const resolved = (name: string): string => {
    const type = types.get(name);
    return type && type !== name && !type.startsWith("struct") ? resolved(type) : name;
  };
  return new Map([...ours, ...theirs].map(([, name, parameters]) => [
    name!,
    parameters!.split(",").map((parameter) => {
      const words = parameter.match(/\w+/g)!.filter((word) => word !== "const");
      if (words.length > 1 && !C_TYPES.has(words.at(-1)!)) words.pop();
      return resolved(words.join(" ")) + "*".repeat(parameter.match(/[*[]/g)?.length ?? 0);
    }).join(", "),
  ]));
}

/** Values of constants, places and sizes of fields, and sizes of structures, with `header` included. */
export async function evaluate(
  header: string,
  { constants, structures }: Pick<Declarations, "constants" | "structures">,
): Promise<Map<string, string>> {
  const lines = [...constants].map((name) => `    SHOW("${name}", ${name});`);
  for (const [name, fields] of structures) {
    lines.push(`    SHOW("${name}", sizeof(${name}));`);
    for (const field of fields) {
      lines.push(`    SHOW("${name}.${field}", offsetof(${name}, ${field}));`);
      lines.push(`    SHOW("${name}.${field}: size", sizeof(((${name} *)0)->${field}));`);
    }
  }
  await using directory = await temporaryDirectory();
  const program = `${directory.path}/show`;
  await Deno.writeTextFile(
    `${program}.c`,
    `#include <stddef.h>\n#include <stdio.h>\n#include "${header}"\n` +
      `#define SHOW(name, value) printf("%s %llu\\n", name, (unsigned long long)(value))\n` +
      `int main(void) {\n${lines.join("\n")}\n}\n`,
  );
  const { status, stderr } = await run([compiler!, "-w", `${program}.c`, "-o", program]);
  if (!status.success) throw new Error(`Cannot compile with ${header}: ${stderr}`);
  const { stdout } = await run([program]);
  return new Map(
    stdout.trim().split("\n").map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
}
