/** A command line as it is published. */

import { redact } from "@service/core/redact";

/** Characters of a command line that are published; a longer one ends in an ellipsis. */
const MAX_COMMAND_LINE = 4_096;

/** The command line of `args` as it is published: quoted, without secrets, of limited length. */
export function commandLine(args: readonly string[]): string {
  const line = redact(args);
  return line.length > MAX_COMMAND_LINE ? `${line.slice(0, MAX_COMMAND_LINE - 1)}…` : line;
}
