/** Tests of the text: its sections, and what it says of a subject. */

import assert from "node:assert/strict";
import { SECTIONS } from "./sections.ts";
import { subjectOf } from "./testdata/subjects.ts";
import { contextText } from "./text.ts";

/** Titles of a text. */
function titlesOf(text: string): string[] {
  return Array.from(text.matchAll(/^## (.*)$/gm), ([, title]) => title!);
}

const max_tokens = 100_000;

Deno.test("a text has all sections but traces, in one order, or those that are asked for", () => {
  const subject = subjectOf({ engines: 1 });
  const all = titlesOf(contextText(subject, { max_tokens }));
  assert.equal(all.length, SECTIONS.length - 1);
  assert.deepEqual(all.slice(0, 2), ["What this is", "Findings"]);
  assert.ok(!all.includes("Traces"));
  for (const [at, section] of SECTIONS.filter((name) => name !== "traces").entries()) {
    assert.deepEqual(titlesOf(contextText(subject, { sections: [section] })), [all[at]]);
  }
  const sections = ["instructions", "traces", "about"] as const;
  const some = titlesOf(contextText(subject, { sections }));
  assert.deepEqual(some, ["What this is", "Traces", "Optimization instructions"]);
});

Deno.test("a span in which no instance ran says so, and which tags there are", () => {
  const subject = subjectOf({ instances: 0 });
  const text = contextText({ ...subject, available_tags: new Map([["team", ["vision"]]]) });
  assert.match(text, /Nothing matched: no instance ran in the span\./);
  assert.match(text, /^- `team`: `vision`$/m);
  const tagged = contextText({ ...subject, tags: { team: "speech" } });
  assert.match(tagged, /no instance with the tags `team:speech` ran in the span/);
});

Deno.test("what was not measured is a dash in tables or listed by name, and never zero", () => {
  const text = contextText(subjectOf(), { max_tokens, sections: ["devices"] });
  assert.match(text, /^Not measured: .*NVLink GB\/s/m);
  assert.doesNotMatch(text, /fp32 % 0/);
  const [head, cells] = text.split("\n").filter((line) => line.includes(" | "));
  assert.equal(head!.split(" | ").length, cells!.split(" | ").length);
});

Deno.test("a table says of busy shares whose they are", () => {
  const text = contextText(subjectOf(), { max_tokens, sections: ["devices"] });
  assert.match(text, /busy % \(this run, exact\) \| kernels running % \(all programs, sampled\)/);
});

Deno.test("completeness says where windows cover all of the time, and what is between", () => {
  const text = contextText(subjectOf(), { max_tokens, sections: ["completeness"] });
  assert.match(
    text,
    /^- 590 of 600 s are covered by windows; whole from \S+:40Z to \S+:20Z, \S+:10Z to \S+:40Z; not covered from \S+:20Z to \S+:30Z$/m,
  );
});

Deno.test("processes are told by what they are, where their command tells it", () => {
  const commands = [
    ["vllm serve some/model --port 8000", "server, works on device 0"],
    ["VLLM::EngineCore", "scheduler"],
    ["VLLM::Worker_TP0", "worker"],
    ["python -c from multiprocessing.resource_tracker import main;main(41)", "helper"],
    ["python train.py", "-"],
  ] as const;
  const subject = subjectOf({
    processes: commands.length - 1,
    name: (kind, at) => kind === "command" ? commands[at]![0] : `${kind}-${at}`,
  });
  const text = contextText(subject, { max_tokens, sections: ["host"] });
  for (const [command, role] of commands.slice(0, -1)) {
    const line = text.split("\n").find((line) => line.endsWith(`\`${command}\``));
    assert.equal(line?.split(" | ")[1], role);
  }
});

Deno.test("processes that have ended are a count", () => {
  const text = contextText(subjectOf({ processes: 11 }), { max_tokens, sections: ["host"] });
  assert.match(text, /^\(2 ended\)$/m);
  assert.doesNotMatch(text, /^104 \| /m);
});

Deno.test("devices that agree are one table, and those of several instances have their names", () => {
  const one = contextText(subjectOf({ devices: 8 }), { max_tokens, sections: ["gpu_time"] });
  assert.match(one, /^Devices 0, 4 \(they agree; means of 2\)/m);
  const table = contextText(subjectOf({ instances: 2, devices: 2 }), { sections: ["devices"] });
  assert.match(table, /^device \| .*\n0 on host-0 \| .*\n1 on host-0 \| .*\n0 on host-1 \| /m);
  const two = subjectOf({ instances: 2, devices: 1 });
  const text = contextText(two, { max_tokens, sections: ["gpu_time", "devices"] });
  assert.match(text, /^Devices 0 on host-0, 0 on host-1 \(they agree; means of 2\)/m);
  assert.match(text, /^The same on all 2: /m);
  assert.doesNotMatch(text, /^device/m);
});
