/** Tests of determinism: the same data gives the same text, in whatever order it was stored. */

import assert from "node:assert/strict";
import fc from "fast-check";
import type { InstanceRead } from "../facts/mod.ts";
import { noiseOf } from "../findings/testdata/random.ts";
import { play } from "../findings/testdata/windows.ts";
import { h100, serving, training } from "../findings/testdata/workloads.ts";
import { runSubject } from "./run_subject.ts";
import { contextText } from "./text.ts";

const WORKLOADS = {
  training: training({ devices: [h100(), h100({ gauges: { power_usage_watts: 400 } }), h100()] }),
  serving: serving(),
};

/** The read with its series, tags and resources in another order. */
function shuffled(read: InstanceRead, seed: number): InstanceRead {
  const noise = noiseOf(seed);
  const mixed = <T>(all: Iterable<T>): T[] =>
    Array.from(all, (one) => ({ one, key: noise.uniform() }))
      .sort((a, b) => a.key - b.key).map(({ one }) => one);
  const tagsOf = (tags: Readonly<Record<string, string>>) =>
    Object.fromEntries(mixed(Object.entries(tags)));
  return {
    ...read,
    instance: { ...read.instance, tags: tagsOf(read.instance.tags) },
    steps: read.steps.map((step) => ({
      ...step,
      window: {
        ...step.window,
        series: new Map(
          mixed(step.window.series).map(([key, series]) => [
            key,
            {
              ...series,
              tags: tagsOf(series.tags),
              ...(series.type === "profile" && { frames: new Map(mixed(series.frames)) }),
            },
          ]),
        ),
        resources: new Map(
          mixed(step.window.resources).map(([key, one]) => [
            key,
            { ...one, attributes: tagsOf(one.attributes) },
          ]),
        ),
      },
    })),
  };
}

for (const [title, load] of Object.entries(WORKLOADS)) {
  Deno.test(`the same data in another order gives the same text: ${title}`, () => {
    const read = play(load);
    const textOf = (read: InstanceRead) => {
      const subject = runSubject({ ...read, base_url: "http://127.0.0.1:18259" });
      return contextText(subject, { max_tokens: 100_000 });
    };
    const expected = textOf(read);
    fc.assert(
      fc.property(fc.integer(), (seed) => assert.equal(textOf(shuffled(read, seed)), expected)),
      { numRuns: 10 },
    );
  });
}
