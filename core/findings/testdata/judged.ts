/** Judging of loads: from windows through facts to findings, as readers get them. */

import assert from "node:assert/strict";
import { type InstanceFacts, instanceFacts } from "../../facts/mod.ts";
import { type Findings, findings, type FoldedFinding } from "../mod.ts";
import type { Load } from "./load.ts";
import { play, type PlayOptions } from "./windows.ts";

/** A load that is the same in each step, or differs. */
export type Played = Load | ((step: number) => Load);

/** Facts of a load. */
export function factsOf(load: Played, options?: PlayOptions): InstanceFacts {
  return instanceFacts(play(load, options));
}

/** Findings of a load. */
export function judged(load: Played, options?: PlayOptions): Findings {
  return findings([factsOf(load, options)]);
}

/** Findings of several instances. */
export function judgedAll(loads: readonly Played[], options: PlayOptions = {}): Findings {
  return findings(
    loads.map((load, at) =>
      factsOf(load, { seed: at + 1, ...options, id: String(at).padStart(12, "0") })
    ),
  );
}

/** What a finding must say. */
export interface Wanted {
  id: string;
  class: FoldedFinding["class"];
  /** Bounds of the share at stake, from what was planted; `null`: it is not known. */
  stake: readonly [least: number, most: number] | null;
  /** Words of the title. */
  title?: RegExp;
}

/** Asserts that the first finding is the wanted one. */
export function assertFirst({ findings }: Findings, wanted: Wanted): void {
  const [found] = findings;
  const ids = findings.map(({ id }) => id);
  assert.equal(found?.id, wanted.id, `the first of ${ids.join(", ") || "none"}`);
  assert.equal(found!.class, wanted.class);
  assert.ok(found!.evidence.length > 0 && found!.remedies.length > 0 && found!.verify !== "");
  if (wanted.title) assert.match(found!.title, wanted.title);
  const stake = found!.share_at_stake;
  if (wanted.stake === null) return assert.equal(stake, null);
  const [least, most] = wanted.stake;
  const isWithin = stake !== null && stake >= least && stake <= most;
  assert.ok(isWithin, `${stake} is not within ${least} and ${most}`);
}

/** Asserts that each number of evidence is of a metric, or an attribute, that the windows have. */
export function assertSupported({ findings, sound }: Findings, load: Played): void {
  const known = new Set(["errors"]);
  for (const { window } of play(load).steps) {
    for (const { name } of window.series.values()) known.add(name);
    for (const { attributes } of window.resources.values()) {
      for (const name of Object.keys(attributes)) known.add(name);
    }
  }
  for (const { id, evidence } of [...findings, ...sound.map((one) => ({ id: one.rule, ...one }))]) {
    for (const { metric, value } of evidence) {
      assert.ok(Number.isFinite(value), `${id}: ${metric} is ${value}`);
      assert.ok(known.has(metric), `${id}: ${metric} is not in the windows`);
    }
  }
}

/** Ids of all findings that are no consequences. */
export function idsOf({ findings }: Findings): string[] {
  return findings.filter(({ consequence_of }) => consequence_of === null).map(({ id }) => id);
}

/** Seeds that each load is played with. */
const SEEDS = 12;

/** Loads with a planted cause, by what they are, and what must be found of them first. */
export type Planted = Readonly<Record<string, { load: Played } & Wanted>>;

/** Loads that look like a cause and are none, and the ids that must not be found. */
export type NearMisses = Readonly<Record<string, { load: Played; never: RegExp }>>;

/** Tests that planted causes are found first, and near misses are not, whatever the noise. */
export function testFindings(planted: Planted, misses: NearMisses): void {
  for (const [name, { load, ...wanted }] of Object.entries(planted)) {
    Deno.test(`${wanted.id}: ${name}`, () => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const found = judged(load, { seed });
        assertFirst(found, wanted);
        assertSupported(found, load);
      }
    });
  }
  for (const [name, { load, never }] of Object.entries(misses)) {
    Deno.test(`not ${never.source}: ${name}`, () => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const found = judged(load, { seed }).findings.map(({ id }) => id);
        assert.deepEqual(found.filter((id) => never.test(id)), [], `seed ${seed}`);
      }
    });
  }
}
