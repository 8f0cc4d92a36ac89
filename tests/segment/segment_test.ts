/** The writer of segments in C. */

import assert from "node:assert/strict";
import { buildProgram, startWriter } from "./writer.ts";
import { run } from "../command.ts";
import { missingCompiler, testUnless } from "../skipping.ts";

const built = await Deno.makeTempDir({ prefix: "service-test-" });
addEventListener("unload", () => Deno.removeSync(built, { recursive: true }));
const killed = await buildProgram("killed", built) ?? "";
const writer = await buildProgram("writer", built) ?? "";
const test = testUnless(missingCompiler(writer));

test("a writer killed at any instant leaves a consistent segment, as readers saw before", async () => {
  const { status, stdout, stderr } = await run([killed, `${built}/killed.d/x`, "600"]);
  assert(status.success, stderr);
  const [living = 0, dead = 0] = stdout.trim().split(" ").map(Number);
  assert(living > 0 && dead > 0, `read ${living} living and ${dead} dead`);
});

test("the segment is in the first directory that belongs to the user and has room", async () => {
  const open = `${built}/open`;
  Deno.mkdirSync(`${open}/x`, { recursive: true });
  Deno.chmodSync(`${open}/x`, 0o777);
  Deno.mkdirSync(`${built}/mine/x`, { recursive: true, mode: 0o700 });
  Deno.symlinkSync(`${built}/mine`, `${built}/link`);
  const candidates = ["relative", `${open}/x`, `${built}/link/x`, "/proc/none/x"];
  await using lost = await startWriter(writer, candidates.join(":"));
  assert(lost.opened < 0);
  assert.equal(
    await lost.tell("series n 1"),
    0xffffffff,
    "a segment that is not open ignores writes",
  );
  await using found = await startWriter(writer, [...candidates, `${built}/new/x`].join(":"));
  assert.equal(found.opened, 0);
  const { mode } = Deno.statSync(`${built}/new/x`);
  assert.equal(mode! & 0o777, 0o700);
  const [{ name }] = [...Deno.readDirSync(`${built}/new/x`)] as [Deno.DirEntry];
  assert.match(name, new RegExp(`^${found.pid}-\\d+$`));
  assert.equal(Deno.statSync(`${built}/new/x/${name}`).mode! & 0o777, 0o600);
});

test("a profile counts frames beyond its limit in one cell", async () => {
  await using process = await startWriter(writer, `${built}/full/x`);
  const series = await process.tell("series cuda_kernels_nanoseconds 3");
  await process.tell(`fill ${series} 5000`);
  const other = await process.tell(`frame ${series} (other)`);
  assert.equal(other, 4095);
  assert.equal(await process.tell(`frame ${series} one_more`), other);
  assert.equal(await process.tell(`frame ${series} frame_7`), 7);
  for (let i = 0; i < 4; i++) {
    await process.tell(`fill ${await process.tell(`series p${i} 3`)} 5000`);
  }
  const late = await process.tell("series late 3");
  assert.equal(
    await process.tell(`frame ${late} frame_1`),
    await process.tell(`frame ${late} (other)`),
    "each profile has room for it, also when all cells are given away",
  );
});
