/** The plain text of a console line: without colours, control characters and progress bars. */

const decoder = new TextDecoder();

/** The line's text; `null` if it is only a progress bar. */
export function plainText(line: Uint8Array): string | null {
  const raw = decoder.decode(line);
  const text = raw.replace(ANSI, "").replace(CONTROLS, "");
  const rest = text.replace(BAR, "");
  return rest === "" && text !== "" ? null : rest.trimEnd();
}

/** CSI, OSC and two-byte escape sequences. */
const ANSI =
  // deno-lint-ignore no-control-regex
  /\x1b(?:\[[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78cDEHM])/g;

// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** A tqdm bar; a log line may follow it on the same line. */
const BAR = /^[^|]{0,200}?\d{1,3}%\|[^|]{0,500}\| [^[\]]{0,100}\[[^\]]{0,100}\]/;
