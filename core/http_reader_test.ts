/** The reader over HTTP, against servers in this process: local and hosted, right and wrong. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { httpReader, type HttpSourceOptions } from "./http_reader.ts";
import { encode } from "./json.ts";
import { PACKED_TYPE, streamWindows, WindowPacker } from "./packed/mod.ts";
import type { Instance } from "./payload.ts";
import { problemAnswer } from "./http.ts";
import { Refusal, refuse } from "./problem.ts";
import type { InstanceWindow, SignalsReader } from "./reader.ts";
import { selectIn, type Selection } from "./selection.ts";
import { nsFromSeconds, SECOND_NS } from "./time.ts";
import { windows } from "./testdata/arbitrary.ts";
import { absorb, emptyWindow, type Window } from "./window.ts";

const KEY = "secret";
const END_NS = 100n * SECOND_NS;
const SPAN = { from_ns: 0n, to_ns: END_NS };

/** A run of ten windows of ten seconds. */
interface Run {
  instance: Instance;
  windows: Window[];
}

function runOf(instance_id: string, windows: Window[]): Run {
  const instance: Instance = {
    instance_id,
    resource_id: `instance:${instance_id}`,
    tags: { "instance.id": instance_id, "host.name": `host ${instance_id.at(-1)}` },
    attributes: { "process.command_line": "python a.py; b" },
    first_seen_ts: 0,
    last_seen_ts: 100,
  };
  return { instance, windows };
}

const run: fc.Arbitrary<Run> = fc.tuple(
  fc.stringMatching(/^[0-9a-f]{12}$/),
  ...Array.from(
    { length: 10 },
    (_, i) => windows(BigInt(i) * 10n * SECOND_NS, BigInt(i + 1) * 10n * SECOND_NS),
  ),
).map(([id, ...windows]) => runOf(id, windows));

const runs = fc.uniqueArray(run, {
  minLength: 1,
  maxLength: 4,
  selector: ({ instance }) => instance.instance_id,
});

/** The merge of a run's windows that end in the span. */
function merged({ instance, windows }: Run, span: typeof SPAN, selection: Selection) {
  const found = windows.filter(({ to_ns }) => span.from_ns < to_ns && to_ns <= span.to_ns);
  const window = emptyWindow(found[0]?.from_ns ?? span.from_ns);
  for (const one of found) absorb(window, one);
  selectIn(window, selection);
  const gaps = [{ from_ns: 0n, to_ns: span.from_ns }];
  const final = window.to_ns === END_NS;
  return { instance, window, payload_ns: span.to_ns, gaps, final } satisfies InstanceWindow;
}

function steps(run: Run, step_ns: bigint, selection: Selection): InstanceWindow[] {
  const ends = run.windows.filter(({ to_ns }) => to_ns % step_ns === 0n || to_ns === END_NS);
  return ends.map(({ to_ns }, i) =>
    merged(run, { from_ns: ends[i - 1]?.to_ns ?? 0n, to_ns }, selection)
  );
}

/** The answer of a server, local or hosted, that has runs; the requests that it got. */
function server(runs: readonly Run[], requests: URL[] = []): HttpSourceOptions["fetch"] {
  return (url, { headers }) => {
    requests.push(url);
    const query = Object.fromEntries(url.searchParams);
    const isHosted = new Headers(headers).get("x-api-key") === KEY;
    const span = { from_ns: nsFromSeconds(query.start!), to_ns: nsFromSeconds(query.end!) };
    if (isHosted && url.pathname === "/api/v1/instances") {
      const from = runs.findIndex(({ instance }) => instance.instance_id === query.after) + 1;
      const instances = runs.slice(from, from + Number(query.limit)).map((one) => one.instance);
      return Promise.resolve(new Response(encode({ instances, more: "later" })));
    }
    if (url.pathname !== (isHosted ? "/api/v1/windows" : "/signals/windows")) {
      return Promise.resolve(new Response("no", { status: 404 }));
    }
    const asked = isHosted
      ? query.instance_id!.split(",").flatMap((id) =>
        runs.find(({ instance }) => instance.instance_id === id) ?? []
      )
      : runs.slice(0, 1);
    const selection = {
      metrics: query.metrics?.split(","),
      top: query.top === undefined ? undefined : Number(query.top),
    };
    const found = asked.flatMap((run) =>
      query.step === undefined
        ? [merged(run, span, selection)]
        : steps(run, nsFromSeconds(query.step), selection)
    );
    return Promise.resolve(streamOf(found));
  };
}

