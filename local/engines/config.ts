/**
 * Flags in the file of an engine's `--config`: only plain values at the top level of YAML are read. A
 * file with a port or a host in another form is not understood.
 */

const SCALAR =
  /^(["']?)([\w-]+)\1:[ \t]+(?:"([^"\n]*)"|'([^'\n]*)'|([^\s#&*!|>"'[{][^\n]*?))[ \t]*(?:[ \t]#.*)?$/gm;

/** A port or a host whose value is an anchor, an alias, a tag, a block or a collection. */
const NOT_PLAIN = /^(["']?)(?:port|host)\1:[ \t]+[&*!|>[{]/m;

/** The flags of a YAML file by name (`--port`); `null` for a file that is not understood. */
export function readEngineConfig(text: string): Record<string, string> | null {
  if (/^\s*[[{]/.test(text) || NOT_PLAIN.test(text)) return null;
  return Object.fromEntries(
    Array.from(text.replaceAll("\r", "").matchAll(SCALAR), ([, , name, double, single, plain]) => [
      `--${name!.replaceAll("_", "-")}`,
      double ?? single ?? plain!,
    ]),
  );
}
