/** Harness for CUDA scenarios: runs one under `service-run`, and compares the payload with the books. */

import assert from "node:assert/strict";
import { decode, type Signals, signals } from "@service/core";
import { temporaryDirectory } from "../../temporary_directory.ts";
import { type Run, startRun, until } from "../../stack.ts";
import { libraries, type Sanitizer, testedLibrary, type Toolkit, workload } from "./build.ts";

/** Limit of a scenario's time: one that takes longer hangs. */
const PATIENCE_MS = 20_000;

/**
 * Settings of the sanitizers: leaks of the workload are ignored, forks are allowed because they are
 * tested, and the exit does not wait.
 */
export const SANITIZER_ENVIRONMENT: Record<string, string> = {
  ASAN_OPTIONS: "detect_leaks=0",
  TSAN_OPTIONS: "die_after_fork=0:atexit_sleep_ms=0",
};

export interface ScenarioOptions {
  /** Toolkit of the fake CUPTI; `null`: none. */
  toolkit?: Toolkit | null;
  env?: Record<string, string>;
  flags?: string[];
  /** Whether a process starts CUDA after the run is over: the next run removes its segment. */
  outlived?: boolean;
  /** Words of a wrapper before the command. */
  wrapper?: string[];
  /** Sanitizer of the workload, the fakes and the library. */
  sanitizer?: Sanitizer;
  /** Whether the library has the toy as a second source. */
  toy?: boolean;
  /** Runs in parallel; {@linkcode Scene.openGate} lets the workload continue. */
  during?: (scene: Scene) => Promise<void>;
}

/** A running scenario. */
export interface Scene {
  run: Run;
  /** Books of each process so far. */
  books(): Promise<Books[]>;
  /** Books as soon as a process has kept them. */
  kept(): Promise<Books[]>;
  openGate(): Promise<void>;
}

/** Books of one process: expected values by metric, device and frame. */
export interface Books {
  pid: string;
  cells: Map<string, string>;
}

/** Outcome of a scenario. */
export interface Outcome {
  status: Deno.CommandStatus;
  payload: Signals;
  books: Books[];
  directory: string;
}

/** Runs a scenario to its end; asserts no output on stderr, no violation and no file left behind. */
export async function runScenario(name: string, options: ScenarioOptions = {}): Promise<Outcome> {
  await using directory = await temporaryDirectory();
  const { toolkit = "13.0", during, sanitizer, toy } = options;
  const at = (file: string) => `${directory.path}/${file}`;
  const command = [...options.wrapper ?? [], await workload(sanitizer), name];
  if (sanitizer || toy) {
    const library = await testedLibrary({ sanitizer, toy });
    command.unshift("env", `CUDA_INJECTION64_PATH=${library}`);
  }
  await using run = startRun(command, {
    directory: directory.path,
    flags: ["--listen-port", "0", ...options.flags ?? []],
    env: {
      SERVICE_DEBUG: during ? "1" : "",
      SERVICE_SNAPSHOT_FILE: at("last.json"),
      LD_LIBRARY_PATH: await libraries(toolkit, sanitizer),
      CUDA_INJECTION64_PATH: "",
      FAKE_VIOLATIONS: at("violations"),
      WORKLOAD_EXPECTED: at("expected"),
      ...during ? { WORKLOAD_GATE: at("gate") } : {},
      ...options.env,
    },
  });
  const hang = setTimeout(() => run.process.kill("SIGKILL"), PATIENCE_MS);
  const books = () => readBooks(at("expected"));
  const scene: Scene = {
    run,
    books,
    kept: () => until(async () => (await books()).length > 0 && await books()),
    openGate: () => Deno.writeTextFile(at("gate"), ""),
  };
  const { status, stdout, stderr } = await (async () => {
    await during?.(scene);
    return await run.ended;
  })().finally(() => clearTimeout(hang));
  assert.equal(await readText(at("violations")), "", `${name}: what a tool may not do`);
  assert.equal(stdout, "", name);
  if (!during) assert.equal(stderr, "", name);
  const payload = signals.check(decode(await Deno.readTextFile(at("last.json"))));
  const instance = payload.context["instance.id"]!;
  if (options.outlived) await removeSegments(instance);
  await assertNothingLeft(instance);
  return { status, payload, books: await books(), directory: directory.path };
}

/** Runs a scenario that must succeed, and compares all its values. */
export async function exact(name: string, options: ScenarioOptions = {}): Promise<Outcome> {
  const outcome = await runScenario(name, options);
  assert.equal(outcome.status.code, 0, name);
  assert(outcome.books.length > 0, `${name} has kept books`);
  assertExact(outcome.payload, outcome.books);
  return outcome;
}

/** Asserts that the workload runs as without the profiler, and that the payload has the reason. */
export async function refused(options: ScenarioOptions, reason: RegExp): Promise<void> {
  const { status, payload } = await runScenario("steady", options);
  assert.equal(status.code, 0);
  assert.deepEqual(payload.metrics.filter(({ name }) => name === "cuda_kernels_nanoseconds"), []);
  const states = captureStates(payload);
  assert(states.some((state) => state.startsWith("0 ") && reason.test(state)), states.join());
}

async function removeSegments(instance: string): Promise<void> {
  const path = `/dev/shm/service-${Deno.uid()}/${instance}`;
  await Deno.remove(path, { recursive: true }).catch(() => {});
}

