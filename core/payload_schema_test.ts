/** Checks of payloads and uploads: they accept and refuse what their JSON Schemas do. */

import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { errorEntry } from "./entries.ts";
import { decode, encode } from "./json.ts";
import { instance, instanceList, metric, problem, resource, signals } from "./payload_schema.ts";
import type { Shape } from "./schema.ts";
import { ShapeError } from "./schema_error.ts";
import { snapshot } from "./snapshot.ts";
import { encodeUpload } from "./upload.ts";
import { uploadShape } from "./upload_schema.ts";
import { errors, instants, resources, tags, uploads, windows } from "./testdata/arbitrary.ts";

const record = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record<T>(fields as never, { noNullPrototype: true } as never);

const payloads = fc.record({
  window: windows(0n, 1n),
  at: instants,
  local: fc.boolean(),
}).map(({ window, at, local }) =>
  snapshot(window, {
    context: { "instance.id": "0123456789ab" },
    payload_ns: at,
    ...(local ? { profiler: { version: "1.0.0" } } : { platform: { version: "1.0.0" } }),
  })
);
const instances = record({
  instance_id: fc.string({ minLength: 1 }),
  resource_id: fc.string({ minLength: 1 }),
  tags,
  attributes: tags,
  first_seen_ts: fc.nat(),
  last_seen_ts: fc.nat(),
});
const problems = record({
  type: fc.webUrl(),
  title: fc.string(),
  status: fc.integer({ min: 400, max: 599 }),
  detail: fc.string(),
  errors: fc.array(record({ parameter: fc.string(), message: fc.string() }), { maxLength: 2 }),
});

const shapes: Record<string, [shape: Shape<unknown>, texts: fc.Arbitrary<string>]> = {
  signals: [signals, payloads.map(encode)],
  metric: [
    metric,
    payloads.filter(({ metrics }) => metrics.length > 0).map(({ metrics }) => encode(metrics[0])),
  ],
  errorEntry: [errorEntry, errors.map(encode)],
  resource: [resource, resources.map(encode)],
  instance: [instance, instances.map(encode)],
  instanceList: [
    instanceList,
    fc.array(instances, { maxLength: 2 }).map((instances) => encode({ instances })),
  ],
  problem: [problem, problems.map(encode)],
  uploadShape: [uploadShape, uploads.map(encodeUpload)],
};

/** Rules between fields, which a schema cannot state: only the check refuses these. */
const BEYOND_SCHEMA = new RegExp([
  "must be after from_ns",
  "must not be before start_ns",
  "has the same identity",
  "must be the sum of its buckets' counts",
  "must have one count for each",
  "must have one for each",
  "must all differ",
  "must have a count for each",
  "must be larger than the one before it",
  "must be the index of a bin",
  "must not be negative",
  "the parts of an exact sum",
  "must be a number that a double holds",
].join("|"));

const wrongValues = fc.constantFrom<unknown>(
  ...[null, true, "", "x", 0, -1, 0.5, 1, 2 ** 53, 1e19, 1e301, -1e301, 1e12, {}, [], [1, 1e-17]],
  ...["x".repeat(4_097), "x".repeat(65_537), [[]], { a: 1 }, { "": "" }, ["x"], "warning"],
);

type Node = Record<string | number, unknown>;

/** Every object and array in `value`. */
function nodes(value: unknown): Node[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Node, ...Object.values(value).flatMap(nodes)];
}

/** `text` with one change: another value, a missing field, or an additional field. */
function mutated(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(texts, fc.nat(), fc.nat(), fc.constantFrom("set", "drop", "add"), wrongValues)
    .map(([text, which, field, how, wrong]) => {
      const value = JSON.parse(text);
      const all = nodes(value);
      const node = all[which % all.length]!;
      const names = Object.keys(node);
      const name = names[field % names.length];
      if (how === "add") {
        if (Array.isArray(node)) node.push(wrong);
        else node["extra"] = wrong;
      } else if (name !== undefined) {
        if (how === "set") node[name] = wrong;
        else if (Array.isArray(node)) node.splice(Number(name), 1);
        else delete node[name];
      }
      return JSON.stringify(value);
    });
}

/** The fault that the check finds, or `undefined`. */
function faultOf(shape: Shape<unknown>, text: string): ShapeError | undefined {
  try {
    shape.check(decode(text));
  } catch (error) {
    if (error instanceof ShapeError) return error;
    throw error;
  }
}

for (const [name, [shape, texts]] of Object.entries(shapes)) {
  const validate = new Ajv2020({ strict: true }).compile(shape.schema);

  Deno.test(`${name}: check and schema accept valid values`, () => {
    fc.assert(
      fc.property(texts, (text) => {
        assert.equal(faultOf(shape, text), undefined);
        assert.ok(validate(JSON.parse(text)), JSON.stringify(validate.errors));
      }),
      { numRuns: 50 },
    );
  });

  Deno.test(`${name}: check and schema refuse the same invalid values`, () => {
    let refused = 0;
    fc.assert(
      fc.property(mutated(texts), (text) => {
        const fault = faultOf(shape, text);
        if (fault) refused++;
        if (fault && BEYOND_SCHEMA.test(fault.fault)) return;
        assert.equal(
          validate(JSON.parse(text)),
          fault === undefined,
          `${fault}: ${JSON.stringify(validate.errors)}`,
        );
      }),
      { numRuns: 250 },
    );
    assert.ok(refused > 50, `only ${refused} values were invalid`);
  });
}

Deno.test("nanoseconds are plain digits: the schema accepts 1.0, the check does not", () => {
  const text = '{"level":"error","message":"","exception":"","log_ns":1.0}';
  assert.equal(faultOf(errorEntry, text)?.path, "log_ns");
  const last = text.replace("1.0", String(2n ** 63n - 1n));
  assert.equal(faultOf(errorEntry, last), undefined);
  assert.equal(faultOf(errorEntry, text.replace("1.0", String(2n ** 63n)))?.path, "log_ns");
});

Deno.test("a schema is plain JSON", () => {
  for (const [shape] of Object.values(shapes)) {
    assert.deepEqual(JSON.parse(JSON.stringify(shape.schema)), shape.schema);
  }
});
