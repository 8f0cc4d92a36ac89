/** The signal context and findings: what is asked, what is answered, and to whom. */

import assert from "node:assert/strict";
import { findingsShape, SECTIONS } from "@service/core/context";
import { decode } from "@service/core";
import { get, newKey, refused, type TestService } from "../testing/api.ts";
import { testOnEachStorage, testOnFile } from "../testing/each_storage.ts";
import { sendWorkload, WORKLOAD_SECONDS, WORKLOAD_START } from "../testing/workload.ts";

const SPAN = `start_time_ns=${WORKLOAD_START}000000000` +
  `&end_time_ns=${WORKLOAD_START + WORKLOAD_SECONDS}000000000`;

const PATHS = ["/api/v1/signal_context/", "/api/v1/signal_context", "/api/v1/context/signals/"];

/** The text of an answer. */
async function contextOf(service: TestService, query = "", key = service.key): Promise<string> {
  const response = await get(service, `/api/v1/signal_context/?${SPAN}${query}`, key);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.equal(response.headers.get("content-type"), "application/json");
  const { context, ...others } = decode(text) as { context: string };
  assert.deepEqual(others, {});
  return context;
}

function titlesOf(text: string): string[] {
  return Array.from(text.matchAll(/^## (.*)$/gm), ([, title]) => title!);
}

testOnEachStorage({
  async "the context of a span is a text about the instances that ran in it"(service) {
    const id = await sendWorkload(service, { kernel: "my_largest_kernel" });
    const text = await contextOf(service);
    assert.match(text, new RegExp(`Instance ${id} on host box`));
    assert.match(text, /my_largest_kernel/);
    assert.match(text, /work of the run on the device 50 %/);
    assert.equal(await contextOf(service), text, "the same data gives the same text");
    for (const path of PATHS) {
      assert.deepEqual(await (await get(service, `${path}?${SPAN}`)).json(), { context: text });
    }
    const before = `start_time_ns=1&end_time_ns=${WORKLOAD_START - 1}000000000`;
    const response = await get(service, `/api/v1/signal_context/?${before}`);
    assert.match((await response.json()).context, /Nothing matched: no instance ran in the span/);
  },

  async "tags select instances that have all of them; of others there is nothing"(service) {
    const common = { "host.name": "box", stage: "a;b:c" };
    const a = await sendWorkload(service, { tags: { ...common, team: "red" } });
    const b = await sendWorkload(service, { tags: { ...common, team: "blue" } });
    const read = async (tags: string) => await contextOf(service, `&tags=${tags}`);
    const both = await read(encodeURIComponent("stage:a%3Bb:c"));
    assert.ok(both.includes(a) && both.includes(b));
    const one = await read(encodeURIComponent("stage:a%3Bb:c;team:red"));
    assert.ok(one.includes(`Instance ${a}`) && !one.includes(`Instance ${b}`));
    const named = await read(`instance.id:${b}`);
    assert.ok(named.includes(`Instance ${b}`) && !named.includes(`Instance ${a}`));
    const none = await read("team:green");
    assert.match(none, /Nothing matched: no instance with the tags `team:green`/);
    assert.match(none, /`team`: `blue`, `red`/);
    assert.ok(!none.includes("GPU time"));
  },

  async "instances of other projects are never seen, nor are their tags"(service) {
    const id = await sendWorkload(service, { tags: { "host.name": "secret_host" } });
    const other = await newKey(service.db);
    for (const query of ["", `&tags=instance.id:${id}`]) {
      const text = await contextOf(service, query, other);
      assert.match(text, /Nothing matched/);
      assert.ok(!text.includes("secret_host") && !text.replace(query.slice(6), "").includes(id));
    }
    const answer = await get(service, `/api/v1/findings?${SPAN}`, other);
    const { verdict, findings } = findingsShape.check(decode(await answer.text()));
    assert.deepEqual([verdict.kind, findings], ["cannot_tell", []]);
  },

  async "findings are answered as data, the first of which is the verdict of the text"(service) {
    const id = await sendWorkload(service, { busy: 0.1 });
    const response = await get(service, `/api/v1/findings?${SPAN}&tags=instance.id:${id}`);
    const { verdict, findings } = findingsShape.check(decode(await response.text()));
    assert.equal(verdict.kind, "limited");
    assert.equal(verdict.sentence, findings[0]!.title);
    assert.ok(findings[0]!.evidence.length > 0);
    assert.deepEqual(findings[0]!.instances, [id]);
    assert.ok((await contextOf(service)).includes(`[${findings[0]!.id};`));
  },
});

testOnFile("a parameter that is wrong is refused with 422, and named", async (service) => {
  const [start, end] = SPAN.split("&") as [string, string];
  const wrong: [query: string, ...parameters: string[]][] = [
    ["", "start_time_ns", "end_time_ns"],
    [start, "end_time_ns"],
    [end, "start_time_ns"],
    [`start_time_ns=1.5&${end}`, "start_time_ns"],
    [`start_time_ns=-1&${end}`, "start_time_ns"],
    [`start_time_ns=9223372036854775808&${end}`, "start_time_ns"],
    [`start_time_ns=5&end_time_ns=5`, "start_time_ns"],
    [`start_time_ns=6&end_time_ns=5`, "start_time_ns"],
    [`${SPAN}&tags=red`, "tags"],
    [`${SPAN}&tags=a:1;a:2`, "tags"],
    [`${SPAN}&start=1`, "start"],
  ];
  const ofText: typeof wrong = [
    [`${SPAN}&max_tokens=499`, "max_tokens"],
    [`${SPAN}&max_tokens=100001`, "max_tokens"],
    [`${SPAN}&max_tokens=8e3`, "max_tokens"],
    [`${SPAN}&sections=findings,colours`, "sections"],
    [`${SPAN}&sections=`, "sections"],
  ];
  const ask = async (path: string, [query, ...parameters]: typeof wrong[number]) => {
    const { errors } = await refused(await get(service, `${path}?${query}`), 422);
    assert.deepEqual(errors.map(({ parameter }) => parameter), parameters, `${path} ${query}`);
  };
  for (const path of PATHS) for (const one of [...wrong, ...ofText]) await ask(path, one);
  for (const one of wrong) await ask("/api/v1/findings", one);
});

testOnFile("who accepts plain text gets the text alone", async (service) => {
  await sendWorkload(service);
  const text = await contextOf(service);
  const ask = (accept: string) =>
    service.request(`/api/v1/signal_context/?${SPAN}`, {
      headers: { "x-api-key": service.key, accept },
    });
  const plain = await ask("text/plain");
  assert.equal(plain.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.match(plain.headers.get("vary")!, /\bAccept\b(?!-)/);
  assert.equal(await plain.text(), text);
  for (const accept of ["*/*", "application/json", "application/json, text/plain, */*"]) {
    assert.deepEqual(await (await ask(accept)).json(), { context: text });
  }
});

testOnFile("only the sections that are asked for are given, in their order", async (service) => {
  await sendWorkload(service);
  const all = titlesOf(await contextOf(service));
  assert.ok(all.length >= 6, `${all}`);
  assert.deepEqual(titlesOf(await contextOf(service, "&sections=findings,about")), all.slice(0, 2));
  assert.deepEqual(
    titlesOf(await contextOf(service, `&sections=${SECTIONS}`)).includes("Traces"),
    true,
  );
  assert.ok(!all.includes("Traces"));
});

testOnFile("all that the interface names is in the text", async (service) => {
  const log_ns = BigInt(WORKLOAD_START + 5) * 1_000_000_000n;
  const message = "CUDA out of memory";
  await sendWorkload(service, {
    kernel: "a_profiled_kernel",
    errors: [{ level: "error", message, exception: "", log_ns }],
  });
  const text = await contextOf(service, "&max_tokens=20000");
  for (const part of ["a_profiled_kernel", message, "gpu_power_usage_watts"]) {
    assert.ok(text.includes(part), part);
  }
  const titles = titlesOf(text);
  for (const title of ["GPU time", "Errors and warnings", "Optimization instructions"]) {
    assert.ok(titles.includes(title), title);
  }
  assert.match(text, /^## Metrics that change\n[^#]*gpu_power_usage_watts/m);
  assert.match(text, /^## Signal descriptions\n[^#]*gpu_busy_nanoseconds/m);
});

testOnFile("fewer tokens leave the findings, and say what is missing", async (service) => {
  const id = await sendWorkload(service, { busy: 0.1 });
  const [whole, some] = [await contextOf(service), await contextOf(service, "&max_tokens=1000")];
  assert.ok(some.length < whole.length && some.length < 5 * 1_000);
  assert.match(some, /left out/);
  assert.match(some, new RegExp(`Instance ${id}`));
  assert.match(some, /^Verdict: .+\n1\. /m);
});

testOnFile("the guide tells how to ask and how to read, to who has a key", async (service) => {
  for (const path of ["/api/v1/context/guide/", "/api/v1/context/guide"]) {
    const response = await get(service, path);
    assert.equal(response.headers.get("content-type"), "text/plain; charset=utf-8");
    const text = await response.text();
    assert.match(text, /start_time_ns/);
    for (const section of SECTIONS) assert.ok(text.includes(section), section);
    await refused(await service.request(path), 401);
  }
});