function streamOf(windows: readonly InstanceWindow[]): Response {
  async function* packed() {
    for (const { window, final, ...members } of windows) {
      const { instance_id, tags, attributes } = members.instance;
      const head = { instance_id, tags, attributes, profiler_version: "9", start_ns: 0n };
      yield await new WindowPacker(head).pack(window, { final, members: { ...members, later: 1 } });
    }
  }
  return respond(streamWindows(packed()));
}

function respond(chunks: AsyncIterable<Uint8Array<ArrayBuffer>>, type = PACKED_TYPE): Response {
  return new Response(ReadableStream.from(chunks), { headers: { "content-type": type } });
}

function hosted(fetch: HttpSourceOptions["fetch"]): SignalsReader {
  return httpReader({ url: "https://hosted.example", key: KEY, fetch });
}

function local(fetch: HttpSourceOptions["fetch"]): SignalsReader {
  return httpReader({ url: "http://127.0.0.1:18259/", fetch });
}

const selections: fc.Arbitrary<Selection> = fc.record({
  metrics: fc.option(fc.subarray(["a_bytes", "b_*", "with space", "a,b"]), { nil: undefined }),
  top: fc.option(fc.nat(3), { nil: undefined }),
}, { requiredKeys: [] });

Deno.test("windows and steps of many runs are read as the hosted API has them", async () => {
  await fc.assert(
    fc.asyncProperty(runs, selections, async (runs, selection) => {
      const reader = hosted(server(runs));
      const ids = runs.map(({ instance }) => instance.instance_id);
      const asked = ["ffffffffffff", ...ids.toReversed(), ...ids];
      assert.deepEqual(
        await Array.fromAsync(reader.windows(asked, SPAN, selection)),
        runs.toReversed().map((run) => merged(run, SPAN, selection)),
      );
      assert.deepEqual(
        await Array.fromAsync(
          reader.steps(ids[0]!, { ...SPAN, step_ns: 30n * SECOND_NS }, selection),
        ),
        steps(runs[0]!, 30n * SECOND_NS, selection),
      );
    }),
    { numRuns: 40 },
  );
});

Deno.test("the local endpoint has the live run alone", async () => {
  await fc.assert(
    fc.asyncProperty(run, selections, async (run, selection) => {
      const reader = local(server([run]));
      const { instance } = run;
      const id = instance.instance_id;
      const read = (ids: string[]) => Array.fromAsync(reader.windows(ids, SPAN, selection));
      assert.deepEqual(await read(["other", id, id]), [merged(run, SPAN, selection)]);
      assert.deepEqual(await read(["other"]), []);
      assert.deepEqual(await read([]), []);

      const inSteps = (id: string) =>
        Array.fromAsync(reader.steps(id, { ...SPAN, step_ns: 20n * SECOND_NS }, selection));
      const expected = steps(run, 20n * SECOND_NS, selection);
      assert.deepEqual(await inSteps(id), expected);
      assert.deepEqual(await inSteps("other"), []);

      const limit = 10;
      assert.deepEqual(await reader.instances({}, SPAN, { limit }), [instance]);
      assert.deepEqual(await reader.instances({ tags: instance.tags }, SPAN, { limit }), [
        instance,
      ]);
      assert.deepEqual(await reader.instances({ tags: { run: "x" } }, SPAN, { limit }), []);
      assert.deepEqual(await reader.instances({}, SPAN, { limit, after: id }), []);
      await assert.rejects(reader.instances({}, SPAN, { limit, after: "other" }), RangeError);
      await assert.rejects(
        Array.fromAsync(reader.steps(id, { ...SPAN, step_ns: 0n }, {})),
        RangeError,
      );
      const later = { from_ns: 200n * SECOND_NS, to_ns: 300n * SECOND_NS };
      assert.deepEqual(await reader.instances({}, later, { limit }), []);
    }),
    { numRuns: 20 },
  );
});

Deno.test("instances are listed page by page", async () => {
  const all = ["a", "b", "c", "d", "e"].map((id) => runOf(id, []));
  const requests: URL[] = [];
  const reader = hosted(server(all, requests));
  const seen: Instance[] = [];
  for (;;) {
    const after = seen.at(-1)?.instance_id;
    const page = await reader.instances({ tags: { "a;b": "c:d" } }, SPAN, { limit: 2, after });
    seen.push(...page);
    if (page.length < 2) break;
  }
  assert.deepEqual(seen, all.map(({ instance }) => instance));
  assert.deepEqual(Object.fromEntries(requests[1]!.searchParams), {
    start: "0",
    end: "100",
    tags: "a%3Bb:c:d",
    limit: "2",
    after: "b",
  });
});

