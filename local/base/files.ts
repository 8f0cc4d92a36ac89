/** Text of a file that may not be there; `null` where it cannot be read. */
export function readText(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return null;
  }
}
