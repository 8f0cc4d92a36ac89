/** A process that writes a segment as a test commands. */

import { command, run } from "../command.ts";
const HERE = new URL("./", import.meta.url).pathname;
const SEGMENT = ["segment", "file", "tables"].map((name) =>
  new URL(`../../ffi/segment/${name}.c`, import.meta.url).pathname
);
const FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"];

/** Path of the program compiled from `NAME.c`, or `null` without a C compiler. */
export async function buildProgram(name: string, directory: string): Promise<string | null> {
  const path = `${directory}/${name}`;
  try {
    const { status, stderr } = await run(
      ["cc", ...FLAGS, `${HERE}${name}.c`, ...SEGMENT, "-o", path],
    );
    if (!status.success) throw new Error(stderr);
    return path;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return null;
  }
}

/** Path of the program for {@linkcode startWriter}. */
export function buildWriter(directory: string): Promise<string | null> {
  return buildProgram("writer", directory);
}

/** A running writer. */
export interface Writer extends AsyncDisposable {
  readonly pid: number;
  /** Result of opening its segment: 0 or a negative errno. */
  readonly opened: number;
  /** Sends one command; the writer's answer. */
  tell(line: string): Promise<number>;
  /** Kills it at any instruction, and waits for its end. */
  kill(): Promise<void>;
}

/** Starts the writer at `path` on `directories`. */
export async function startWriter(path: string, directories: string): Promise<Writer> {
  const process = command([path, directories], { stdin: "piped", stdout: "piped" }).spawn();
  const lines = readLines(process.stdout);
  const input = process.stdin.getWriter();
  const encoder = new TextEncoder();
  const answer = async () => (await lines.next()).value ?? "";
  const [opened = NaN, pid = NaN] = (await answer()).split(" ").map(Number);
  const kill = async () => {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await process.status;
  };
  return {
    pid,
    opened,
    async tell(line) {
      await input.write(encoder.encode(`${line}\n`));
      return Number(await answer());
    },
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
      await input.abort().catch(() => {});
      await lines.return(undefined);
    },
  };
}

async function* readLines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (text + part).split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
}
