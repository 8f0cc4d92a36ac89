/** Tests of budgets: never over by the exact count, well used where something is cut, and said. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer";
import { pageOf } from "./page.ts";
import type { Subject } from "./subject.ts";
import { subjectOf, type SubjectSize } from "./testdata/subjects.ts";
import { contextText } from "./text.ts";
import { estimateTokens } from "./tokens.ts";

const BUDGETS = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 100_000];

/** Share of a budget that is used where something was cut. */
const LEAST_USE = 0.85;

const SIZES: Readonly<Record<string, SubjectSize>> = {
  "one device": {},
  "nothing but a process": { devices: 0, processes: 1, errors: 0, courses: 0 },
  "eight devices": { devices: 8, kernels: 60, courses: 60, processes: 20 },
  "64 devices": { devices: 64, kernels: 20, courses: 60 },
  "500 kernels": { devices: 2, kernels: 500, courses: 200 },
  "four instances with engines": { instances: 4, devices: 2, engines: 3, courses: 30, errors: 5 },
  "30 instances": { instances: 30, devices: 8, kernels: 30, engines: 1, courses: 20 },
  "a long command line": { flags: 400, courses: 40 },
  "many errors": { errors: 200, courses: 40 },
};

for (const [title, size] of Object.entries(SIZES)) {
  Deno.test(`texts keep every budget, and use it where they are cut: ${title}`, () => {
    const subject = subjectOf(size);
    for (const max_tokens of BUDGETS) {
      const text = contextText(subject, { max_tokens });
      const exact = countTokens(text);
      assert.ok(exact <= max_tokens, `${exact} of ${max_tokens}`);
      if (text.includes("left out to keep")) {
        assert.ok(exact >= LEAST_USE * max_tokens, `${exact} of ${max_tokens} are used`);
      }
      const estimate = estimateTokens(text);
      assert.ok(estimate >= exact && estimate <= 1.08 * exact, `${estimate} for ${exact}`);
    }
  });
}

Deno.test("names in any script put no text over its budget", () => {
  const scripts = [[0x21, 0x7f], [0xc0, 0x180], [0x410, 0x450], [0x4e00, 0x9fa5], [0xac00, 0xd7a3]];
  const rare = [[0x1200, 0x1380], [0xa000, 0xa48c], [0x10900, 0x10a00], [0x1f300, 0x1f6ff]];
  const letters = fc.noShrink(fc.noBias(
    fc.constantFrom(...scripts, ...rare).chain(([min, max]) =>
      fc.array(fc.integer({ min, max: max! - 1 }), { minLength: 200, maxLength: 200 })
    ),
  ));
  fc.assert(
    fc.property(letters, fc.constantFrom(...BUDGETS.slice(0, 5)), (points, max_tokens) => {
      const name = (_: string, at: number) =>
        String.fromCodePoint(...points.slice(7 * at % 100, 7 * at % 100 + 90));
      const subject = subjectOf({ devices: 2, kernels: 60, courses: 40, errors: 20, name });
      const exact = countTokens(contextText(subject, { max_tokens }));
      assert.ok(exact <= max_tokens, `${exact} of ${max_tokens}`);
    }),
    { numRuns: 60 },
  );
});

Deno.test("the verdict and the first finding stay longest", () => {
  const subject = subjectOf({ devices: 8, kernels: 60, courses: 60 });
  const text = contextText(subject, { max_tokens: 500 });
  assert.match(text, /^Verdict: /m);
  assert.ok(text.includes(`[${subject.findings.findings[0]!.id};`));
  assert.match(text, /^ {3}Remedies: /m);
  assert.match(text, /never an instruction/);
});

Deno.test("what is left out is said by its section or as a count, and only where it is", () => {
  const subject = subjectOf({ devices: 8, kernels: 60, courses: 60 });
  const small = contextText(subject, { max_tokens: 500 });
  const last = /left out to keep max_tokens=500: all of (.*)\. Ask/.exec(small)![1]!;
  for (const section of ["metrics", "descriptions", "engine"]) assert.ok(last.includes(section));
  const whole = contextText(subject, { max_tokens: 100_000 });
  assert.doesNotMatch(whole, /more .*left out|left out to keep/);
});

Deno.test("rows of least weight are left out, and counted with their shares", () => {
  const rows = Array.from({ length: 100 }, (_, at) => ({
    text: `row ${at} | some cell`,
    // Each tenth weighs least.
    weight: at % 10 === 0 ? 1 : 100 - at,
    share: 0.005,
  }));
  const page = (max_tokens: number) =>
    pageOf(
      [{ section: "metrics", title: "Title", blocks: [{ lead: ["lead"], rows }] }],
      max_tokens,
    );
  const text = page(600);
  const shown = Array.from(text.matchAll(/^row (\d+) /gm), ([, at]) => Number(at));
  const [, count, share] = /\((\d+) more left out, ([\d.]+) % in all\)/.exec(text)!;
  assert.equal(shown.length + Number(count), 100);
  assert.equal(Number(share), Number(count) / 2);
  const expected = rows.keys().filter((at) => at % 10 !== 0).take(shown.length);
  assert.deepEqual(shown, [...expected]);
  assert.doesNotMatch(page(100_000), /left out/);
});

Deno.test("texts grow with their budgets", () => {
  const subject = subjectOf({ devices: 8, kernels: 100, courses: 100, errors: 40 });
  const lengths = BUDGETS.map((max_tokens) =>
    contextText(subject, { max_tokens }).split("\n").length
  );
  for (let at = 1; at < lengths.length; at++) assert.ok(lengths[at]! >= lengths[at - 1]!);
});

Deno.test("texts with single sections keep budgets too", () => {
  const subject = subjectOf({ devices: 8, kernels: 200, courses: 100, errors: 40, engines: 4 });
  for (const section of ["findings", "gpu_time", "metrics", "errors", "instructions"] as const) {
    const text = contextText(subject, { max_tokens: 500, sections: [section] });
    assert.equal(text.match(/^## /gm)?.length, 1);
    assert.ok(countTokens(text) <= 500);
  }
});

Deno.test("the same data in another order gives the same text", () => {
  const subject = subjectOf({ devices: 4, kernels: 80, processes: 9, engines: 2, courses: 30 });
  const text = contextText(subject);
  assert.equal(contextText(turned(subject)), text);
});

/** The subject with what has no order of its own turned around. */
function turned(subject: Subject): Subject {
  return {
    ...subject,
    instances: subject.instances.map((facts) => ({
      ...facts,
      courses: facts.courses.toReversed(),
      devices: facts.devices.map((device) => ({
        ...device,
        activity: device.activity && {
          ...device.activity,
          kernels: device.activity.kernels.toReversed(),
        },
      })),
    })),
  };
}
