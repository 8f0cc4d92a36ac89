/** The hosted API as a process of its own, for tests. */

/** A running `edge/main.ts`. */
export interface ServerProcess extends AsyncDisposable {
  /** Where it answers. */
  url: string;
  /** Sends the signal and gives the exit code. */
  stop: (signal: Deno.Signal) => Promise<number>;
}

/** Starts `edge/main.ts` on a free port; resolves when it answers. */
export async function startProcess(database_url: string): Promise<ServerProcess> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("./main.ts", import.meta.url).href],
    env: { SERVICE_DATABASE_URL: database_url, PORT: "0" },
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const stderr = process.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  let url: string | undefined;
  while (!url) {
    const { value, done } = await stderr.read();
    if (done) throw new Error(`Cannot start the hosted API: ${said}`);
    said += value;
    url = /listening on (http:\S+)\n/.exec(said)?.[1];
  }
  const stop = async (signal: Deno.Signal) => {
    process.kill(signal);
    while (!(await stderr.read()).done);
    return (await process.status).code;
  };
  return {
    url,
    stop,
    async [Symbol.asyncDispose]() {
      try {
        await stop("SIGKILL");
      } catch {
        // It had ended.
      }
    },
  };
}

/** What a script of this folder, run to its end, says. */
export async function runScript(
  script: string,
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL(script, import.meta.url).href, ...args],
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
