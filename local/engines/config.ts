/** Flags that an engine's file of `--config` gives. */

const SCALAR =
  /^(["']?)([\w-]+)\1:[ \t]+(?:"([^"\n]*)"|'([^'\n]*)'|([^\s#&*!|>"'[{][^\n]*?))[ \t]*(?:[ \t]#.*)?$/gm;

/**
 * The flags of a YAML file by name (`--port`): of its top level, and only those whose value is plain.
 * `null` for a file in another form.
 */
export function readEngineConfig(text: string): Record<string, string> | null {
  if (/^\s*[[{]/.test(text)) return null;
  return Object.fromEntries(
    Array.from(text.replaceAll("\r", "").matchAll(SCALAR), ([, , name, double, single, plain]) => [
      `--${name!.replaceAll("_", "-")}`,
      double ?? single ?? plain!,
    ]),
  );
}
