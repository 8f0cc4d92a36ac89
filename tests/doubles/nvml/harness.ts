/** Processes that poll the devices of the fake driver, and what they publish. */

import assert from "node:assert/strict";
import type { Tags } from "@service/core";
import { Segment, type SegmentCall } from "../../../local/sources/segments/segment.ts";
import { SEGMENT_NAME } from "../../../local/sources/segments/segments.ts";
import { CellValues } from "../../../local/sources/segments/values.ts";
import { type Ended, inTime, start, type Started } from "../../command.ts";
import { temporaryDirectory } from "../../temporary_directory.ts";
import type { Sanitizer } from "../cuda/build.ts";
import { SANITIZER_ENVIRONMENT } from "../cuda/harness.ts";
import { driver, host, pollerLibrary } from "./build.ts";

/** How often a condition is looked at again. */
const LOOK_AGAIN_MS = 20;
/** Several times what the slowest condition needs. */
const DEADLINE_MS = 30_000;

/** A value that is measured at present. */
export interface Reading {
  name: string;
  tags: Tags;
  value: number;
}

/** What a segment says. */
export interface Published {
  state: string;
  reason: string;
  readings: Reading[];
  /** The call under way. */
  call: SegmentCall | null;
}

/** Options of a {@linkcode Bench}. */
export interface BenchOptions {
  sanitizer?: Sanitizer;
  /** Functions that the driver lacks. */
  lacking?: readonly string[];
  /** The driver's library instead of the fake one. */
  driver?: string;
  /** How many times as fast time passes for the poller, 10 by default. */
  speed?: number;
}

/** A scenario; it fails if the poller does not do as it must. */
export type Scenario = (options: BenchOptions) => Promise<void>;

/** A process that polls. */
export interface Poller {
  readonly started: Started;
  /** What it publishes, as soon as `condition` holds for it. */
  until(condition: (published: Published) => boolean): Promise<Published>;
  /** Ends it as the watcher does; its exit status and output. */
  stop(): Promise<Ended>;
}

/** A directory with a script of the driver, shared by all that poll there. */
export interface Bench extends AsyncDisposable {
  /** Replaces the script. */
  script(lines: string): Promise<void>;
  poll(): Promise<Poller>;
  /** The calls so far, as `FUNCTION DEVICE`. */
  calls(): Promise<string[]>;
}

/** Environment of a poller whose seconds are `factor` times as short. */
export function faster(factor: number): Record<string, string> {
  return { FAST_TIME: String(factor) };
}

/** A bench with its first script. */
export async function openBench(lines: string, options: BenchOptions = {}): Promise<Bench> {
  const { sanitizer, lacking, speed = 10 } = options;
  const directory = await temporaryDirectory();
  const at = (name: string) => `${directory.path}/${name}`;
  const pollers: Started[] = [];
  async function script(lines: string) {
    await Deno.writeTextFile(at("new"), lines);
    await Deno.rename(at("new"), at("script"));
  }
  await script(lines);
  const words = [
    ...[await host(sanitizer), await pollerLibrary(sanitizer)],
    ...[at("shared/devices"), options.driver ?? await driver({ sanitizer, lacking })],
  ];
  return {
    script,
    async poll() {
      const started = start(words, {
        ...SANITIZER_ENVIRONMENT,
        ...faster(speed),
        FAKE_NVML: at("script"),
        FAKE_NVML_LOG: at("log"),
      });
      pollers.push(started);
      await started.stdout.match(/^(0) /m);
      return pollerOf(started, at("shared/devices"));
    },
    async calls() {
      return (await Deno.readTextFile(at("log"))).trim().split("\n");
    },
    async [Symbol.asyncDispose]() {
      for (const started of pollers) {
        const { status, stderr } = await stop(started);
        assert(status.success || status.signal === "SIGKILL", stderr);
        assert.equal(stderr, "");
      }
      await directory[Symbol.asyncDispose]();
    },
  };
}

function stop(started: Started): Promise<Ended> {
  try {
    started.process.kill("SIGTERM");
  } catch {
    // It has ended.
  }
  return inTime(started, started.ended);
}

/** What a started poller publishes below a directory. */
export function pollerOf(started: Started, directory: string): Poller {
  return {
    started,
    async until(condition) {
      const deadline_ms = performance.now() + DEADLINE_MS;
      for (;;) {
        const published = read(directory, started.process.pid);
        if (published && condition(published)) return published;
        if (performance.now() > deadline_ms) {
          const now = Deno.inspect(published, { depth: 4, iterableLimit: 1_000 });
          throw new Error(`Cannot wait longer than ${DEADLINE_MS} ms: ${now}`);
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      }
    },
    stop: () => stop(started),
  };
}

/** What the process with this pid publishes at present. */
function read(directory: string, pid: number): Published | null {
  for (const { name } of Deno.readDirSync(directory)) {
    if (!SEGMENT_NAME.test(name) || !name.startsWith(`${pid}-`)) continue;
    using segment = Segment.open(`${directory}/${name}`);
    const reading = segment?.read(true);
    if (!segment || !reading) return null;
    const values = new CellValues();
    values.update(reading.words);
    const readings = segment.series.flatMap(({ name, tags, cells }) =>
      cells.flatMap(({ at }) => {
        const value = values.quotient(at);
        return value === null ? [] : [{ name, tags, value }];
      })
    );
    const { state, reason, call } = segment;
    return { state, reason, readings, call };
  }
  return null;
}

/** Values of a metric, by the UUID of the device. */
export function valuesOf({ readings }: Published, metric: string): Record<string, number> {
  const found = readings.filter(({ name }) => name === metric);
  return Object.fromEntries(found.map(({ tags, value }) => [tags["device.uuid"]!, value]));
}
