/** Pollers and whole runs over the strict double, and what its ledger says of them. */

import assert from "node:assert/strict";
import { decode, type Signals, signals } from "@service/core";
import { start, type Started } from "../../command.ts";
import { type Run, startRun } from "../../stack.ts";
import { temporaryDirectory } from "../../temporary_directory.ts";
import type { Sanitizer } from "../cuda/build.ts";
import { host, pollerLibrary } from "../nvml/build.ts";
import { type Poller, pollerOf } from "../nvml/harness.ts";
import { type Driver, strictNvml } from "./build.ts";

/** A line of the ledger. */
export interface Booked {
  word: string;
  pid: number;
  thread: string;
  at_us: number;
  duration_us: number;
  /** Of a call: its function, the number of its device, `2/0` a MIG device, and its result. */
  text: string;
  function: string;
  device: string;
  result: number;
}

/** Options of a {@linkcode Referee}. */
export interface RefereeOptions {
  driver?: Driver;
  sanitizer?: Sanitizer;
}

/** Options of a run. */
export interface StrictRunOptions {
  /** Name of its last snapshot. */
  name?: string;
  env?: Record<string, string>;
  /** Script of the workload; by default it waits until {@linkcode Referee.openGate}. */
  shell?: string;
}

/** Pollers and runs on one machine, whose devices a script describes. */
export interface Referee extends AsyncDisposable {
  readonly directory: string;
  /** Appends lines to the script. */
  say(lines: string): Promise<void>;
  /** A poller without a run. */
  poll(env?: Record<string, string>): Promise<Poller>;
  run(options?: StrictRunOptions): Run;
  /** Lets the workloads of all runs end. */
  openGate(): Promise<void>;
  /** The last snapshot of a run. */
  last(name?: string): Promise<Signals>;
  ledger(): Promise<Booked[]>;
}

/** A referee with the first lines of its script. */
export async function openReferee(
  lines: string,
  { driver = 580, sanitizer }: RefereeOptions = {},
): Promise<Referee> {
  const directory = await temporaryDirectory();
  const at = (name: string) => `${directory.path}/${name}`;
  const library = await strictNvml(driver, sanitizer);
  const double = { NVML_STRICT_SCRIPT: at("script"), NVML_STRICT_LEDGER: at("ledger") };
  const started: Started[] = [];
  const say = (lines: string) => {
    const whole = lines.split("\n").map((line) => `${line.trim()}\n`).join("");
    return Deno.writeTextFile(at("script"), whole, { append: true });
  };
  await say(lines);
  return {
    directory: directory.path,
    say,
    async poll(env = {}) {
      const words = [await host(sanitizer), await pollerLibrary(sanitizer), at("shared/devices")];
      const poller = start([...words, library], { ...double, ...env });
      started.push(poller);
      await poller.stdout.match(/^(0) /m);
      return pollerOf(poller, at("shared/devices"));
    },
    run({ name = "last", env, shell = `while [ ! -e ${at("gate")} ]; do sleep 0.05; done` } = {}) {
      return startRun(["sh", "-c", shell], {
        directory: directory.path,
        env: {
          ...double,
          SERVICE_NVML_LIBRARY: library,
          SERVICE_SNAPSHOT_FILE: at(`${name}.json`),
          ...env,
        },
      });
    },
    openGate: () => Deno.writeTextFile(at("gate"), ""),
    async last(name = "last") {
      return signals.check(decode(await Deno.readTextFile(at(`${name}.json`))));
    },
    async ledger() {
      const text = await Deno.readTextFile(at("ledger")).catch(() => "");
      return text.split("\n").filter((line) => line !== "").map(readLine);
    },
    async [Symbol.asyncDispose]() {
      for (const { process, ended } of started) {
        try {
          process.kill("SIGKILL");
        } catch {
          // It has ended.
        }
        await ended;
      }
      await directory[Symbol.asyncDispose]();
    },
  };
}

function readLine(line: string): Booked {
  const [word, thread, at_us, duration_us, text, device, result] = line.split("\t");
  return {
    word: word!,
    pid: Number(thread!.split("/")[0]),
    thread: thread!,
    at_us: Number(at_us),
    duration_us: Number(duration_us),
    text: text!,
    function: text!,
    device: device ?? "",
    result: Number(result),
  };
}

/** Asserts that no call was misused and that one thread of each process made all of them. */
export function assertFair(ledger: readonly Booked[]): void {
  assert(ledger.length > 0, "NVML was never called");
  const faults = ledger.filter(({ word }) => word === "misuse").map(({ text }) => text);
  assert.deepEqual([...new Set(faults)], []);
  const threads = new Map<number, Set<string>>();
  for (const { word, pid, thread } of ledger) {
    if (word === "call") threads.set(pid, (threads.get(pid) ?? new Set()).add(thread));
  }
  for (const [pid, of] of threads) assert.equal(of.size, 1, `threads of ${pid}: ${[...of]}`);
}

/** Calls of a function. */
export function callsOf(ledger: readonly Booked[], name: string): Booked[] {
  return ledger.filter((line) => line.word === "call" && line.function === name);
}

/** Values of a metric by the UUID of its device; with several series a device, the sum. */
export function byDevice({ metrics }: Signals, name: string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const metric of metrics) {
    const uuid = metric.tags["device.uuid"];
    if (metric.name !== name || uuid === undefined) continue;
    const value = metric.type === "gauge"
      ? metric.stats.value
      : metric.type === "counter"
      ? metric.stats.total
      : NaN;
    found[uuid] = (found[uuid] ?? 0) + Number(value);
  }
  return found;
}

/** The UUID that the script's model gives the GPU with this number at this bus. */
export function uuidOf(number: number, bus: number): string {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
  return `GPU-${hex(0xa0b1c200 + number, 8)}-1c02-4a5e-9d3f-${hex(bus, 12)}`;
}
