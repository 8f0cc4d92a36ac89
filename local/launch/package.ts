/** The native part as the published package carries it, unpacked once into a directory of the user. */

import { programDirectories } from "../base/directories.ts";
import { makePrivateDirectory, writeWhole } from "../base/files.ts";
import { errorText } from "../base/log.ts";

/** Files by their names: what `ffi/build.ts --package` writes for each platform. */
export type NativeFiles = Record<string, { sha256: string; gzip: string }>;

/**
 * Directories with the files of this platform, the best first, or the error that there is none: one may
 * turn out to allow no programs, so another follows.
 */
export async function* unpacked(env: Record<string, string>): AsyncGenerator<string | Error> {
  const { os, arch, target } = Deno.build;
  let files: NativeFiles;
  try {
    // Computed, so that no platform loads the module of another.
    const name = os === "linux" ? arch : os;
    ({ files } = await import(new URL(`../../ffi/build/package/${name}.ts`, import.meta.url).href));
  } catch (error) {
    yield new Error(`this package has no native part for ${target}: ${errorText(error)}`);
    return;
  }
  for (const directory of programDirectories(env)) {
    yield await unpack(files, directory).catch((error) => new Error(errorText(error)));
  }
}

/**
 * The folder in `directory` that has exactly these files; missing ones are written.
 *
 * @throws {Error} If it cannot be written, or others could change it.
 */
export async function unpack(files: NativeFiles, directory: string): Promise<string> {
  const digests = Object.values(files).map(({ sha256 }) => sha256).join("\n");
  const folder = `${directory}/${await digest(new TextEncoder().encode(digests))}`;
  for (const path of [directory, folder]) makePrivateDirectory(path);
  for (const [name, { sha256, gzip }] of Object.entries(files)) {
    const path = `${folder}/${name}`;
    if (await digestOf(path) === sha256) continue;
    await writeWhole(path, await gunzip(gzip), 0o700);
    if (await digestOf(path) !== sha256) throw new Error(`${path} is not what was written there`);
  }
  return folder;
}

async function digestOf(path: string): Promise<string | undefined> {
  try {
    return await digest(await Deno.readFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

function gunzip(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  const compressed = new Blob([Uint8Array.fromBase64(base64)]).stream();
  return new Response(compressed.pipeThrough(new DecompressionStream("gzip"))).bytes();
}
