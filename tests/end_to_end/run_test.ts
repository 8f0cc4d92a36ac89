/** Runs of `service-run`: exit codes, signals, output, environment and payload. */

import assert from "node:assert/strict";
import { constants } from "node:os";
import { catalogue, type Signals, signals } from "@service/core";
import { SECOND_NS, secondsFromNs } from "@service/core/time";
import { testUnless } from "../skipping.ts";
import { readLocal, startRun, until } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

/** Runs a command to its end, with its own state directory. */
async function run(
  command: string[],
  options: { flags?: string[]; env?: Record<string, string> } = {},
) {
  await using directory = await temporaryDirectory();
  return await startRun(command, {
    directory: directory.path,
    env: { SERVICE_DEBUG: "" },
    ...options,
  })
    .ended;
}

Deno.test("exit code and output are the workload's, and the profiler prints nothing", async () => {
  const { status, stdout, stderr } = await run([
    "bash",
    "-c",
    "printf out; printf err >&2; exit 7",
  ]);
  assert.equal(status.code, 7);
  assert.equal(stdout, "out");
  assert.equal(stderr, "err");
});

for (const signal of ["SIGTERM", "SIGKILL", "SIGSEGV", "SIGABRT", "SIGPIPE"] as const) {
  Deno.test(`a workload that dies of ${signal} ends the profiler the same way`, async () => {
    const { status } = await run(["bash", "-c", `kill -${signal.slice(3)} $$`]);
    assert.equal(status.signal, signal);
  });
}

const status = await Deno.readTextFile("/proc/self/status").catch(() => "");
const [, ignored = "0"] = /^SigIgn:\s*(\w+)/m.exec(status) ?? [];

/** Whether a script has started this in the background, say: what is ignored here is so in all runs. */
function isIgnored(signal: keyof typeof constants.signals): boolean {
  return (BigInt(`0x${ignored}`) >> BigInt(constants.signals[signal] - 1) & 1n) === 1n;
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT"] as const) {
  const test = testUnless(isIgnored(signal) ? `${signal} is ignored here` : null);
  test(`${signal} is forwarded to the workload, which may handle it`, async () => {
    await using directory = await temporaryDirectory();
    const script = `trap 'exit 42' ${signal.slice(3)}; echo ready; while :; do sleep 0.05; done`;
    await using work = startRun(["bash", "-c", script], { directory: directory.path });
    await work.stdout.match(/(ready)/);
    work.process.kill(signal);
    assert.equal((await work.ended).status.code, 42);
  });
}

Deno.test("a missing command exits with 127, one that cannot be executed with 126", async () => {
  const missing = await run(["no-such-command-anywhere"]);
  assert.equal(missing.status.code, 127);
  assert.equal(missing.stderr, "service-run: no-such-command-anywhere: command not found\n");
  const forbidden = await run(["/etc/passwd"]);
  assert.equal(forbidden.status.code, 126);
  assert.equal(forbidden.stderr, "service-run: /etc/passwd: permission denied\n");
});

Deno.test("a script without #! is run by the shell", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  await Deno.writeTextFile(`${path}/script`, 'echo "$1"; exit 5\n', { mode: 0o755 });
  const PATH = `/no/such/folder:${path}:${Deno.env.get("PATH")}`;
  for (const command of [`${path}/script`, "script"]) {
    const { status, stdout } = await run([command, "a word"], { env: { PATH } });
    assert.equal(status.code, 5);
    assert.equal(stdout, "a word\n");
  }
});

Deno.test("a bad flag exits with 2, prints the allowed ones, and starts nothing", async () => {
  await using directory = await temporaryDirectory();
  const touched = `${directory.path}/touched`;
  const { status, stderr } = await run(["touch", touched], { flags: ["--listen-port", "70000"] });
  assert.equal(status.code, 2);
  assert.match(stderr, /^service-run: --listen-port must be a port from 0 to 65535.*\n$/);
  await assert.rejects(Deno.stat(touched), Deno.errors.NotFound);
});

Deno.test("--version and --help answer on stdout", async () => {
  assert.match((await run([], { flags: ["--version"] })).stdout, /^service-run \d+\.\d+\.\d+\n$/);
  assert.match((await run([], { flags: ["--help"] })).stdout, /^Usage: service-run/);
});

Deno.test("a taken port given by a flag ends the run before the workload starts", async () => {
  const other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = other.addr as Deno.NetAddr;
  const { status, stdout, stderr } = await run(["echo", "ran"], {
    flags: ["--listen-port", String(port)],
  });
  other.close();
  assert.equal(status.code, 2);
  assert.equal(stdout, "");
  assert.match(stderr, new RegExp(`cannot listen on 127.0.0.1:${port}: the port is in use`));
});

Deno.test("the workload has the environment of the run and the id of the instance", async () => {
  const { stdout } = await run(["env"], {
    env: { SERVICE_DEBUG: "", DENO_SERVE_ADDRESS: "tcp:127.0.0.1:1", WITH_NEWLINE: "a\nb" },
  });
  assert.match(stdout, /^DENO_SERVE_ADDRESS=tcp:127.0.0.1:1$/m);
  assert.match(stdout, /^WITH_NEWLINE=a\nb$/m);
  assert.match(stdout, /^SERVICE_INSTANCE_ID=[0-9a-f]{12}$/m);
});

