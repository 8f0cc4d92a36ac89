/** Processes that use CUDA: forks, uploads that describe them, ends of every kind. */

import assert from "node:assert/strict";
import { type ReadUpload, readUpload } from "../../local/upload/testdata/upload.ts";
import { compiler } from "../doubles/cuda/build.ts";
import { assertExact, exact, isExact, runScenario } from "../doubles/cuda/harness.ts";
import { missingCompiler, testUnless } from "../skipping.ts";
import { readLocal, until, uploadTo } from "../stack.ts";

const test = testUnless(missingCompiler(compiler));

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
      async during({ run, kept, openGate }) {
        const done = await kept();
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
    async during({ run, kept, openGate }) {
      const done = await kept();
      await until(async () => isExact(await readLocal(run), done));
      await openGate();
    },
  });
});

test("a process that outlives the run neither hangs nor crashes", async () => {
  const { status } = await runScenario("orphan", { outlived: true });
  assert.equal(status.code, 0);
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
