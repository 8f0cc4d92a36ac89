/** Much output at once: what may matter in it is found, or counted as not looked at. */

import assert from "node:assert/strict";
import { temporaryDirectory } from "../temporary_directory.ts";
import { namesOf, runFlood, writeFlood } from "./flood.ts";
import { test } from "./supervisor.ts";

const NAMES = namesOf(20);

async function found(redirection: string) {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  await writeFlood(`${path}/output`, { megabytes: 64, names: NAMES });
  const redirected = redirection.replaceAll("$D", path);
  return await runFlood(`${path}/output`, { directory: path, redirection: redirected });
}

for (const redirection of ["> $D/log", "> $D/log 2>&1", "> $D/log 2>> $D/log", ">> $D/log"]) {
  test(`no error in a regular file is missed: ${redirection}`, async () => {
    const { names, lost_bytes } = await found(redirection);
    assert.deepEqual([names, lost_bytes], [NAMES, 0]);
  });
}

test("an error in a flood through a pipe is found, or bytes are counted as not looked at", async () => {
  const { names, lost_bytes } = await found("| cat > /dev/null");
  assert(names.length === NAMES.length || lost_bytes > 0, `${names.length} found`);
});
