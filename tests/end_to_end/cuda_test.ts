/** Tests of CUDA capture with a fake driver and a fake CUPTI: the payload equals the booked work. */

import assert from "node:assert/strict";
import { temporaryDirectory } from "../temporary_directory.ts";
import type { Signals } from "@service/core";
import { type ReadUpload, readUpload } from "../../local/upload/testdata/upload.ts";
import { readLocal, until, uploadTo } from "../stack.ts";
import { compiler, libraries, otherTool, type Toolkit, TOOLKITS } from "../doubles/cuda/build.ts";
import * as harness from "../doubles/cuda/harness.ts";
import {
  assertExact,
  booked,
  captureStates,
  frames,
  isExact,
  runScenario,
} from "../doubles/cuda/harness.ts";
import { missingCompiler, testUnless } from "../skipping.ts";

const ALL = Object.keys(TOOLKITS) as Toolkit[];

const test = testUnless(missingCompiler(compiler));

/** Runs a scenario that must succeed, and compares all its values. */
async function exact(name: string, options: harness.ScenarioOptions = {}) {
  const outcome = await runScenario(name, options);
  assert.equal(outcome.status.code, 0, name);
  assert(outcome.books.length > 0, `${name} has kept books`);
  assertExact(outcome.payload, outcome.books);
  return outcome;
}

for (const toolkit of ALL) {
  test(`CUPTI of ${toolkit}: kernels, copies, sets and waits are counted to the nanosecond`, async () => {
    await exact("steady", { toolkit });
  });
}

test("busy time of a device counts once, also with concurrent work", async () => {
  await exact("overlap");
});

test("a read of a running process includes the work done before it", async () => {
  await exact("live", {
    async during({ run, books, openGate }) {
      const done = await until(async () => (await books()).length > 0 && await books());
      await until(async () => isExact(await readLocal(run), done));
      await openGate();
    },
  });
});

test("an answer includes work done after the request was sent", async () => {
  await runScenario("paced", {
    async during({ run, books, openGate }) {
      const [own] = await until(async () => (await books()).length > 0 && await books());
      const start_ns = parseInt(own!.cells.get("start_nanoseconds  ")!);
      // On a busy machine the answer may be late: then the next one includes it.
      await until(async () => {
        const asked_ms = Date.now();
        const found = frames(await readLocal(run), own!.pid, "cuda_kernels_nanoseconds");
        const [spent_ns = NaN] = [...found.values()].map(parseFloat);
        const done_ms = (start_ns + spent_ns) / 1e6;
        assert(!(done_ms > Date.now() + 5), "nothing is done in the future");
        return done_ms >= asked_ms;
      });
      await openGate();
    },
  });
});

test("a process without launches is captured, with empty profiles", async () => {
  const { payload, books } = await exact("idle");
  assert.equal(frames(payload, books[0]!.pid, "cuda_kernels_nanoseconds").size, 0);
});

test("beyond the limit of frames, time goes to (other) and the sum is exact", async () => {
  const { payload, books: [own], status } = await runScenario("many_symbols");
  assert.equal(status.code, 0);
  const found = frames(payload, own!.pid, "cuda_kernels_nanoseconds");
  assert(found.size <= 4096 && found.has("(other)"), `${found.size} frames`);
  const due = booked(own!, "cuda_kernels_nanoseconds");
  const sum = (cells: Map<string, string>) =>
    [...cells.values()].reduce((total, cell) => total + BigInt(cell.split(" ")[0]!), 0n);
  assert.equal(sum(found), sum(due));
  found.delete("(other)");
  for (const [frame, value] of found) assert.equal(value, due.get(frame));
});

test("symbols longer than the limit of a name stay distinct", async () => {
  const { payload, books: [own] } = await runScenario("long_symbols");
  const found = frames(payload, own!.pid, "cuda_kernels_nanoseconds");
  assert.deepEqual([...found.values()].sort(), ["1000 1", "1001 1", "1002 1"]);
  for (const name of found.keys()) {
    assert(name.length <= 4096);
    assert.match(name, /^a{4000,}…[0-9a-f]{16}$/);
  }
  const replaced = harness.published(payload, own!.pid).get("profiler_replaced_names_total  ");
  assert.equal(replaced, "3 0");
});

