/** Endpoint files tell others where runs answer, and those of killed runs are recognised. */

import assert from "node:assert/strict";
import { type Endpoint, listEndpoint, readEndpoints } from "./endpoint_file.ts";
import { command } from "../../tests/command.ts";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";

const HOST = "node0";

function endpoint(id: string, host = HOST): Endpoint {
  return {
    url: "http://127.0.0.1:18259",
    host,
    pid: 7,
    start_ns: 1_700_000_000_123_456_789n,
    context: { "instance.id": id, job: "77" },
  };
}

function names(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
}

async function idsOn(host: string, directory: string): Promise<string[]> {
  const found = await readEndpoints({ directory, host });
  return found.map(({ context }) => context["instance.id"]!).sort();
}

/** Leaves the file of a run that was killed: nothing holds its lock. */
async function leave(directory: string, id: string, host = HOST): Promise<string> {
  const module = import.meta.resolve("./endpoint_file.ts");
  const plain = { ...endpoint(id, host), start_ns: 1 };
  const script = `import { listEndpoint } from ${JSON.stringify(module)};
    await listEndpoint(${JSON.stringify(directory)}, ${JSON.stringify(plain)});
    Deno.kill(Deno.pid, "SIGKILL");`;
  await command([Deno.execPath(), "eval", script]).output();
  return `${directory}/${id}.json`;
}

Deno.test("an endpoint is listed until it is removed, in a file for this user alone", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a/endpoints`;
  const file = await listEndpoint(path, endpoint("0123456789ab"));
  assert.deepEqual(await readEndpoints({ directory: path, host: HOST }), [
    endpoint("0123456789ab"),
  ]);
  assert.match(
    Deno.readTextFileSync(`${path}/0123456789ab.json`),
    /"start_ns":1700000000123456789,/,
  );
  assert.equal(Deno.statSync(`${path}/0123456789ab.json`).mode! & 0o777, 0o600);
  await file.remove();
  assert.deepEqual(names(path), []);
});

Deno.test("many that list themselves at once remove nothing of each other", async () => {
  await using directory = await temporaryDirectory();
  const ids = Array.from({ length: 50 }, (_, i) => String(i).padStart(12, "0"));
  const files = await Promise.all(ids.map((id) => listEndpoint(directory.path, endpoint(id))));
  assert.deepEqual(await idsOn(HOST, directory.path), ids);
  await Promise.all(files.map((file) => file.remove()));
  assert.deepEqual(names(directory.path), []);
});

Deno.test("the file of a killed run is not read, and removed by the next run or reader", async () => {
  await using directory = await temporaryDirectory();
  for (const clean of [() => idsOn(HOST, directory.path), next]) {
    await leave(directory.path, "0123456789ab");
    assert.deepEqual(names(directory.path), ["0123456789ab.json"]);
    await clean();
    assert.deepEqual(names(directory.path), []);
  }

  async function next() {
    const file = await listEndpoint(directory.path, endpoint("0123456789ac"));
    assert.deepEqual(names(directory.path), ["0123456789ac.json"]);
    await file.remove();
  }
});

Deno.test("files of other hosts are not read, and removed only when they are a month old", async () => {
  await using directory = await temporaryDirectory();
  const path = await leave(directory.path, "0123456789ab", "node1");
  assert.deepEqual(await idsOn(HOST, directory.path), []);
  assert.deepEqual(names(directory.path), ["0123456789ab.json"]);
  const month_ago = Date.now() / 1_000 - 31 * 24 * 3_600;
  await Deno.utime(path, month_ago, month_ago);
  assert.deepEqual(await idsOn(HOST, directory.path), []);
  assert.deepEqual(names(directory.path), []);
});

Deno.test("a living run of another host is not read", async () => {
  await using directory = await temporaryDirectory();
  const file = await listEndpoint(directory.path, endpoint("0123456789ab", "node1"));
  assert.deepEqual(await idsOn(HOST, directory.path), []);
  assert.deepEqual(await idsOn("node1", directory.path), ["0123456789ab"]);
  await file.remove();
});

Deno.test("other files in the directory stay", async () => {
  await using directory = await temporaryDirectory();
  Deno.writeTextFileSync(`${directory.path}/notes.json`, "{}");
  Deno.writeTextFileSync(`${directory.path}/0123456789ab.json`, "what is not ours");
  assert.deepEqual(await idsOn(HOST, directory.path), []);
  assert.deepEqual(names(directory.path), ["0123456789ab.json", "notes.json"]);
});

Deno.test("an endpoint that cannot be listed leaves nothing behind", async () => {
  await using directory = await temporaryDirectory();
  await Deno.mkdir(`${directory.path}/0123456789ab.json/full`, { recursive: true });
  await assert.rejects(listEndpoint(directory.path, endpoint("0123456789ab")));
  assert.deepEqual(names(directory.path), ["0123456789ab.json"]);
});
