/** A hosted API for tests: an app over a database, a clock set by the test, a project and a key. */

import assert from "node:assert/strict";
import {
  decode,
  encodeUpload,
  type Resource,
  resourceKey,
  type Series,
  seriesKey,
  type Signals,
  signals,
  type Upload,
} from "@service/core";
import { type Frame, type Members, PACKED_TYPE, WindowPacker } from "@service/core/packed";
import type { Problem } from "@service/core/payload";
import { problem } from "@service/core/payload_schema";
import { nsFromTs } from "@service/core/time";
import { createApp, type LogEntry } from "../app.ts";
import type { Database } from "../database/database.ts";
import { openDatabases } from "../database/databases.ts";
import type { Service } from "../http/context.ts";
import { createKey } from "../tenancy/projects.ts";
import { createService, type ServiceOptions } from "../service.ts";
import { readSettings } from "../settings.ts";

/** Where the clock of tests starts, epoch seconds. */
export const NOW_TS = 1_790_000_000;

/** The operator's token in tests. */
export const ADMIN_TOKEN = "0123456789abcdef0123456789abcdef";

/** A hosted API under test. */
export interface TestService extends Disposable {
  /** The database of projects and keys, and of the service's own project. */
  db: Database;
  /** The answer to a request, without a server. */
  request: (path: string, init?: RequestInit) => Promise<Response>;
  key: string;
  /** Epoch nanoseconds; tests set it. */
  clock: { now_ns: bigint };
  log: LogEntry[];
  /** The service behind the app, if it is in this process. */
  service: Service;
}

/** The hosted API over the database at `url`, with a project of its own. */
export async function startService(
  url: string,
  options: Partial<ServiceOptions> = {},
): Promise<TestService> {
  const databases = await openDatabases({ url });
  const clock = { now_ns: nsFromTs(NOW_TS) };
  const log: LogEntry[] = [];
  const service = createService({
    ...readSettings({ get: () => undefined }),
    databases,
    admin_token: ADMIN_TOKEN,
    now_ns: () => clock.now_ns,
    ...options,
  });
  const app = createApp(service, (entry) => log.push(entry));
  return {
    db: databases.control,
    request: async (path, init) => await app.request(path, init),
    key: await newKey(databases.control),
    clock,
    log,
    service,
    [Symbol.dispose]() {
      databases.closeIdle(0);
      databases.control[Symbol.dispose]();
    },
  };
}

/** A key of a new project, or of the one named. */
export function newKey(db: Database, project: string = crypto.randomUUID()): Promise<string> {
  return createKey(db, { project, name: "laptop", now_ns: nsFromTs(NOW_TS) });
}

/** Parts of an upload that a test chooses. */
export interface UploadParts {
  instance_id: string;
  /** Epoch seconds. */
  start?: number;
  from: number;
  to: number;
  final?: boolean;
  /** Increase of the counter `work_total`. */
  work?: number;
  series?: Series[];
  resources?: Resource[];
  errors?: Upload["window"]["errors"];
  tags?: Upload["tags"];
  attributes?: Upload["attributes"];
}

/** An upload of one window. */
export function makeUpload(parts: UploadParts): Upload {
  const { instance_id, from, to, start = NOW_TS - 100, final = false, work = 1 } = parts;
  const counter: Series = {
    name: "work_total",
    type: "counter",
    tags: {},
    updated_ns: nsFromTs(to),
    total: work,
  };
  return {
    instance_id,
    profiler_version: "0.1.0",
    start_ns: nsFromTs(start),
    tags: parts.tags ?? { "instance.id": instance_id, "host.name": "box", "process.pid": "7" },
    attributes: parts.attributes ?? { "process.command_line": "python train.py" },
    final,
    window: {
      from_ns: nsFromTs(from),
      to_ns: nsFromTs(to),
      series: new Map((parts.series ?? [counter]).map((one) => [seriesKey(one), one])),
      resources: new Map((parts.resources ?? []).map((one) => [resourceKey(one), one])),
      errors: parts.errors ?? [],
    },
  };
}

/** A random instance id. */
export function newInstanceId(): string {
  return crypto.randomUUID().slice(-12);
}

/** The answer to a body sent to the ingest endpoint, or to that of a project. */
export function post(
  service: TestService,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
  into = "",
): Promise<Response> {
  return service.request(`/api/v1/ingest${into}`, {
    method: "POST",
    headers: { "x-api-key": service.key, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : new Uint8Array(body),
  });
}

/** An upload in the packed format. */
export interface PackedParts {
  block: Frame;
  window: Frame;
  /** Hash of the block. */
  hash: string;
}

/** The upload in the packed format, by a packer of its own unless one is given. */
export async function pack(
  { window, final, ended_ns, ...instance }: Upload,
  { packer = new WindowPacker(instance), members = {} }: {
    packer?: WindowPacker;
    members?: Members;
  } = {},
): Promise<PackedParts> {
  const ended = ended_ns === undefined ? {} : { ended_ns };
  const { frame, block } = await packer.pack(window, { final, members: { ...ended, ...members } });
  return { block: block.frame, window: frame, hash: block.hash };
}

/** The answer to frames sent to the ingest endpoint. */
export function postFrames(
  service: TestService,
  frames: readonly Pick<Frame, "bytes">[],
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new Uint8Array(frames.flatMap(({ bytes }) => [...bytes]));
  return post(service, body, { "content-type": PACKED_TYPE, ...headers });
}

/** The answer to an upload that must be accepted. */
export async function accepted(
  answer: Response | Promise<Response>,
): Promise<{ project: string } & Record<string, unknown>> {
  const response = await answer;
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return decode(text) as { project: string };
}

/** The answer to an upload that must be accepted, without the project. */
export async function send(service: TestService, parts: UploadParts): Promise<unknown> {
  const { project: _, ...answer } = await accepted(post(service, encodeUpload(makeUpload(parts))));
  return answer;
}

/** The answer to a query, with the service's key or another. */
export function get(service: TestService, path: string, key = service.key): Promise<Response> {
  return service.request(path, { headers: { "x-api-key": key } });
}

/** The snapshot that a query of the signals endpoint gives. */
export async function read(service: TestService, query: string): Promise<Signals> {
  const response = await get(service, `/api/v1/signals?${query}`);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return signals.check(decode(text));
}

/** The problem document of an answer that must be a refusal with this status. */
export async function refused(response: Response, status: number): Promise<Problem> {
  const text = await response.text();
  assert.equal(response.status, status, text);
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  const document = problem.check(decode(text));
  assert.equal(document.status, status);
  return document;
}

/** Total of the counter `work_total`; 0 if it is absent. */
export function work({ metrics }: Signals): number | bigint {
  const metric = metrics.find(({ name }) => name === "work_total");
  return metric?.type === "counter" ? metric.stats.total : 0;
}

/** All rows that are stored. */
export async function dump(db: Database): Promise<unknown> {
  const tables = ["projects", "keys", "instances", "windows"];
  const results = await db.read(tables.map((table) => `SELECT * FROM ${table} ORDER BY id`));
  return results.map(({ rows }) => rows);
}
