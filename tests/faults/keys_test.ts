/** Keys that end while a run uploads: no window is lost, and none reaches another project. */

import assert from "node:assert/strict";
import { decode, instanceList } from "@service/core";
import { type InstanceHead, type PackedWindow, WindowPacker } from "@service/core/packed";
import { Recorder } from "../../local/sources/recorder.ts";
import { keyInFile } from "../../local/upload/key.ts";
import { Uploader, type UploadOptions } from "../../local/upload/spools.ts";
import { CACHED_FOR_NS } from "../../edge/tenancy/key_cache.ts";
import { prefixOf } from "../../edge/tenancy/keys.ts";
import { createKey, revokeKey, rotateKey } from "../../edge/tenancy/projects.ts";
import {
  get,
  makeUpload,
  newInstanceId,
  newKey,
  NOW_TS,
  read,
  startService,
  type TestService,
  work,
} from "../../edge/testing/api.ts";
import { until } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

const START = NOW_TS - 1_000;
const WINDOWS = 8;

/** The hosted API behind a port, and what runs keep in a directory. */
interface Stage extends AsyncDisposable {
  service: TestService;
  base: string;
  /** Path of the file with the key. */
  file: string;
  spools: string;
  writeKey: (key: string) => Promise<void>;
}

async function startStage(): Promise<Stage> {
  await using started = new AsyncDisposableStack();
  const { path } = started.use(await temporaryDirectory());
  const service = started.use(await startService(`file:${path}/service.db`));
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { method, headers, url } = request;
      return await service.request(new URL(url).pathname, {
        method,
        headers,
        body: await request.bytes(),
      });
    },
  );
  started.defer(() => server.shutdown());
  const file = `${path}/key`;
  await Deno.writeTextFile(file, service.key);
  const all = started.move();
  return {
    service,
    base: `http://127.0.0.1:${server.addr.port}`,
    file,
    spools: `${path}/spool`,
    writeKey: (key) => Deno.writeTextFile(file, `${key}\n`),
    [Symbol.asyncDispose]: () => all[Symbol.asyncDispose](),
  };
}

/** One run: window `i` of its upload adds `2 ** i`. */
class TestRun {
  readonly instance_id = newInstanceId();
  readonly warnings: string[] = [];
  readonly uploader: Uploader;
  readonly #packer: WindowPacker;
  #next = 0;

  constructor({ base, file, spools }: Stage, options: Partial<UploadOptions> = {}) {
    const { window: _, final: __, ...instance } = this.#upload(0);
    this.#packer = new WindowPacker(instance satisfies InstanceHead);
    this.uploader = new Uploader({
      ...{ base, key: keyInFile(file), spools, instance },
      warn: (message) => this.warnings.push(message),
      refusedPause_ms: Infinity,
      ...options,
    });
  }

  /** Adds the next window. */
  async add(): Promise<void> {
    await this.uploader.add(await this.#packed(this.#next++));
  }

  /** Resolves when so many windows wait. */
  async waiting(count: number): Promise<void> {
    await until(() => this.published("profiler_upload_pending_windows") === count);
  }

  /** The newest value of a gauge of the upload. */
  published(name: string): unknown {
    const recorder = new Recorder(0n, () => 1n);
    this.uploader.sample(recorder);
    const found = [...recorder.cut(1n).series.values()].find((series) => series.name === name);
    return found?.type === "gauge" ? found.value : undefined;
  }

  #packed(i: number): Promise<PackedWindow> {
    const { window, final } = this.#upload(i);
    return this.#packer.pack(window, { final });
  }

  #upload(i: number) {
    const { instance_id } = this;
    const [from, to] = [START + i * 10, START + (i + 1) * 10];
    const final = i === WINDOWS - 1;
    return makeUpload({ instance_id, start: START, from, to, final, work: 2 ** i });
  }
}

async function revoke(service: TestService, key: string): Promise<void> {
  await revokeKey(service.db, prefixOf(key)!, service.clock.now_ns);
  service.clock.now_ns += CACHED_FOR_NS;
}

/** Sum of all windows of a run that the project of a key has. */
async function stored({ instance_id }: TestRun, service: TestService): Promise<number> {
  const payload = await read(service, `instance_id=${instance_id}&start=${START}`);
  assert.deepEqual(payload.errors, [], "nothing is waited for, and nothing is lost");
  return work(payload) as number;
}

async function instancesOf(service: TestService, key: string): Promise<string[]> {
  const list = instanceList.check(
    decode(await (await get(service, "/api/v1/instances", key)).text()),
  );
  return list.instances.map(({ instance_id }) => instance_id);
}