/** Reads a scenario that stays alive until its values are in two answers; it must not be refused. */
async function exactTwice(scenario: string) {
  const { payload } = await exact(scenario, {
    async during({ run, books, openGate }) {
      const done = await until(async () => (await books()).length > 0 && await books());
      for (let i = 0; i < 2; i++) await until(async () => isExact(await readLocal(run), done));
      await openGate();
    },
  });
  assert.deepEqual(payload.errors, []);
  const refused = payload.metrics.find(({ name }) => name === "profiler_refused_segments_total");
  assert(refused?.type === "counter" && refused.stats.total === 0);
}

test("an empty or unreadable symbol is replaced and counted, and nothing else is lost", async () => {
  await exactTwice("odd_names");
});

test("records with impossible numbers are counted as invalid, and nothing else is lost", async () => {
  await exactTwice("greatest");
});

test("the memory of a name may be reused after its module is unloaded", async () => {
  for (const scenario of ["reused_names", "long_names"]) await exact(scenario);
});

test("records without a start, or with an end before it, are counted as invalid only", async () => {
  await exact("invalid");
});

test("records that CUPTI lost are counted", async () => {
  await exact("lost");
});

test("records that arrive faster than they are read are counted as dropped", async () => {
  for (const toolkit of ["11.8", "13.0", "13.5"] as const) await flood(toolkit);
});

async function flood(toolkit: Toolkit) {
  const { payload, books: [own], status } = await runScenario("flood", { toolkit });
  assert.equal(status.code, 0);
  const cells = harness.published(payload, own!.pid);
  const dropped = Number(cells.get("cuda_dropped_records_total  ")!.split(" ")[0]);
  let seen = 0;
  for (const metric of ["cuda_kernels_nanoseconds", "cuda_memcpy_nanoseconds"]) {
    for (const value of frames(payload, own!.pid, metric).values()) {
      seen += Number(value.split(" ")[1]);
    }
  }
  assert(dropped > 10_000, `${dropped} are dropped`);
  const difference = Math.abs(dropped + seen - 150_001);
  assert(difference < dropped / 50, `${seen} seen and ${dropped} dropped of 150,001`);
}

test("under all loads at once the library takes at most 24 MiB of a process", async () => {
  const peak = async (wrapper: string[]) => {
    const { status, books: [own] } = await runScenario("everything", { wrapper });
    assert.equal(status.code, 0);
    return parseInt(own!.cells.get("peak_bytes  ")!);
  };
  const more = await peak([]) - await peak(["env", "CUDA_INJECTION64_PATH=none"]);
  assert(more > 0 && more <= 24 << 20, `${more / 1024} KiB`);
});

test("10,000 threads launch", async () => {
  await exact("threads");
});

test("cuInit from many threads at once, and again", async () => {
  await exact("init_often");
});

test("a running kernel is measured when it ends, also after many reads", async () => {
  await exact("running", {
    async during({ run, books }) {
      do await readLocal(run); while ((await books()).length === 0);
    },
  });
});

test("a kernel that runs at exit is counted as invalid", async () => {
  await exact("exit_while_running");
});

/** Names of structures by their signatures, which must be the same in every run. */
async function signatures(
  scenario: string,
  options: harness.ScenarioOptions,
): Promise<Record<string, string>> {
  const { payload, books: [own] } = await exact(scenario, options);
  const due = new Map(
    [...booked(own!, "cuda_graphs_nanoseconds")].map(([name, value]) => [value, name]),
  );
  const found = frames(payload, own!.pid, "cuda_graphs_nanoseconds");
  const named = [...found].map(([signature, value]) => {
    assert.match(signature, /^[0-9a-f]{16}$/);
    return [due.get(value) ?? `none with ${value}`, signature] as const;
  });
  assert.deepEqual(named.map(([name]) => name).sort(), [...due.values()].sort());
  return Object.fromEntries(named);
}

test("graphs with one structure have one signature, in every process and however created", async () => {
  const first = await signatures("graphs", { toolkit: "13.0" });
  assert.deepEqual(await signatures("graphs", { toolkit: "12.4" }), first);
  const env = { FAKE_GRAPH_ID: "template" };
  assert.deepEqual(await signatures("graphs", { toolkit: "11.8", env }), first);
  assert.deepEqual(await signatures("graphs", { toolkit: "12.1", env }), first);
});

test("captures may overlap, fail and be given up, on any thread, and have one signature", async () => {
  const { chain } = await signatures("graphs", {});
  assert.deepEqual(await signatures("captures", {}), { chain });
});

test("launches call the profiler only while a stream is captured", async () => {
  await exact("spread");
  await exact("spread", { flags: ["--cuda-graph-trace", "node"] });
});

test("records may have the id of the instantiated template", async () => {
  await signatures("graphs", { env: { FAKE_GRAPH_ID: "template" } });
});

