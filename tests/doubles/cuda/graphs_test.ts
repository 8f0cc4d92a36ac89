/** Test of graph signatures by a C program that makes CUPTI's callbacks; also under each sanitizer. */

import { run } from "../../command.ts";
import { missingCompiler, testUnless } from "../../skipping.ts";
const FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-g"];
const SANITIZERS = ["", "address,undefined", "thread"];
const HERE = new URL("./", import.meta.url).pathname;
const SOURCES = [
  "graphs.c",
  "../../../ffi/cuda/graphs.c",
  "../../../ffi/cuda/graph_ids.c",
  "../../../ffi/cuda/graph_shape.c",
  "../../../ffi/cuda/graph_store.c",
];

const test = testUnless(missingCompiler(await has("cc")));

for (const sanitizer of SANITIZERS) {
  const name = `graph signatures hold${sanitizer && ` under -fsanitize=${sanitizer}`}`;
  test(name, async () => {
    const program = await Deno.makeTempFile();
    try {
      const sanitize = sanitizer ? [`-fsanitize=${sanitizer}`] : [];
      const sources = SOURCES.map((name) => HERE + name);
      await succeed("cc", [...FLAGS, ...sanitize, ...sources, "-lpthread", "-o", program]);
      await succeed(program, []);
    } finally {
      await Deno.remove(program);
    }
  });
}

async function succeed(command: string, args: string[]): Promise<void> {
  const { status, stderr } = await run([command, ...args]);
  if (!status.success) throw new Error(`${command} failed:\n${stderr}`);
}

async function has(compiler: string): Promise<boolean> {
  return await run([compiler, "--version"]).then(({ status }) => status.success, () => false);
}
