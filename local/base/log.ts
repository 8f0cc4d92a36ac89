/** Messages of the profiler on stderr. */

/** Writes a message to the user. */
export function log(message: string): void {
  console.error(`service-run: ${message}`);
}

/** The text of whatever was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
