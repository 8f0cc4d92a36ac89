/** Pollers that a test commands, and runs that read what they publish. */

import type { Series, Tags, Window } from "@service/core";
import { rounded } from "@service/core/sum";
import { SECOND_NS } from "@service/core/time";
import { missingCompiler, type Test, testUnless } from "../../../../tests/skipping.ts";
import { buildWriter, startWriter } from "../../../../tests/segment/writer.ts";
import { temporaryDirectory } from "../../../../tests/temporary_directory.ts";
import { createProcFiles } from "../../../base/proc_files.ts";
import { parseStat } from "../../../base/proc_text.ts";
import { Recorder } from "../../recorder.ts";
import { createDeviceSource } from "../source.ts";

const built = await Deno.makeTempDir({ prefix: "service-test-" });
addEventListener("unload", () => Deno.removeSync(built, { recursive: true }));
const program = await buildWriter(built) ?? "";
/** Registers a test that needs the writer of segments. */
export const test: Test = testUnless(missingCompiler(program));

/** A device's tags. */
export const DEVICE = { "device.uuid": "GPU-1", "device.bus_id": "00000000:0D:00.0" };
/** Those of another one. */
export const OTHER = { "device.uuid": "GPU-2", "device.bus_id": "00000000:1F:00.0" };

const TYPES = { gauge: 0, counter: 1 };

/** A process that writes a segment as a poller does. */
export async function startPoller(directory: string) {
  const writer = await startWriter(program, directory);
  const cells = new Map<string, number>();
  return {
    pid: writer.pid,
    kill: writer.kill,
    tell: writer.tell,
    /** Sets a series to a / b. */
    async set(type: keyof typeof TYPES, name: string, tags: Tags, [a, b = 1]: (number | bigint)[]) {
      const words = Object.entries(tags).flat();
      const key = [name, TYPES[type], ...words].join(" ");
      const cell = cells.get(key) ??
        await writer.tell(`cell ${await writer.tell(`series ${key}`)} 0`);
      cells.set(key, cell);
      await writer.tell(`set ${cell} ${a} ${b}`);
    },
    /** Publishes a poll of a device that ended at `polled_ns`. */
    async publish(polled_ns: bigint, device: Tags = DEVICE) {
      await this.set("gauge", "polled", device, [polled_ns]);
      await writer.tell("publish");
    },
    async list(...devices: Tags[]) {
      for (const device of devices) await this.set("gauge", "listed", device, [1]);
      await writer.tell("state 1");
      await writer.tell("publish");
    },
    [Symbol.asyncDispose]: () => writer[Symbol.asyncDispose](),
  };
}

/** A run whose own poller is the process `pid`; its clock stands until it is set. */
export function watch(directory: string, pid: number, env: Record<string, string> = {}) {
  const { start_ticks } = parseStat(createProcFiles().text(`${pid}/stat`)!)!;
  const own = { pid, start_ticks: BigInt(start_ticks) };
  let now_ns = BigInt(Date.now()) * 1_000_000n;
  const source = createDeviceSource({ directories: [directory], own, start_ns: now_ns, env });
  const recorder = new Recorder(0n, () => now_ns);
  return {
    get now_ns() {
      return now_ns;
    },
    async tick(seconds = 1): Promise<Window> {
      now_ns += BigInt(seconds) * SECOND_NS;
      await source.sample(recorder);
      return recorder.cut(now_ns);
    },
    [Symbol.dispose]: () => source[Symbol.dispose](),
  };
}

/** A directory, a poller that lists {@linkcode DEVICE}, and the run it belongs to. */
export async function scene() {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const path = `${directory.path}/a/devices`;
  const poller = stack.use(await startPoller(path));
  await poller.list(DEVICE);
  const mps = `${directory.path}/mps`;
  const run = stack.use(watch(path, poller.pid, { CUDA_MPS_PIPE_DIRECTORY: mps }));
  const moved = stack.move();
  return { path, mps, poller, run, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/** Series of a window by name and type. */
export function find<Type extends Series["type"]>(window: Window, name: string, type: Type) {
  return [...window.series.values()].filter((series): series is Extract<Series, { type: Type }> =>
    series.name === name && series.type === type
  );
}

/** Value of the first gauge of that name. */
export function gauge(window: Window, name: string): number | undefined {
  const [series] = find(window, name, "gauge");
  return series && Number(series.value);
}

/** Increase of the first counter of that name. */
export function increase(window: Window, name: string): number | undefined {
  const [series] = find(window, name, "counter");
  return series && rounded(series.total);
}

/** What a window tells. */
export function messages({ errors }: Window): string[] {
  return errors.map(({ message }) => message);
}
