/** Directories follow the environment. */

import assert from "node:assert/strict";
import { stateDirectory } from "./directories.ts";

Deno.test("the state directory follows XDG, then the home directory, then the temporary one", () => {
  assert.equal(stateDirectory({ XDG_STATE_HOME: "/s", HOME: "/h" }), "/s/service");
  assert.equal(stateDirectory({ XDG_STATE_HOME: "s", HOME: "/h" }), "/h/.local/state/service");
  assert.equal(stateDirectory({}), "/tmp/service");
  assert.equal(stateDirectory({ SERVICE_STATE_DIR: "/d", XDG_STATE_HOME: "/s" }), "/d");
  assert.equal(stateDirectory({ SERVICE_STATE_DIR: "d" }), `${Deno.cwd()}/d`);
});
