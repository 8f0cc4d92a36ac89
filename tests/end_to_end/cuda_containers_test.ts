/** Tests of CUDA processes in their own namespaces, with directories that the profiler does not share. */

import assert from "node:assert/strict";
import { readLocal, until } from "../stack.ts";
import { compiler } from "../doubles/cuda/build.ts";
import { captureStates, exact, isExact, runScenario } from "../doubles/cuda/harness.ts";
import { HOME, run } from "../command.ts";
import { missingCompiler, testUnless } from "../skipping.ts";

const PID_NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"];

/** Words of a wrapper that runs a command in a mount namespace; `set` is shell code that mounts. */
function mounted(set: string): string[] {
  return ["unshare", "--mount", "sh", "-c", `${set} && exec "$@"`, "sh"];
}

/** A tmpfs with less room than a segment takes. */
const TINY = "mount -t tmpfs -o size=1M none /dev/shm";
/** Hides the run's state directory. */
const ELSEWHERE =
  'mkdir -p "$XDG_STATE_HOME/service" && mount -t tmpfs none "$XDG_STATE_HOME/service"';

async function test(name: string, wrapper: string[], run: () => Promise<void>): Promise<void> {
  const missing = missingCompiler(compiler) ??
    (await succeeds([...wrapper, "true"]) ? null : `no ${wrapper.slice(0, 2).join(" ")} here`);
  testUnless(missing)(name, run);
}

async function succeeds(words: string[]): Promise<boolean> {
  if (Deno.build.os !== "linux") return false;
  const ended = run(words, { XDG_STATE_HOME: HOME });
  return await ended.then(({ status }) => status.success, () => false);
}

await test(
  "a process in a container has its own pid among the tags, and ours",
  PID_NAMESPACE,
  async () => {
    await exact("live", {
      wrapper: PID_NAMESPACE,
      async during({ run, kept, openGate }) {
        const done = await kept();
        const payload = await until(async () => {
          const read = await readLocal(run);
          return isExact(read, done) && read;
        });
        const { tags } = payload.metrics.find(({ name }) => name === "cuda_kernels_nanoseconds")!;
        assert.equal(tags["process.pid"], "1");
        const status = Deno.readTextFileSync(`/proc/${tags["process.host_pid"]}/status`);
        assert.match(status, /^Name:\s+workload$/m);
        assert.match(status, /^NSpid:.*\t1$/m);
        await openGate();
      },
    });
  },
);

await test(
  "shared memory is the only directory that a container must share",
  mounted(":"),
  async () => {
    await exact("plain", { wrapper: mounted(ELSEWHERE) });
  },
);

await test(
  "if shared memory is too small, the state directory is used",
  mounted(TINY),
  async () => {
    await exact("plain", { wrapper: mounted(TINY) });
  },
);

await test(
  "without a writable directory the workload runs, unmeasured",
  mounted(TINY),
  async () => {
    const wrapper = mounted(`${TINY} && ${ELSEWHERE.replace("none", "-o size=1M none")}`);
    const { status, payload } = await runScenario("plain", { wrapper });
    assert.equal(status.code, 0);
    assert.deepEqual(captureStates(payload), []);
    const state = payload.metrics.find(({ tags }) => tags.capture === "gpu_kernels");
    assert.deepEqual(state?.stats, { value: 0 });
  },
);
