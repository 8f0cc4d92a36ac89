/** The native part as the published package carries it: unpacked once into a folder of the user's. */

import { programDirectories } from "../base/directories.ts";

/** Files by their names: what `ffi/build.ts --package` writes for each platform. */
export type NativeFiles = Record<string, { sha256: string; gzip: string }>;

/**
 * Folders with the files of this platform, the best first, or why there is none: one may turn out to
 * be no place for programs, so another follows.
 */
export async function* unpacked(env: Record<string, string>): AsyncGenerator<string | Error> {
  const { os, arch, target } = Deno.build;
  let files: NativeFiles;
  try {
    // Computed, so that no one loads the module of a platform that is not theirs.
    const name = os === "linux" ? arch : os;
    ({ files } = await import(new URL(`../../ffi/build/package/${name}.ts`, import.meta.url).href));
  } catch (error) {
    yield new Error(`this package has no native part for ${target}: ${reason(error)}`);
    return;
  }
  for (const place of programDirectories(env)) {
    yield await unpack(files, place).catch((error) => new Error(reason(error)));
  }
}

/**
 * The folder in `place` that has exactly these files; they are written where they are missing.
 *
 * @throws {Error} If it cannot be written, or others could change it.
 */
export async function unpack(files: NativeFiles, place: string): Promise<string> {
  const digests = Object.values(files).map(({ sha256 }) => sha256).join("\n");
  const folder = `${place}/${await digest(new TextEncoder().encode(digests))}`;
  for (const path of [place, folder]) await ensureOwn(path);
  for (const [name, { sha256, gzip }] of Object.entries(files)) {
    const path = `${folder}/${name}`;
    if (await digestOf(path) === sha256) continue;
    await writeWhole(path, await gunzip(gzip));
    if (await digestOf(path) !== sha256) throw new Error(`${path} is not what was written there`);
  }
  return folder;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function ensureOwn(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  const { isDirectory, uid, mode } = await Deno.lstat(path);
  if (!isDirectory || uid !== Deno.uid() || (mode! & 0o022) !== 0) {
    throw new Error(`${path} is not a folder that only this user can change`);
  }
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const made = `${path}.${crypto.randomUUID()}`;
  try {
    await Deno.writeFile(made, bytes, { createNew: true, mode: 0o700 });
    await Deno.rename(made, path);
  } catch (error) {
    await Deno.remove(made).catch(() => {});
    throw error;
  }
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