for (const ended of [0, 1, 5]) {
  Deno.test(`a key that ends after ${ended} windows is replaced in its file: no window is lost`, async () => {
    await using stage = await startStage();
    const { service, writeKey } = stage;
    const making = { project: "p", name: "k", now_ns: service.clock.now_ns };
    const first = await createKey(service.db, making);
    await writeKey(first);
    const run = new TestRun(stage);
    for (let i = 0; i < ended; i++) await run.add();
    await run.waiting(0);
    await revoke(service, first);
    for (let i = ended; i < WINDOWS - 2; i++) await run.add();
    await until(() => run.warnings.length === 1);
    assert.match(run.warnings[0]!, /upload is refused since .*: the service refuses the key: 401/);
    assert(run.published("profiler_upload_refused_seconds") as number >= 0);
    await run.waiting(WINDOWS - 2 - ended);

    const second = await createKey(service.db, making);
    await writeKey(second);
    await run.add();
    await run.waiting(0);
    assert.match(run.warnings[1]!, /accepted again/);
    await run.add();
    await run.uploader.finish(10_000);
    assert.equal(run.warnings.length, 2);
    assert.equal(await stored(run, { ...service, key: second }), 2 ** WINDOWS - 1);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(stage.spools)), []);
  });
}

Deno.test("a key that is rotated with an overlap is replaced without a refusal", async () => {
  await using stage = await startStage();
  const { service, writeKey } = stage;
  const run = new TestRun(stage);
  for (let i = 0; i < 4; i++) await run.add();
  await run.waiting(0);
  const { now_ns } = service.clock;
  const rotation = { prefix: prefixOf(service.key)!, overlap_ns: 1n, now_ns };
  const rotated = await rotateKey(service.db, rotation);
  await writeKey(rotated!);
  service.clock.now_ns += CACHED_FOR_NS;
  for (let i = 4; i < WINDOWS; i++) await run.add();
  await run.uploader.finish(10_000);
  assert.deepEqual(run.warnings, []);
  assert.equal(await stored(run, { ...service, key: rotated! }), 2 ** WINDOWS - 1);
});

Deno.test("with a key of another project nothing crosses, and the right one sends all", async () => {
  await using stage = await startStage();
  const { service, writeKey } = stage;
  const run = new TestRun(stage);
  await run.add();
  await run.waiting(0);
  const foreign = await newKey(service.db);
  await writeKey(foreign);
  for (let i = 1; i < 4; i++) await run.add();
  await until(() => run.warnings.length === 1);
  assert.match(run.warnings[0]!, /403 .*the project in the path is not that of the key/);
  await run.waiting(3);
  assert.deepEqual(await instancesOf(service, foreign), []);

  await writeKey(service.key);
  for (let i = 4; i < WINDOWS; i++) await run.add();
  await run.uploader.finish(10_000);
  assert.equal(await stored(run, service), 2 ** WINDOWS - 1);
  assert.deepEqual(await instancesOf(service, foreign), []);
});

Deno.test("what a run leaves goes to its own project, with the next key of that alone", async () => {
  await using stage = await startStage();
  const { service, writeKey } = stage;
  const { key } = service;
  const [accepted, never] = [new TestRun(stage), new TestRun(stage)];
  await accepted.add();
  await accepted.waiting(0);
  await revoke(service, key);
  for (let i = 1; i < WINDOWS; i++) await accepted.add();
  for (let i = 0; i < WINDOWS; i++) await never.add();
  for (const run of [accepted, never]) {
    await until(() => run.warnings.length === 1);
    await run.waiting(run === never ? WINDOWS : WINDOWS - 1);
    await run.uploader.finish(10_000);
  }
  const left = async () =>
    (await Array.fromAsync(Deno.readDir(stage.spools), ({ name }) => name)).sort();
  assert.deepEqual(await left(), [accepted.instance_id, never.instance_id].sort());

  const foreign = await newKey(service.db);
  await writeKey(foreign);
  const other = new TestRun(stage);
  for (let i = 0; i < WINDOWS; i++) await other.add();
  await other.uploader.finish(10_000);
  assert.deepEqual(await instancesOf(service, foreign), [other.instance_id]);
  assert.deepEqual(await left(), [accepted.instance_id, never.instance_id].sort());

  const { rows: [project] } = await service.db.query({
    sql: "SELECT p.name FROM keys k JOIN projects p ON p.id = k.project WHERE k.prefix = ?",
    args: [prefixOf(key)],
  });
  const renewed = await newKey(service.db, project!.name as string);
  await writeKey(renewed);
  const heir = new TestRun(stage);
  await heir.add();
  await until(async () => !(await left()).includes(accepted.instance_id));
  await heir.uploader.finish(10_000);
  assert.deepEqual(heir.warnings, []);
  const own = { ...service, key: renewed };
  assert.equal(await stored(accepted, own), 2 ** WINDOWS - 1);
  assert.deepEqual(await left(), [never.instance_id]);
  assert(!(await instancesOf(service, renewed)).includes(never.instance_id));
});
