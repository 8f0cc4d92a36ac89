/** The commands of `deno task admin`, run as programs. */

import assert from "node:assert/strict";
import { runScript } from "./testing/process.ts";
import { temporaryFolder } from "./testing/each_storage.ts";
import { get, startService } from "./testing/api.ts";
import { CACHED_FOR_NS } from "./tenancy/key_cache.ts";
import { prefixOf } from "./tenancy/keys.ts";

Deno.test("a key is created, used, listed without its secret, and revoked", async () => {
  using folder = temporaryFolder();
  const admin = (...args: string[]) =>
    runScript("./admin.ts", args, { SERVICE_DATABASE_URL: folder.url });

  const created = await admin("create-key", "--project", "demo", "--name", "laptop");
  assert.deepEqual([created.code, created.stderr], [0, ""]);
  const key = created.stdout.trimEnd();
  const prefix = prefixOf(key)!;
  assert.equal(created.stdout, `${key}\n`);
  assert.ok(prefix);

  using service = await startService(folder.url);
  assert.equal((await get(service, "/api/v1/instances", key)).status, 200);

  const keys = await admin("list-keys");
  assert.match(
    keys.stdout,
    new RegExp(`^${prefix}\\tdemo\\tlaptop\\tread,write\\tcreated \\S+\\tnever used\\tvalid\\n`),
  );
  assert.ok(!keys.stdout.includes(key));
  assert.match((await admin("list-projects")).stdout, /^demo\tcreated \S+\t1 valid keys\t0 inst/);

  const revoked = await admin("revoke-key", prefix);
  assert.deepEqual(revoked, { code: 0, stdout: "", stderr: "" });
  service.clock.now_ns += CACHED_FOR_NS;
  assert.equal((await get(service, "/api/v1/instances", key)).status, 401);
  assert.match((await admin("list-keys")).stdout, /\trevoked \S+\n/);

  const unknown = await admin("revoke-key", "svc_00000000");
  assert.equal(unknown.code, 1);
  assert.match(
    unknown.stderr,
    /^Cannot revoke the key: none that is valid starts with "svc_00000000"/,
  );
});

Deno.test("wrong usage prints the usage, and creates no database", async () => {
  using folder = temporaryFolder();
  const wrong = [
    [],
    ["make-key"],
    ["create-key"],
    ["create-key", "--project"],
    ["create-key", "--project", ""],
    ["create-key", "extra", "--project", "demo"],
    ["create-key", "--project", "demo", "--colour", "red"],
    ["list-keys", "--project", "demo"],
    ["create-key", "--project", "demo", "--scope", "all"],
    ["create-key", "--project", "demo", "--expires", "soon"],
    ["rotate-key", "svc_00000000"],
    ["move-project", "demo", "--to", "elsewhere"],
    ["set-quotas", "--project", "demo", "--max-series", "many"],
    ["revoke-key"],
  ];
  await Promise.all(wrong.map(async (args) => {
    const { code, stdout, stderr } = await runScript("./admin.ts", args, {
      SERVICE_DATABASE_URL: folder.url,
    });
    assert.deepEqual([code, stdout], [2, ""], args.join(" "));
    assert.match(stderr, /Usage:\n/);
  }));
  assert.deepEqual([...Deno.readDirSync(folder.path)], []);
});

Deno.test("projects and keys are limited, replaced and moved from the command line", async () => {
  using folder = temporaryFolder();
  const admin = async (...args: string[]) => {
    const env = { SERVICE_DATABASE_URL: folder.url };
    const { code, stdout, stderr } = await runScript("./admin.ts", args, env);
    assert.deepEqual([code, stderr], [0, ""], args.join(" "));
    return stdout.trimEnd();
  };
  await admin("create-project", "--name", "demo");
  const reader = await admin(
    "create-key",
    "--project",
    "demo",
    "--scope",
    "read",
    "--expires",
    "1d",
  );
  const rotated = await admin("rotate-key", prefixOf(reader)!, "--overlap", "0s");
  await admin("set-quotas", "--project", "demo", "--max-series", "7", "--max-instances", "default");
  await admin("move-project", "demo", "--to", `file:${folder.path}/elsewhere.db`);
  assert.match(
    await admin("list-projects"),
    /^demo\t.*\t1 valid keys\t0 instances\tfile:.*elsewhere/,
  );
  assert.match(await admin("list-keys"), /\tread\t.*\texpired .*\n.*\tread\t.*\tvalid$/);
  using service = await startService(folder.url);
  assert.equal((await get(service, "/api/v1/instances", rotated)).status, 200);
  const { rows } = await service.db.query("SELECT max_series, max_instances FROM projects LIMIT 1");
  assert.deepEqual(rows, [{ max_series: 7n, max_instances: null }]);

  const env = { SERVICE_DATABASE_URL: folder.url };
  for (
    const args of [["move-project", "none", "--to", "control"], [
      "rotate-key",
      "x",
      "--overlap",
      "1h",
    ]]
  ) {
    const { code, stderr } = await runScript("./admin.ts", args, env);
    assert.equal(code, 1);
    assert.match(stderr, /^Cannot (find the project|rotate the key): none .*\n$/);
  }
});