Deno.test("the payload counts from the instance start, and has only metrics of the catalogue", async () => {
  await using directory = await temporaryDirectory();
  await using work = startRun(
    [
      "python3",
      "-c",
      "import sys; [sum(range(10**6)) for _ in iter(int, 1)]",
      "--api-key",
      "s3cret",
    ],
    {
      directory: directory.path,
      flags: ["--listen-port", "0", "--tag", "team=kernels"],
      env: { SERVICE_TAG_STAGE: "test", RANK: "3" },
    },
  );
  const total = ({ context, metrics }: Signals, name: string) => {
    const found = metrics.find((metric) =>
      metric.name === name && metric.tags["process.pid"] === context["process.pid"]
    );
    return found && "total" in found.stats ? Number(found.stats.total) : NaN;
  };
  const seconds = ({ payload_ns, start_ns }: Signals) => Number(payload_ns - start_ns) / 1e9;
  const first = await readLocal(work);
  // A process that never rests uses a core, or what others leave of it.
  const later = await until(async () => {
    const payload = await readLocal(work);
    return seconds(payload) > 3 && total(payload, "process_user_cpu_seconds") > 0.3 && payload;
  });

  assert.match(later.context["instance.id"]!, /^[0-9a-f]{12}$/);
  assert.equal(later.context["team"], "kernels");
  assert.equal(later.context["stage"], "test");
  assert.equal(later.context["process.rank"], "3");
  assert.equal(later.context["host.name"], Deno.hostname());
  assert.equal(later.start_ns, first.start_ns);

  const known = new Map(catalogue.map(({ name, type }) => [name, type]));
  for (const { name, type } of later.metrics) assert.equal(known.get(name), type, name);

  const busy = total(later, "process_user_cpu_seconds");
  assert(busy <= seconds(later) + 1, `${busy} s of ${seconds(later)} s`);
  assert(total(later, "process_context_switches_involuntary_total") >= 0);

  const described = later.resources.find(({ tags }) =>
    tags["process.pid"] === later.context["process.pid"]
  )!;
  assert.match(described.attributes["process.command_line"]!, /--api-key \[redacted\]$/);
  assert(later.resources.some(({ kind }) => kind === "host"));
});

Deno.test("a span of the run is read by seconds, and from where the last read ended", async () => {
  await using directory = await temporaryDirectory();
  await using work = startRun(["sleep", "1000"], { directory: directory.path });
  const covered = ({ metrics }: Signals) => {
    const stats = metrics.find(({ name }) => name === "profiler_covered_nanoseconds")!.stats;
    return "total" in stats ? BigInt(stats.total) : -1n;
  };
  const first = await until(async () => {
    const payload = await readLocal(work);
    return payload.payload_ns - payload.start_ns > 3n * SECOND_NS && payload;
  });
  const last = await readLocal(work, "?seconds=2");
  assert.equal(last.payload_ns - last.start_ns, covered(last));
  assert(covered(last) >= 2n * SECOND_NS && covered(last) < 3n * SECOND_NS);

  const from = secondsFromNs(first.payload_ns);
  const next = await until(async () => {
    const payload = await readLocal(work, `?start=${from}`);
    return payload.payload_ns > first.payload_ns && payload;
  });
  assert.equal(next.start_ns, first.payload_ns);
  const both = await readLocal(work, `?end=${secondsFromNs(next.payload_ns)}`);
  assert.equal(both.start_ns, first.start_ns);
  assert.equal(covered(both), covered(first) + covered(next));
});

Deno.test("after the end no port is open, and the last payload is a file", async () => {
  await using directory = await temporaryDirectory();
  const snapshotFile = `${directory.path}/last.json`;
  await using work = startRun(["sleep", "1000"], {
    directory: directory.path,
    env: { SERVICE_SNAPSHOT_FILE: snapshotFile },
  });
  const url = await work.url;
  const { context } = await readLocal(work);
  work.process.kill("SIGTERM");
  await work.ended;
  await assert.rejects(fetch(`${url}/signals`), TypeError);
  const { decode } = await import("@service/core");
  const last = signals.check(decode(await Deno.readTextFile(snapshotFile)));
  assert.deepEqual(last.context, context);
  assert(last.metrics.length > 20);
});

Deno.test("a taken default port is reported once, and the workload runs", async () => {
  // An address of this test alone: elsewhere other programs take and give back the default port.
  using _taken = Deno.listen({ hostname: "127.0.0.78", port: 18259 });
  await using directory = await temporaryDirectory();
  const listed = `${directory.path}/service/endpoints/*.json`;
  const script = `until ls ${listed} > /dev/null 2>&1; do sleep 0.01; done; echo ran`;
  await using work = startRun(["bash", "-c", script], {
    directory: directory.path,
    env: { SERVICE_DEBUG: "" },
    flags: ["--listen-host", "127.0.0.78"],
  });
  const { status, stdout, stderr } = await work.ended;
  assert.equal(status.code, 0);
  assert.equal(stdout, "ran\n");
  const notice =
    /^service-run: .*\.78:18259: the port is in use; \/signals is served at http:\/\/127\.0\.0\.78:\d+\n$/;
  assert.match(stderr, notice);
});
