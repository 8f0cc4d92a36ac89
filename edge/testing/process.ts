/** The hosted API as a process of its own, for tests. */

import deno from "@deno/linux-x64-glibc/package.json" with { type: "json" };
import { command } from "../../tests/command.ts";

/** The folder of `edge/`. */
const EDGE = new URL("../", import.meta.url);

/** A running `edge/main.ts`. */
export interface ServerProcess extends AsyncDisposable {
  /** Base URL of the API. */
  url: string;
  pid: number;
  /** Sends the signal and gives the exit code. */
  stop: (signal: Deno.Signal) => Promise<number>;
  /** The exit code, once it has ended by itself. */
  ended: Promise<number>;
  /** Its stderr so far. */
  stderr: () => string;
}

/** How a program of `edge/` is run. */
export interface ProcessOptions {
  env?: Record<string, string>;
  /** With all permissions, or as on Deno Deploy: by its version of Deno, with network and environment alone. */
  like?: "here" | "deploy";
  script?: string;
}

/** The version of Deno that Deno Deploy runs, and its permissions. */
export const DEPLOY_DENO: { version: string; args: string[] } = {
  version: deno.version,
  args: ["run", "--allow-net", "--allow-env", "--v8-flags=--max-old-space-size=512", "--quiet"],
};

/** Starts `edge/main.ts` on a free port; resolves when it answers. */
export async function startProcess(
  database_url: string,
  { env = {}, like = "here", script = "./main.ts" }: ProcessOptions = {},
): Promise<ServerProcess> {
  const program = new URL(script, EDGE).href;
  const launcher = like === "here" ? [Deno.execPath(), "run", "-A"] : [
    new URL("./deno", import.meta.resolve("@deno/linux-x64-glibc/package.json")).pathname,
    ...DEPLOY_DENO.args,
  ];
  const process = command([...launcher, program], {
    env: { NO_COLOR: "1", SERVICE_DATABASE_URL: database_url, PORT: "0", ...env },
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let stderr = "";
  const ready = Promise.withResolvers<string>();
  // Read to the end: a process that writes to a full pipe blocks.
  const reading = (async () => {
    for await (const text of process.stderr.pipeThrough(new TextDecoderStream())) {
      stderr += text;
      const url = /listening on (http:\S+)\n/.exec(stderr)?.[1];
      if (url) ready.resolve(url);
    }
    const { code } = await process.status;
    ready.reject(new Error(`Cannot start the hosted API: ${stderr}`));
    return code;
  })();
  const url = await ready.promise;
  const stop = async (signal: Deno.Signal) => {
    process.kill(signal);
    return await reading;
  };
  return {
    url,
    pid: process.pid,
    stop,
    ended: reading,
    stderr: () => stderr,
    async [Symbol.asyncDispose]() {
      try {
        await stop("SIGKILL");
      } catch {
        // It had ended.
      }
    },
  };
}

/** Runs a script of `edge/` to its end. */
export async function runScript(
  script: string,
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const words = [Deno.execPath(), "run", "-A", new URL(script, EDGE).href, ...args];
  const { code, stdout, stderr } = await command(words, {
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