Deno.test("many ids are asked for in requests of bounded size, when their windows are read", async () => {
  const all = Array.from({ length: 1_000 }, (_, i) => runOf(String(i).padStart(12, "0"), []));
  const requests: URL[] = [];
  const ids = all.map(({ instance }) => instance.instance_id);
  const reading = hosted(server(all, requests)).windows(ids, SPAN, {});
  const read: string[] = [];
  for await (const { instance } of reading) {
    read.push(instance.instance_id);
    assert.equal(requests.length, Math.ceil(read.length / 200));
  }
  assert.deepEqual(read, ids);
  assert(requests.every(({ href }) => href.length < 4_000));
});

/** Two runs without windows: an answer of two blocks, two windows and the end. */
const TWO = ["00000000000a", "00000000000b"];

function answerOfTwo(): Response {
  return streamOf(TWO.map((id) => merged(runOf(id, []), SPAN, {})));
}

Deno.test("a window is given before the next one has arrived, and a break ends the request", async () => {
  const frames = answerOfTwo().body!.getReader();
  let [arrived, isEnded] = [0, false];
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      if (arrived++ === 2) await new Promise(() => {});
      controller.enqueue((await frames.read()).value!);
    },
    cancel() {
      isEnded = true;
    },
  });
  const answer = new Response(body, { headers: { "content-type": PACKED_TYPE } });
  for await (const { instance } of hosted(() => Promise.resolve(answer)).windows(TWO, SPAN, {})) {
    assert.equal(instance.instance_id, TWO[0]);
    break;
  }
  assert(isEnded);
});

Deno.test("an answer that is cut is an error after the windows that came", async () => {
  const whole = await answerOfTwo().bytes();
  const counts = new Set<number>();
  for (let length = 0; length < whole.length; length++) {
    const body = whole.slice(0, length);
    const fetch = () =>
      Promise.resolve(new Response(body, { headers: { "content-type": PACKED_TYPE } }));
    let count = 0;
    await assert.rejects(async () => {
      for await (const _ of hosted(fetch).windows(TWO, SPAN, {})) count++;
    }, { name: "DamagedError" });
    counts.add(count);
  }
  assert.deepEqual([...counts], [0, 1, 2]);
});

Deno.test("a refusal has the detail of its problem document, and other answers are errors", async () => {
  const refusal = new Refusal(refuse(429, "Cannot read: too many requests").problem, {
    "retry-after": "7",
  });
  const answers: [Response, (error: Error) => boolean][] = [
    [
      problemResponse(refusal),
      (error) =>
        error instanceof Refusal && error.problem.status === 429 &&
        error.message === "Cannot read: too many requests" && error.headers["retry-after"] === "7",
    ],
    [
      new Response("bad gateway", { status: 502 }),
      ({ message }) => /502.*bad gateway/.test(message),
    ],
    [
      new Response("<html>", { headers: { "content-type": "text/html" } }),
      ({ message }) => /text\/html/.test(message),
    ],
  ];
  for (const [answer, isExpected] of answers) {
    const reader = hosted(() => Promise.resolve(answer));
    await assert.rejects(Array.fromAsync(reader.windows(["a"], SPAN, {})), isExpected);
  }
  const html = () => Promise.resolve(new Response("<html>"));
  await assert.rejects(hosted(html).instances({}, SPAN, { limit: 1 }), SyntaxError);
});

function problemResponse(refusal: Refusal): Response {
  const { status, headers, body } = problemAnswer(refusal);
  return new Response(body, { status, headers });
}

Deno.test("the signal ends a request, and the key is sent to no other host", async () => {
  const controller = new AbortController();
  const inits: RequestInit[] = [];
  const reader = httpReader({
    url: "https://hosted.example",
    key: KEY,
    signal: controller.signal,
    fetch: (_url, init) => {
      inits.push(init);
      return new Promise((_resolve, reject) => {
        init.signal!.addEventListener("abort", () => reject(init.signal!.reason));
      });
    },
  });
  const reading = reader.instances({}, SPAN, { limit: 1 });
  controller.abort(new Error("enough"));
  await assert.rejects(reading, { message: "enough" });
  assert.equal(inits[0]!.redirect, "error");
});