async function assertNothingLeft(instance: string): Promise<void> {
  for await (const { name } of Deno.readDir("/dev/shm")) {
    if (!name.startsWith("service-")) continue;
    const path = `/dev/shm/${name}/${instance}`;
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound, `${path} is left`);
  }
}

async function readText(path: string): Promise<string> {
  return await Deno.readTextFile(path).catch(() => "");
}

async function readBooks(path: string): Promise<Books[]> {
  const lines = (await readText(path)).split("\n").filter((line) => line.endsWith("}"));
  return lines.map((line) => {
    const { pid, booked } = JSON.parse(line) as {
      pid: number;
      booked: [string, number, string, string, string][];
    };
    const cells = new Map<string, string>();
    for (const [metric, device, frame, a, b] of booked) {
      cells.set(key(metric, device < 0 ? "" : uuid(device), frame), `${a} ${b}`);
    }
    return { pid: String(pid), cells };
  });
}

/** Uuid of a device of the fake driver, in NVML's form. */
export function uuid(device: number, prefix = "GPU-f0"): string {
  return `${prefix}112233-4455-6677-8899-aabbccddee0${device}`;
}

function key(...parts: string[]): string {
  return parts.join(" ");
}

/** Metrics that are compared as they are; `true`: present also if nothing is booked. */
const COMPARED: Record<string, boolean> = {
  cuda_kernels_nanoseconds: false,
  cuda_memcpy_nanoseconds: false,
  cuda_memset_nanoseconds: false,
  cuda_sync_nanoseconds: false,
  cuda_kernel_duration_nanoseconds: false,
  gpu_busy_nanoseconds: false,
  cuda_memcpy_bytes: false,
  cuda_memset_bytes: false,
  cuda_dropped_records_total: true,
  cuda_invalid_records_total: true,
  cuda_unidentified_graphs_total: true,
  profiler_replaced_names_total: true,
  toy_kernels_nanoseconds: false,
  toy_kernel_duration_nanoseconds: false,
  toy_memcpy_nanoseconds: false,
  toy_memcpy_bytes: false,
  toy_dropped_records_total: false,
};

/** Values of one process in the payload, in the form of its books. */
export function published(payload: Signals, pid: string): Map<string, string> {
  const cells = new Map<string, string>();
  for (const metric of payload.metrics) {
    const { name, tags } = metric;
    if (!(name in COMPARED) || tags["process.pid"] !== pid) continue;
    const device = tags["device.uuid"] ?? "";
    if (metric.type === "profile") {
      for (const { name: frame, value, samples } of metric.stats.frames) {
        cells.set(key(name, device, frame), `${value} ${samples}`);
      }
    } else if (metric.type === "histogram") {
      const { sum, count, min, max } = metric.stats;
      if (count === 0) continue;
      cells.set(key(name, device, ""), `${sum} ${count}`);
      cells.set(key("extremes", device, ""), `${min} ${max}`);
    } else if (metric.type === "counter" && (metric.stats.total || COMPARED[name])) {
      cells.set(key(name, device, tags["kind"] ?? ""), `${metric.stats.total} 0`);
    }
  }
  return cells;
}

/** Values that the payload must have for one process: its books, without those that only some tests compare. */
export function due({ cells }: Books): Map<string, string> {
  const due = new Map<string, string>();
  for (const [name, always] of Object.entries(COMPARED)) {
    if (always) due.set(key(name, "", ""), "0 0");
  }
  for (const [cell, value] of cells) {
    if (!cell.startsWith("cuda_graphs_nanoseconds ")) due.set(cell, value);
  }
  return due;
}

/** Asserts that the payload has all booked values of each process, and no others. */
export function assertExact(payload: Signals, books: Books[]): void {
  for (const book of books) {
    assert.deepEqual(differences(published(payload, book.pid), due(book)).slice(0, 10), []);
  }
}

/** Whether the payload has all booked values, and no others. */
export function isExact(payload: Signals, books: Books[]): boolean {
  return books.every((book) => differences(published(payload, book.pid), due(book)).length === 0);
}

function differences(found: Map<string, string>, due: Map<string, string>): string[] {
  const cells = new Set([...found.keys(), ...due.keys()]);
  return [...cells].filter((cell) => found.get(cell) !== due.get(cell)).map((cell) =>
    `${cell}: ${found.get(cell)} is not ${due.get(cell)}`
  );
}

/** Frames of a profile of one process's devices: name, and `value samples`. */
export function frames(payload: Signals, pid: string, name: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const metric of payload.metrics) {
    if (metric.name !== name || metric.tags["process.pid"] !== pid) continue;
    assert.equal(metric.type, "profile");
    if (metric.type !== "profile") continue;
    for (const frame of metric.stats.frames) {
      found.set(frame.name, `${frame.value} ${frame.samples}`);
    }
  }
  return found;
}

/** Booked values of one metric: frame, and `a b`. */
export function booked({ cells }: Books, name: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [cell, value] of cells) {
    const [metric, _device, frame] = cell.split(" ");
    if (metric === name) found.set(frame!, value);
  }
  return found;
}

/** Capture states of processes: value and reason. */
export function captureStates(payload: Signals): string[] {
  return payload.metrics.flatMap(({ name, tags, type, stats }) =>
    name === "profiler_capture_state" && type === "gauge" && tags["process.pid"]
      ? [`${stats.value} ${tags["reason"] ?? ""}`]
      : []
  );
}
