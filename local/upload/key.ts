/** The key of the hosted API: a constant, or that of a file, which may be replaced while the run goes on. */

import { errorText } from "../base/log.ts";

/** Reads the key as it is now; its error says why there is none. */
export type ReadKey = () => Promise<string>;

/** A key is shorter; another file was named if this is not enough for one. */
const MAX_BYTES = 4_096;

/** Reads the key in a file: its first line that is not empty. */
export function keyInFile(path: string): ReadKey {
  return async () => {
    const key = (await begin(path)).split("\n").map((line) => line.trim()).find((line) => line);
    if (key === undefined) throw new Error(`Cannot read the key: ${path} is empty`);
    if (!/^[!-~]+$/.test(key)) {
      throw new Error(`Cannot use the key in ${path}: it must be one word of ASCII characters`);
    }
    return key;
  };
}

async function begin(path: string): Promise<string> {
  try {
    using file = await Deno.open(path);
    const bytes = new Uint8Array(MAX_BYTES);
    const length = await file.read(bytes) ?? 0;
    return new TextDecoder().decode(bytes.subarray(0, length));
  } catch (error) {
    throw new Error(`Cannot read the key: ${errorText(error)}`);
  }
}
