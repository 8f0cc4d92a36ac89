/** Messages of the profiler on stderr. */

/** Writes a message to the user. */
export function log(message: string): void {
  console.error(`service-run: ${message}`);
}

/** Message of an error, or of any other thrown value. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
