/** The page FORMAT.md is enough: a reader in Python, written from it alone, reads what we write. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { command } from "../../tests/command.ts";
import { testUnless } from "../../tests/skipping.ts";
import { uploads } from "../testdata/arbitrary.ts";
import { type Series, seriesKey } from "../series/mod.ts";
import type { Upload } from "../upload.ts";
import { type Resource, resourceKey } from "../window.ts";
import { streamWindows, WindowPacker } from "./mod.ts";

const PYTHON = "python3";
const READER = new URL("testdata/read_packed.py", import.meta.url).pathname;

/** Uploads at a time: a process reads them all. */
const UPLOADS = 60;

async function missingPython(): Promise<string | null> {
  try {
    const { success } = await command([PYTHON, "--version"]).output();
    return success ? null : "no Python 3";
  } catch {
    return "no Python 3";
  }
}

/** The bytes of an answer: windows that their block has the identities of, and others. */
async function answer(all: readonly Upload[]): Promise<Uint8Array<ArrayBuffer>> {
  async function* packed() {
    let packer: WindowPacker | undefined;
    for (const [i, { window, final, ...instance }] of all.entries()) {
      if (i % 3 === 0) packer = new WindowPacker(instance);
      yield await packer!.pack(window, { final, members: endOf({ window, final }) });
    }
  }
  return await new Blob(await Array.fromAsync(streamWindows(packed()))).bytes();
}

/** The lines that the reader prints for bytes. */
async function readInPython(bytes: Uint8Array<ArrayBuffer>): Promise<string[]> {
  const process = command([PYTHON, READER], { stdin: "piped", stdout: "piped" }).spawn();
  const writing = new Blob([bytes]).stream().pipeTo(process.stdin);
  const { success, stdout } = await process.output();
  await writing;
  assert(success);
  return new TextDecoder().decode(stdout).trimEnd().split("\n");
}

/** A window as the reader prints it, its lists in the order of their keys. */
/** The member of a last window, whose run ended a nanosecond before it does. */
function endOf({ window, final }: Pick<Upload, "window" | "final">): { ended_ns?: bigint } {
  return final ? { ended_ns: window.to_ns - 1n } : {};
}

function printed({ window, final }: Upload, instance: Omit<Upload, "window" | "final">): unknown {
  const { from_ns, to_ns, series, resources, errors } = window;
  return sorted({
    instance,
    from_ns,
    to_ns,
    final,
    ended_ns: null,
    ...endOf({ window, final }),
    errors,
    series: Array.from(series.values(), printedSeries),
    resources: [...resources.values()],
  });
}

function printedSeries(series: Series): object {
  if (series.type === "profile") {
    const frames = Array.from(
      series.frames,
      ([name, { value, samples }]) => [name, value, samples],
    );
    return { ...series, frames };
  }
  if (series.type !== "histogram" || series.buckets === null) return series;
  const { buckets } = series;
  if ("bounds" in buckets) return { ...series, buckets: [buckets.bounds, buckets.counts] };
  const bins = [...buckets.bins].sort(([a], [b]) => a - b);
  return { ...series, buckets: [bins.map(([index]) => index), bins.map(([, times]) => times)] };
}

interface Printed {
  series: (Series & { frames?: [name: string, ...unknown[]][] })[];
  resources: Resource[];
}

/** Texts in place of numbers, and lists that have no order of their own sorted by their keys. */
function sorted(window: unknown): unknown {
  const { series, resources, ...rest } = texts(window) as Printed;
  for (const { frames } of series) frames?.sort(byKey(([name]) => name));
  return {
    ...rest,
    series: series.sort(byKey(seriesKey)),
    resources: resources.sort(byKey(resourceKey)),
  };
}

function byKey<T>(key: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => key(a) < key(b) ? -1 : 1;
}

/** Integers as their digits, other doubles as their eight bytes. */
function texts(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) return String(value);
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setFloat64(0, value);
    return new Uint8Array(bytes.buffer).toHex();
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(texts);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, texts(part)]));
}

testUnless(await missingPython())("a reader written from FORMAT.md reads all windows", async () => {
  const many = fc.array(uploads, { minLength: UPLOADS, maxLength: UPLOADS });
  await fc.assert(
    fc.asyncProperty(many, async (all) => {
      const lines = await readInPython(await answer(all));
      const expected = all.map((upload, i) => {
        const { window: _, final: __, ...instance } = all[i - i % 3]!;
        return printed(upload, instance);
      });
      assert.deepEqual(lines.map((line) => sorted(JSON.parse(line))), expected);
    }),
    // To make a failure smaller would start hundreds of processes.
    { numRuns: 5, endOnFailure: true },
  );
});
