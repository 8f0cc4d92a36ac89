/** The published package, run from a double of its registry. */

import assert from "node:assert/strict";
import { decode, signals } from "@service/core";
import { compilerFor } from "../../ffi/build.ts";
import { PRODUCTS } from "../../ffi/products.ts";
import { temporaryDirectory } from "../temporary_directory.ts";
import { type Registry, startRegistry } from "../doubles/registry.ts";
import { command } from "../command.ts";
import { missingCompiler, testUnless } from "../skipping.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname);

/** A path where not even root can create a folder. */
const NOWHERE = "/proc/self";

testUnless(missingCompiler(compilerFor(Deno.build.arch)))(
  "the published package runs a command under the native supervisor",
  async (t) => {
    await using directory = await temporaryDirectory();
    const { path } = directory;
    await using registry = startRegistry(`${path}/registry`);
    await publish(registry);
    const cache = `${path}/cache`;

    await t.step("the first run unpacks it once, for this platform alone", async () => {
      assert.equal(await run(registry, path, { XDG_CACHE_HOME: cache }), undefined);
      assert.deepEqual(listed(registry), [`${Deno.build.arch}.ts`]);
      assert.deepEqual(await unpackedIn(cache), Object.keys(PRODUCTS).sort());
    });

    await t.step("a later run needs no registry", async () => {
      const before = registry.asked.length;
      assert.equal(await run(registry, path, { XDG_CACHE_HOME: cache }), undefined);
      assert.equal(registry.asked.length, before);
    });

    await t.step("where the cache is read-only it is kept with the state", async () => {
      assert.equal(await run(registry, path, { XDG_CACHE_HOME: NOWHERE }), undefined);
      assert.deepEqual(
        await Array.fromAsync(Deno.readDir(`${path}/state/service/native`), nameOf),
        [
          ...await Array.fromAsync(Deno.readDir(`${cache}/service`), nameOf),
        ],
      );
    });

    await t.step("where nothing can be written, Deno runs the command and says why", async () => {
      const nowhere = { XDG_CACHE_HOME: NOWHERE, XDG_STATE_HOME: NOWHERE, TMPDIR: NOWHERE };
      // Run files would warn that they cannot be written.
      const env = { ...nowhere, SERVICE_RUN_FILES: "0" };
      assert.match(await run(registry, path, env) ?? "", /mkdir '\/proc\/self\/service/);
    });
  },
);

async function publish({ url }: Registry): Promise<void> {
  await deno(ROOT, ["run", "-A", "ffi/build.ts", "--package"]);
  for (const folder of [`${ROOT}core`, ROOT]) {
    const flags = ["--allow-dirty", "--no-check", "--no-provenance", "--quiet"];
    await deno(folder, ["publish", "--token", "any", ...flags], { JSR_URL: url });
  }
}

/** Runs a command with the package. Returns the reason if its console was not captured. */
async function run(
  { url }: Registry,
  path: string,
  env: Record<string, string>,
): Promise<string | undefined> {
  const snapshot = `${path}/last.json`;
  const words = ["--listen-port", "0", "--", "bash", "-c", "echo out; exit 7"];
  const { code, stdout, stderr } = await deno(
    path,
    ["run", "-A", "--quiet", "jsr:@service/run", ...words],
    {
      JSR_URL: url,
      DENO_DIR: `${path}/deno`,
      HOME: path,
      XDG_STATE_HOME: `${path}/state`,
      SERVICE_SNAPSHOT_FILE: snapshot,
      ...env,
    },
    7,
  );
  assert.deepEqual({ code, stdout, stderr }, { code: 7, stdout: "out\n", stderr: "" });
  const { metrics } = signals.check(decode(await Deno.readTextFile(snapshot)));
  const state = metrics.find(({ name, tags }) =>
    name === "profiler_capture_state" && tags.capture === "console_errors"
  );
  assert(state);
  return state.tags.reason;
}

/** Requested native files. */
function listed({ asked }: Registry): string[] {
  const marker = "/ffi/build/package/";
  return asked.filter((path) => path.includes(marker)).map((path) => path.split(marker)[1]!);
}

async function unpackedIn(cache: string): Promise<string[]> {
  const folders = await Array.fromAsync(Deno.readDir(`${cache}/service`), nameOf);
  assert.equal(folders.length, 1);
  const names = await Array.fromAsync(Deno.readDir(`${cache}/service/${folders[0]}`), nameOf);
  return names.sort();
}

const nameOf = ({ name }: Deno.DirEntry) => name;

async function deno(
  cwd: string,
  args: string[],
  env: Record<string, string> = {},
  expected = 0,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const output = await command([Deno.execPath(), ...args], { cwd, env }).output();
  const stdout = new TextDecoder().decode(output.stdout);
  const stderr = new TextDecoder().decode(output.stderr);
  assert.equal(output.code, expected, stderr);
  return { code: output.code, stdout, stderr };
}
