/**
 * The endpoint file of a run: where it is read, for others on this host who do not know its port. It is
 * locked for as long as the run lives, so that the file of a run that was killed is recognised.
 */

import { decode, encode, type Tags } from "@service/core";
import { readText } from "../base/files.ts";

/** An endpoint that answers. */
export interface Endpoint {
  /** Base URL. */
  url: string;
  /** Name of the host: the directory may be shared with others. */
  host: string;
  /** The profiler's process. */
  pid: number;
  start_ns: bigint;
  /** Tags of the instance. */
  context: Tags;
}

/** A file that lists the endpoint of a run. */
export interface EndpointFile {
  /** Removes the file. */
  remove(): Promise<void>;
}

const ENDPOINT_FILE = /^[0-9a-f]{12}\.json$/;
const UNFINISHED = /^[0-9a-f]{12}\.json\.tmp$/;

/** A file whose host cannot be asked whether it is in use is removed after so long. */
const ABANDONED_MS = 30 * 24 * 3_600_000;

/** Lists an endpoint in `directory`, and removes what killed runs have left there. */
export async function listEndpoint(directory: string, endpoint: Endpoint): Promise<EndpointFile> {
  await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
  const path = `${directory}/${endpoint.context["instance.id"]}.json`;
  const file = await createLocked(path, `${encode(endpoint)}\n`);
  // Others may be removing them too.
  await readEndpoints({ directory, host: endpoint.host }).catch(() => {});
  return {
    async remove() {
      await Deno.remove(path).catch(() => {});
      file.close();
    },
  };
}

/** Creates a file that is locked before anyone can read it. */
async function createLocked(path: string, text: string): Promise<Deno.FsFile> {
  const unfinished = `${path}.tmp`;
  const file = await Deno.open(unfinished, { createNew: true, write: true, mode: 0o600 });
  try {
    // A file system without locks has none to respect either: nothing there is removed.
    await file.lock(true).catch(() => {});
    await Deno.writeTextFile(unfinished, text);
    await Deno.rename(unfinished, path);
    return file;
  } catch (error) {
    file.close();
    await Deno.remove(unfinished).catch(() => {});
    throw error;
  }
}

/** The endpoints in `directory` of the runs that live on `host`; files of killed runs are removed. */
export async function readEndpoints(
  { directory, host }: { directory: string; host: string },
): Promise<Endpoint[]> {
  const living: Endpoint[] = [];
  for await (const { name } of Deno.readDir(directory)) {
    if (!ENDPOINT_FILE.test(name) && !UNFINISHED.test(name)) continue;
    const path = `${directory}/${name}`;
    const endpoint = parse(readText(path) ?? "");
    const isUsed = await isLocked(path);
    if (isUsed && endpoint?.host === host) living.push(endpoint);
    if (!isUsed && (endpoint?.host === host || await isAbandoned(path))) {
      await Deno.remove(path).catch(() => {});
    }
  }
  return living;
}

/** The endpoint in a file; `null` while it is written. */
function parse(text: string): Endpoint | null {
  try {
    return decode(text) as Endpoint;
  } catch {
    return null;
  }
}

/** Whether a process holds the lock of a file; where locks cannot be had, one may. */
async function isLocked(path: string): Promise<boolean> {
  try {
    // A shared lock, so that those who ask at the same time get the same answer.
    using file = await Deno.open(path, { read: true, write: true });
    return !await file.tryLock(false);
  } catch (error) {
    return !(error instanceof Deno.errors.NotFound);
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const mtime = await Deno.stat(path).then(({ mtime }) => mtime, () => null);
  return mtime !== null && Date.now() - mtime.getTime() > ABANDONED_MS;
}
