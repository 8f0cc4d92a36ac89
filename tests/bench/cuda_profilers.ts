/** Profilers of CUDA in one load on the strict double: ours, one that reads nothing, `graphsignal`. */

import { command } from "../command.ts";
import { reader, strict } from "../doubles/cupti_strict/build.ts";
import type { StormResult } from "../doubles/cupti_strict/harness.ts";

const LIBRARY = new URL("../../ffi/build/libservice.so", import.meta.url).pathname;
const TOOLKIT = "13.5";
/** Runs of each profiler for one cost. */
const REPEATS = 3;
/** Checks cost time, and so does a clock that is read for each launch. */
const QUICK = { STRICT_CHECKS: "0", STRICT_CLOCK_EVERY: "64", STRICT_DEVICES: "8" };

/** Name of the other product. */
export const PEER = "graphsignal";

/** Paths of what the driver loads; `peer` is null where Python does not have it. */
export interface Profilers {
  nothing: string;
  own: string;
  peer: string | null;
}

/** A cost of each profiler; `peer` is null where it is not installed. */
export interface Figures {
  nothing: number;
  own: number;
  peer: number | null;
}

/** A load, and the cost in its result. */
export interface Comparison {
  /** Folder for segments. */
  directory: string;
  /** Arguments of the load. */
  words: string[];
  cost: (result: StormResult) => number;
  env?: Record<string, string>;
}

/** The profilers that are here. */
export async function findProfilers(): Promise<Profilers> {
  return { nothing: await reader(TOOLKIT), own: LIBRARY, peer: await findPeer() };
}

/** A cost of each profiler, the least of runs in turn: other programs only add to it. */
export async function compare(profilers: Profilers, comparison: Comparison): Promise<Figures> {
  const { nothing, own, peer } = profilers;
  const found: [number[], number[], number[]] = [[], [], []];
  for (let i = 0; i < REPEATS; i++) {
    for (const [which, profiler] of [nothing, own, peer].entries()) {
      if (profiler) found[which]!.push(comparison.cost(await run(profiler, comparison)));
    }
  }
  const [ofNothing, ofOwn, ofPeer] = found.map((costs) => Math.min(...costs));
  return { nothing: ofNothing!, own: ofOwn!, peer: peer ? ofPeer! : null };
}

async function run(
  profiler: string,
  { directory, words, env }: Comparison,
): Promise<StormResult> {
  const { load, libraries } = await strict({ toolkit: TOOLKIT });
  const segments = `${directory}/strict`;
  const child = command([load, ...words], {
    env: {
      ...QUICK,
      CUDA_INJECTION64_PATH: profiler,
      LD_LIBRARY_PATH: libraries,
      READER: "nothing",
      SERVICE_SEGMENTS: `${segments}/cuda`,
      ...env,
    },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const { success, stdout, stderr } = await child.output();
  await remove(segments);
  await remove(`/dev/shm/${PEER}_${child.pid}`);
  const text = new TextDecoder();
  if (!success) throw new Error(`${load} ${words.join(" ")} failed:\n${text.decode(stderr)}`);
  return JSON.parse(text.decode(stdout));
}

/** The library that `graphsignal` injects for CUDA 13. */
async function findPeer(): Promise<string | null> {
  const find = `import importlib.util as u; s = u.find_spec("${PEER}"); ` +
    "print(s.submodule_search_locations[0] if s else '')";
  const found = await command(["python3", "-c", find]).output().catch(() => null);
  if (!found?.success) return null;
  const folder = new TextDecoder().decode(found.stdout).trim();
  const arch = Deno.build.arch === "x86_64" ? "amd64" : "arm64";
  const path = `${folder}/_native/${arch}-cu13/libgscuptiprof.so`;
  return await Deno.stat(path).then(() => path, () => null);
}

async function remove(path: string): Promise<void> {
  await Deno.remove(path, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}
