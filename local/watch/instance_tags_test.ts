/** Tags of an instance come from flags, variables and the place. */

import assert from "node:assert/strict";
import { instanceTags } from "./instance_tags.ts";

const run = { id: "0123456789ab", env: {}, hostname: "box", pid: 42 };
const ID = "4f".repeat(32);

Deno.test("an instance is tagged with its id, host and process", () => {
  assert.deepEqual(instanceTags(run), {
    "instance.id": "0123456789ab",
    "host.name": "box",
    "process.pid": "42",
  });
});

Deno.test("an instance has tags from the variables of job launchers that are not empty", () => {
  const env = { RANK: "3", LOCAL_RANK: "1", WORLD_SIZE: "8", SLURM_JOB_ID: "77", POD_UID: "" };
  const tags = instanceTags({ ...run, env: { ...env, PATH: "/bin" }, containerId: ID });
  assert.equal(tags["process.rank"], "3");
  assert.equal(tags["process.local_rank"], "1");
  assert.equal(tags["process.world_size"], "8");
  assert.equal(tags["slurm.job_id"], "77");
  assert.equal(tags["container.id"], ID);
  assert.equal("pod.uid" in tags, false);
});

Deno.test("tags of flags win over those of the environment, these over those of the place, and none over the id", () => {
  const env = {
    SERVICE_TAG_TEAM: "env",
    SERVICE_TAG_STAGE: "env",
    "SERVICE_TAG_HOST.NAME": "env",
    "SERVICE_TAG_INSTANCE.ID": "env",
    SERVICE_TAG_EMPTY: "",
    SERVICE_TAG_: "no name",
  };
  assert.deepEqual(
    instanceTags({ ...run, env, tags: { team: "given", flag: "", "instance.id": "given" } }),
    {
      "instance.id": "0123456789ab",
      "host.name": "env",
      "process.pid": "42",
      team: "given",
      flag: "",
      stage: "env",
    },
  );
});

Deno.test("an instance never has more tags than an upload may carry, and always its id, host and process", () => {
  const env = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`SERVICE_TAG_T${i}`, "x"]));
  const tags = instanceTags({ ...run, env, tags: { given: "kept" } });
  assert.equal(Object.keys(tags).length, 64);
  assert.equal(tags["instance.id"], run.id);
  assert.equal(tags["host.name"], "box");
  assert.equal(tags["process.pid"], "42");
  assert.equal(tags.given, "kept");
});