test("a child graph is part of the structure", async () => {
  await signatures("child_graphs", {});
});

test("in node mode kernels of graphs count as kernels, and there are no graphs", async () => {
  const { payload, books: [own] } = await exact("graphs", {
    flags: ["--cuda-graph-trace", "node"],
    env: { WORKLOAD_NODE_MODE: "1" },
  });
  assert.equal(frames(payload, own!.pid, "cuda_graphs_nanoseconds").size, 0);
  const mode = payload.metrics.find(({ name }) => name === "cuda_graph_trace_mode");
  assert(mode?.type === "gauge" && mode.stats.value === 1);
});

test("the child of a fork exits by exit(), and its parent's values are not its own", async () => {
  await exact("fork_and_exit");
});

test("the child of a fork that starts CUDA is measured as a process", async () => {
  const { books } = await exact("fork_before_init");
  assert.equal(books.length, 2);
});

/** A fake service that collects the uploads; it names no block, so each upload has its own. */
function startCollecting(): AsyncDisposable & { url: string; uploads: ReadUpload[] } {
  const uploads: ReadUpload[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async ({ body, headers }) => {
      const isGzip = headers.get("content-encoding") === "gzip";
      const bytes = isGzip ? body!.pipeThrough(new DecompressionStream("gzip")) : body;
      const upload = await readUpload(await new Response(bytes).bytes());
      assert(upload, "an upload without its block");
      uploads.push(upload);
      return new Response(null, { status: 204 });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    uploads,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

test("a captured process keeps its command line, in the payload and in each upload", async () => {
  await using service = startCollecting();
  const { uploads } = service;
  const { payload } = await runScenario("live", {
    env: uploadTo({ url: service.url, key: "any" }),
    async during({ run, openGate }) {
      const first = await until(() => uploads[0]);
      const { to_ns } = first.window;
      await until(async () => (await readLocal(run)).payload_ns > to_ns + 1_000_000_000n);
      await openGate();
    },
  });
  assert.equal(uploads.at(-1)!.final, true);
  const captured = [payload, ...uploads.map(({ window }) => window)].map(({ resources }) =>
    [...resources.values()].find(({ attributes }) => "profiler.capture" in attributes)
  );
  assert(captured.length >= 3, `${captured.length} descriptions of the process`);
  for (const resource of captured) {
    assert.match(resource!.attributes["process.command_line"]!, /workload.* live$/);
    assert(resource!.attributes["process.executable"]);
  }
});

test("a child process is captured too", async () => {
  const { books } = await exact("fork_and_exec");
  assert.equal(books.length, 2);
});

for (
  const [scenario, signal] of [
    ["leave_at_once", null],
    ["quick_exit_itself", null],
    ["kill_itself", "SIGKILL"],
    ["abort_itself", "SIGABRT"],
  ] as const
) {
  test(`${scenario}: published values outlive the process`, async () => {
    const { status, payload, books } = await runScenario(scenario, {
      async during({ run, books, openGate }) {
        const done = await until(async () => (await books()).length > 0 && await books());
        await until(async () => isExact(await readLocal(run), done));
        await openGate();
      },
    });
    assert.equal(status.signal, signal);
    assertExact(payload, books);
  });
}

test("exit() on another thread loses nothing", async () => {
  await exact("exit_from_thread");
});

test("exit() while other threads launch neither hangs nor crashes", async () => {
  const { status } = await runScenario("exit_while_launching");
  assert.equal(status.code, 0);
});

test("exit() while the driver starts neither hangs nor crashes", async () => {
  const { status } = await runScenario("exit_during_start");
  assert.equal(status.code, 0);
});

test("the values of an ended process count, also before it is waited for", async () => {
  await exact("zombie", {
    async during({ run, books, openGate }) {
      const done = await until(async () => (await books()).length > 0 && await books());
      await until(async () => isExact(await readLocal(run), done));
      await openGate();
    },
  });
});

test("a process that outlives the run neither hangs nor crashes", async () => {
  const { status } = await runScenario("orphan", { outlived: true });
  assert.equal(status.code, 0);
});

test("answers do not wait for a stopped process, which is read after it continues", async () => {
  await exact("live", {
    async during({ run, books, openGate }) {
      const [own] = await until(async () => (await books()).length > 0 && await books());
      const pid = Number(own!.pid);
      Deno.kill(pid, "SIGSTOP");
      for (let i = 0; i < 5; i++) await readLocal(run);
      Deno.kill(pid, "SIGCONT");
      await until(async () => isExact(await readLocal(run), [own!]));
      await openGate();
    },
  });
});

test("a driver torn down before the handlers of exit() is not called", async () => {
  for (const scenario of ["plain", "exit_while_launching"]) {
    const { status } = await runScenario(scenario, { env: { FAKE_TEARDOWN: "first" } });
    assert.equal(status.code, 0);
  }
});

test("the driver may unload the library", async () => {
  await exact("closed_injection");
});

for (const scenario of ["usurped", "finalized"]) {
  test(`${scenario}: another tool uses CUPTI for a while, and capture resumes after it`, async () => {
    const { status, payload, books: [own] } = await runScenario(scenario);
    assert.equal(status.code, 0);
    const found = frames(payload, own!.pid, "cuda_kernels_nanoseconds");
    for (const [frame, value] of booked(own!, "cuda_kernels_nanoseconds")) {
      assert.equal(found.get(frame), value, frame);
    }
  });
}

test("another tool that takes the buffers for good is told within three seconds", async () => {
  for (const toolkit of ["11.8", "13.0"] as const) {
    await runScenario("usurped_for_good", {
      toolkit,
      async during({ run, books, openGate }) {
        const [own] = await until(async () => (await books()).length > 0 && await books());
        const start_ns = parseInt(own!.cells.get("start_nanoseconds  ")!);
        await until(async () => isInterrupted(await readLocal(run)));
        const told_ms = Date.now() - start_ns / 1e6;
        assert(told_ms < 3000, `${told_ms} ms`);
        await openGate();
      },
    });
  }
});

function isInterrupted({ resources }: Signals): boolean {
  const states = resources.map(({ attributes }) => attributes["profiler.capture"] ?? "");
  return states.some((state) => state.startsWith("interrupted"));
}

test("a tool that CUDA_INJECTION64_PATH names is called, and the payload names it", async () => {
  await using called = await temporaryFile();
  await refused(
    { env: { CUDA_INJECTION64_PATH: await otherTool(), FAKE_TOOL_CALLED: called.path } },
    /libtool\.so/,
  );
  assert.equal(await Deno.readTextFile(called.path), "called\n");
});

test("a file in CUDA_INJECTION64_PATH that cannot be loaded is not a tool", async () => {
  await using garbage = await temporaryFile();
  await Deno.writeTextFile(garbage.path, "\x7fELF\x01garbage");
  const attributesOf = ({ resources }: Signals) =>
    resources.map(({ attributes }) => attributes["profiler.capture"] ?? "").join();
  for (const path of [garbage.path, "/none/libtool.so"]) {
    await exact("live", {
      env: { CUDA_INJECTION64_PATH: path },
      async during({ run, openGate }) {
        await until(async () =>
          attributesOf(await readLocal(run)).includes(`${path}, which is no tool`)
        );
        await openGate();
      },
    });
  }
});

test("work after idle seconds does not interrupt the profiler", async () => {
  const { payload } = await exact("bursts");
  assert.deepEqual(payload.errors, []);
});

test("a long capture of a graph does not interrupt the profiler", async () => {
  for (const { errors } of await Promise.all(["graph", "node"].map(capture))) {
    assert.deepEqual(errors, []);
  }
  async function capture(mode: string) {
    const flags = ["--cuda-graph-trace", mode];
    return (await runScenario("long_capture", { flags })).payload;
  }
});

test('"none" in CUDA_INJECTION64_PATH is not a tool', async () => {
  await exact("plain", { env: { CUDA_INJECTION64_PATH: "none" } });
});

/** Asserts that the workload runs as without the profiler, and that the payload has the reason. */
async function refused(options: harness.ScenarioOptions, reason: RegExp): Promise<void> {
  const { status, payload } = await runScenario("steady", options);
  assert.equal(status.code, 0);
  assert.deepEqual(payload.metrics.filter(({ name }) => name === "cuda_kernels_nanoseconds"), []);
  const states = captureStates(payload);
  assert(states.some((state) => state.startsWith("0 ") && reason.test(state)), states.join());
}

/** Runs with copies of files: `files` by path in a new folder; those in `loads` are loaded first. */
async function withFiles(
  files: Record<string, string>,
  options: { loads: string[]; env?: (folder: string) => Record<string, string> },
): Promise<string> {
  await using folder = await temporaryDirectory();
  for (const [path, from] of Object.entries(files)) {
    const parent = `${folder.path}/${path}`.replace(/\/[^/]*$/, "");
    await Deno.mkdir(parent, { recursive: true });
    await Deno.copyFile(from, `${folder.path}/${path}`);
  }
  let maps = "";
  await exact("live", {
    toolkit: null,
    env: {
      ...options.env?.(folder.path),
      WORKLOAD_LOADS: options.loads.map((path) => `${folder.path}/${path}`).join(":"),
    },
    async during({ books, openGate }) {
      const [own] = await until(async () => (await books()).length > 0 && await books());
      maps = await Deno.readTextFile(`/proc/${own!.pid}/maps`);
      await openGate();
    },
  });
  const used = new Set(maps.match(/\S*libcupti\S*/g));
  assert.equal(used.size, 1, [...used].join());
  return [...used][0]!.slice(folder.path.length + 1);
}

test("the loaded CUPTI is used, else that of the process's CUDA, in any known folder", async () => {
  const cupti12 = `${await libraries("12.4")}/libcupti.so.12`;
  const cupti13 = `${await libraries("13.0")}/libcupti.so.13`;
  const runtime = await otherTool();
  const wheel12 = "site-packages/nvidia/cuda_cupti/lib/libcupti.so.12";
  const wheel13 = "site-packages/nvidia/cu13/lib/libcupti.so.13";
  const runtime12 = "site-packages/nvidia/cuda_runtime/lib/libcudart.so.12";
  const toolkit = "cuda/extras/CUPTI/lib64/libcupti.so.13";
  const env = (folder: string) => ({ CUDA_HOME: `${folder}/cuda` });
  const files = {
    [wheel12]: cupti12,
    [wheel13]: cupti13,
    [toolkit]: cupti13,
    [runtime12]: runtime,
  };
  assert.equal(await withFiles(files, { loads: [runtime12], env }), wheel12);
  assert.equal(await withFiles(files, { loads: [runtime12, toolkit], env }), toolkit);
  assert.equal(await withFiles({ [toolkit]: cupti13 }, { loads: [], env }), toolkit);
  const newer = { [wheel13]: cupti13, "site-packages/nvidia/cu13/lib/libcudart.so.13": runtime };
  assert.equal(await withFiles(newer, { loads: [Object.keys(newer)[1]!] }), wheel13);
});

test("without a CUPTI the workload runs, and the payload says so", async () => {
  await refused({ toolkit: null }, /cupti/i);
});

test("with another tool subscribed the workload runs, and the payload names it", async () => {
  await refused({ env: { FAKE_SUBSCRIBE: "39" } }, /Nsight Systems/);
  await refused({ env: { FAKE_SUBSCRIBE: "39" }, toolkit: "12.4" }, /tool|subscri/i);
});

for (
  const [error, meaning] of [
    ["15", /cannot connect to the driver.* error 15\)$/],
    ["23", /another profiler is active.* error 23\)$/],
    ["35", /may not profile.*NVreg_.* error 35\)$/],
    ["77", /refused a call \(cuptiActivityEnable\(9\): CUPTI error 77\)$/],
    ["999", /check that nvidia-smi works.* error 999\)$/],
  ] as const
) {
  test(`with CUPTI's error ${error} the workload runs, and the payload says so`, async () => {
    await refused({ env: { FAKE_ENABLE: error } }, meaning);
  });
}

test("a libcupti newer than the driver is named with both versions", async () => {
  await using folder = await temporaryDirectory();
  const runtime = `${folder.path}/libcudart.so.13`;
  await Deno.copyFile(await otherTool(), runtime);
  for (const error of ["15", "999"]) {
    await refused({
      env: { FAKE_ENABLE: error, FAKE_DRIVER: "12040", WORKLOAD_LOADS: runtime },
    }, /CUDA 13\.0 is newer than the driver, which supports CUDA 12\.4: update/);
  }
});

test("without a driver the payload says so", async () => {
  const { status, payload } = await runScenario("no_driver");
  assert.equal(status.code, 0);
  assert.match(captureStates(payload).join(), /^0 this process has no CUDA driver: libcuda/);
});

test("a MIG instance has its own uuid", async () => {
  const { payload } = await runScenario("plain", { env: { FAKE_MIG: "1" } });
  const found = payload.metrics.flatMap(({ name, tags }) =>
    name === "cuda_kernels_nanoseconds" ? [tags["device.uuid"]] : []
  );
  assert.deepEqual(found.sort(), [0, 1].map((device) => harness.uuid(device, "MIG-0f")));
});

async function temporaryFile(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempFile({ prefix: "service-test-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path) };
}
