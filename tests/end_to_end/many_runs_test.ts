/** Tests of several runs on one host: each is readable and found, also when one of them is killed. */

import assert from "node:assert/strict";
import { decode } from "@service/core";
import { readLocal, type Run, startRun, until, watcherOf } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

/** What a run tells others on this host. */
interface Listed {
  url: string;
  pid: number;
  start_ns: bigint;
  context: Record<string, string>;
}

const RANKS = Array.from({ length: 8 }, (_, rank) => String(rank));

/** Files of the endpoints of runs with their state in `directory`, by rank. */
async function listed(directory: string): Promise<Map<string, Listed>> {
  const folder = `${directory}/service/endpoints`;
  const files = new Map<string, Listed>();
  try {
    for await (const { name } of Deno.readDir(folder)) {
      if (!name.endsWith(".json")) continue;
      const file = decode(await Deno.readTextFile(`${folder}/${name}`)) as Listed;
      files.set(file.context["process.rank"]!, file);
    }
  } catch (error) {
    // No run has come this far, or one has just ended.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return files;
}

/** Starts a run as `mpirun` starts one for each rank: none names a port. */
function startRank(rank: string, directory: string): Run {
  return startRun(["sleep", "1000"], {
    directory,
    flags: [],
    env: { OMPI_COMM_WORLD_RANK: rank, PMIX_NAMESPACE: "prterun-node0-7@1" },
  });
}

Deno.test("of eight runs at once each is readable, found and grouped; one is killed", async () => {
  await using directory = await temporaryDirectory();
  await using stack = new AsyncDisposableStack();
  const runs = RANKS.map((rank) => stack.use(startRank(rank, directory.path)));
  const urls = await Promise.all(runs.map(({ url }) => url));
  assert.equal(new Set(urls).size, runs.length);
  const files = await until(async () => {
    const files = await listed(directory.path);
    return files.size === runs.length && files;
  });
  for (const [rank, run] of runs.entries()) {
    const { context, start_ns } = await readLocal(run);
    assert.equal(context["process.rank"], String(rank));
    assert.equal(context.job, "prterun-node0-7@1");
    const { url, pid, ...told } = files.get(String(rank))!;
    assert.equal(url, urls[rank]);
    assert.equal(pid, await watcherOf(run));
    assert.deepEqual(told, { host: Deno.hostname(), start_ns, context });
  }

  const [killed, ...others] = runs;
  // The profiler first: it would notice the end of the supervisor, and end in order.
  Deno.kill(await watcherOf(killed!), "SIGKILL");
  killed!.process.kill("SIGKILL");
  assert.equal((await killed!.ended).status.signal, "SIGKILL");
  for (const run of others) await readLocal(run);
  assert.deepEqual([...(await listed(directory.path)).keys()].sort(), RANKS);

  await using next = startRank("8", directory.path);
  await next.url;
  await until(async () => !(await listed(directory.path)).has("0"));
  const living = await until(async () => {
    const files = await listed(directory.path);
    return files.has("8") && files;
  });
  assert.deepEqual([...living.keys()].sort(), [...RANKS.slice(1), "8"]);

  for (const run of [...others, next]) run.process.kill("SIGTERM");
  const ends = await Promise.all([...others, next].map(({ ended }) => ended));
  assert.equal((await listed(directory.path)).size, 0);
  for (const { stderr } of ends) {
    const notices = stderr.match(/the port is in use; \/signals is served at/g) ?? [];
    const url = /signals at (\S+)\/signals/.exec(stderr)![1]!;
    assert.equal(notices.length, url.endsWith(":18259") ? 0 : 1);
  }
});

Deno.test("when the profiler alone is killed, the workload goes on, and its file is out of date", async () => {
  await using directory = await temporaryDirectory();
  await using run = startRank("0", directory.path);
  await run.url;
  await until(async () => (await listed(directory.path)).size === 1);
  Deno.kill(await watcherOf(run), "SIGKILL");
  await using next = startRank("1", directory.path);
  await next.url;
  const files = await until(async () => {
    const files = await listed(directory.path);
    return files.has("1") && files.size === 1 && files;
  });
  assert.equal(files.get("1")!.url, await next.url);
  run.process.kill("SIGTERM");
  assert.equal((await run.ended).status.signal, "SIGTERM");
});

Deno.test("a port that the user named is taken: the workload does not start", async () => {
  await using directory = await temporaryDirectory();
  await using first = startRun(["sleep", "1000"], { directory: directory.path });
  const { port } = new URL(await first.url);
  const { status, stdout, stderr } = await startRun(["echo", "ran"], {
    directory: directory.path,
    flags: [],
    env: { SERVICE_LISTEN_PORT: port },
  }).ended;
  assert.equal(status.code, 2);
  assert.equal(stdout, "");
  assert.equal(stderr, `service-run: cannot listen on 127.0.0.1:${port}: the port is in use\n`);
});

Deno.test("a run that has neither the default port nor a file says so, and is readable", async () => {
  await using directory = await temporaryDirectory();
  await Deno.mkdir(`${directory.path}/service`);
  await Deno.writeTextFile(`${directory.path}/service/endpoints`, "no directory");
  // An address of this test alone: elsewhere other programs take and give back the default port.
  using _taken = Deno.listen({ hostname: "127.0.0.77", port: 18259 });
  await using run = startRun(["sleep", "1000"], {
    directory: directory.path,
    flags: ["--listen-host", "127.0.0.77"],
  });
  await readLocal(run);
  run.process.kill("SIGTERM");
  const { stderr } = await run.ended;
  assert.match(stderr, /http:\/\/127\.0\.0\.77:\d+ is not listed in .*\/service\/endpoints: /);
});
