/** The strict double itself: what it delivers, and what it does not forgive. */

import assert from "node:assert/strict";
import { missingCompiler, testUnless } from "../../skipping.ts";
import { run } from "../../command.ts";
import { compile, compiler } from "../cuda/build.ts";
import { reader, strict, STRICT_TOOLKITS, type StrictToolkit } from "./build.ts";
import { type LoadRun, type MixedResult, runLoad } from "./harness.ts";

const test = testUnless(missingCompiler(compiler));
const toolkits = Object.keys(STRICT_TOOLKITS) as StrictToolkit[];
const ways: [StrictToolkit, string][] = [
  ...toolkits.map((toolkit): [StrictToolkit, string] => [toolkit, "thread"]),
  ["12.9", "late"],
  ["13.5", "inline"],
  ["13.5", "late"],
];

const KERNEL = 10;
const MEMCPY = 1;
const MEMCPY2 = 22;
const MEMSET = 2;
const GRAPH_TRACE = 51;

/** Sums that the reader wrote: kind, length of the name, count, nanoseconds, bytes, without end. */
type Sum = [number, number, number, number, number, number];

async function read(
  mode: string,
  { toolkit = "13.5", words = [], env = {} }: {
    toolkit?: StrictToolkit;
    words?: string[];
    env?: Record<string, string>;
  },
): Promise<LoadRun & { sums: Sum[] }> {
  const out = await Deno.makeTempFile({ prefix: "service-test-sums-" });
  try {
    const ended = await runLoad({
      toolkit,
      profiler: await reader(toolkit),
      words: ["records=20000", "settle=500", "flushed=400", ...words],
      env: { READER: mode, READER_OUT: out, ...env },
    });
    const lines = (await Deno.readTextFile(out)).split("\n").filter(Boolean);
    return { ...ended, sums: lines.map((line) => line.split(" ").map(Number) as Sum) };
  } finally {
    await Deno.remove(out);
  }
}

function ofKind(sums: readonly Sum[], kind: number): Sum[] {
  return sums.filter((sum) => sum[0] === kind);
}

function total(sums: readonly Sum[], column: number): number {
  return sums.reduce((sum, row) => sum + row[column]!, 0);
}

for (const [toolkit, delivery] of ways) {
  test(`strict ${toolkit}, delivery ${delivery}: what is launched is delivered`, async () => {
    const words = ["scenario=mixed", "odd=1"];
    const env = { STRICT_DELIVERY: delivery, STRICT_DEVICES: "2", STRICT_WORKERS: "2" };
    const { sums, stdout, misuse } = await read("sums", { toolkit, words, env });
    const { kernels, copies }: MixedResult = JSON.parse(stdout);
    const bytesOf = (...kinds: string[]) =>
      2 * kinds.reduce((sum, kind) => sum + copies[kind]![1], 0);
    const launches = kernels.reduce((sum, { calls }) => sum + calls, 0);
    const launches_ns = kernels.reduce((sum, { ns }) => sum + ns, 0);
    assert.deepEqual(misuse, []);
    assert.equal(total(ofKind(sums, KERNEL), 2), launches);
    assert.equal(total(ofKind(sums, KERNEL), 3), launches_ns);
    assert.equal(
      total(ofKind(sums, MEMCPY), 4),
      bytesOf("host_to_device", "device_to_host", "device_to_device"),
    );
    assert.equal(total(ofKind(sums, MEMCPY2), 4), bytesOf("peer_to_peer"));
    assert.equal(total(ofKind(sums, MEMSET), 4), bytesOf("set", "set_in_graph"));
  });
}

/** Steps of the iterator, as the real libraries of 12.9 and 13.0 and the headers of 13.5 have them. */
const STEPS: Partial<Record<StrictToolkit, Record<string, number>>> = {
  "12.9": { version: 28, kernel: 208, memcpy: 96, memset: 88, context: 32 },
  "13.0": { version: 130000, kernel: 216, memcpy: 96, memset: 88, context: 32 },
  "13.5": { version: 130500, kernel: 248, memcpy: 112, memset: 104, context: 40 },
};

for (const [toolkit, steps] of Object.entries(STEPS)) {
  test(`strict ${toolkit}: records are as long as CUPTI's`, async () => {
    const known = toolkit as StrictToolkit;
    const { libraries } = await strict({ toolkit: known });
    const program = `${libraries}/parse`;
    await compile(program, [new URL("../cuda/parse.c", import.meta.url).pathname], []);
    const { stdout, stderr } = await run(
      [program, `${libraries}/${STRICT_TOOLKITS[known].soname}`],
      {
        LD_LIBRARY_PATH: libraries,
      },
    );
    assert.equal(stderr, "");
    const common = { memcpy2: 96, synchronization: 56, graph_trace: 56 };
    assert.deepEqual(JSON.parse(stdout), { ...steps, ...common });
  });
}

test("strict: whole graphs are traced, not their nodes", async () => {
  const { sums, stdout } = await read("sums", {
    words: ["scenario=mixed"],
    env: { READER_GRAPHS: "1", STRICT_DEVICES: "2" },
  });
  const { graphs }: MixedResult = JSON.parse(stdout);
  assert.equal(total(ofKind(sums, GRAPH_TRACE), 2), graphs[0]![0] + graphs[1]![0]);
  assert.equal(total(ofKind(sums, GRAPH_TRACE), 3), graphs[0]![1] + graphs[1]![1]);
});

test("strict: a forced flush loses kernels that run", async () => {
  const words = ["records=2000", "duration=1000000", "streams=4"];
  const { sums } = await read("forced", { words });
  assert(total(ofKind(sums, KERNEL), 5) > 0);
});

test("strict: a declined request drops records since 12.9", async () => {
  const { stdout } = await read("decline", { toolkit: "12.9" });
  assert(JSON.parse(stdout).dropped > 0);
});

test("strict: functions fail as they are told to", async () => {
  const env = { STRICT_FAIL: "cuptiActivityEnable:10=15" };
  const { sums } = await read("sums", { env });
  assert.deepEqual(ofKind(sums, KERNEL), []);
  const rival = await read("sums", { env: { STRICT_RIVAL: "Nsight" } });
  assert.deepEqual(rival.sums, []);
});

/** What each misuse by the reader is called in the ledger. */
const MISUSE: Record<string, string> = {
  call_in_callback: "cuCtxGetDevice called inside a CUPTI callback",
  not_zeroed: "a buffer that was said to be zeroed has byte 0x1",
  twice: "cuptiActivityGetNextRecord of a buffer that CUPTI has",
  by_hand: "cuptiActivityGetNextRecord after a record that it did not give",
  lock: "a lock",
  finalize: "cuptiFinalize called outside the exit callback of a call",
  late_attribute: "buffers per thread chosen after callbacks were registered",
};

for (const [mode, line] of Object.entries(MISUSE)) {
  test(`strict: the ledger has the misuse ${mode}`, async () => {
    const { misuse } = await read(mode, {});
    assert(misuse.some((found) => found.includes(line)), misuse.join("\n"));
  });
}

/** What ends the process. */
const FATAL: Record<string, string> = {
  flush_in_complete: "cuptiActivityFlushAll called inside a callback",
  flush_in_resource: "cuptiActivityFlushAll called inside a callback",
  decline: "request for a buffer declined",
};

for (const [mode, line] of Object.entries(FATAL)) {
  test(`strict: the process is ended for ${mode}`, async () => {
    const { stderr, status } = await read(mode, { toolkit: "12.8" });
    assert(stderr.includes(line), stderr);
    assert.deepEqual(status.signal, "SIGABRT");
  });
}
