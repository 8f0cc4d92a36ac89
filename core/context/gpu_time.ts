/** The section on GPU time: kernels, graphs, copies and waits; devices that agree share one table. */

import { fenced, named } from "../quoted.ts";
import type { Activity } from "../facts/mod.ts";
import type { Block, Row, SectionText } from "./section_text.ts";
import { devicesOf, namesOf, type PlacedDevice, type Subject } from "./subject.ts";
import { number, percent, row } from "./words.ts";

/** Devices whose shares differ by less, of the time, are one table. */
const AGREE = 0.02;
/** Tables at most. */
const GROUPS = 8;
/** Rows of a table with a line of their own at most. */
const MOST = 40;
/** Kernels below this share of the time are told as a sum. */
const LEAST_SHARE = 0.0005;

/** Kernels whose full symbols are given: that many, of at least this share of the time. */
const SYMBOLS = 12;
const SYMBOL_SHARE = 0.005;

/** A device with its activity. */
interface Active extends PlacedDevice {
  activity: Activity;
}

interface Line {
  name: string;
  short: string;
  category: string;
  /** Share of the time, mean of the devices. */
  share: number;
  seconds: number;
  times: number;
}

/** GPU time. */
export function gpuTimeSection(subject: Subject): SectionText {
  const active = devicesOf(subject).flatMap((placed): Active[] =>
    placed.device.activity ? [{ ...placed, activity: placed.device.activity }] : []
  );
  const title = "GPU time";
  if (active.length === 0) {
    const lead = [
      "Not captured: see completeness for the reason. Nothing is known of kernels, graphs, copies and waits.",
    ];
    return { section: "gpu_time", title, blocks: [{ lead, rows: [] }] };
  }
  const { groups, others } = groupsOf(active);
  const blocks = groups.flatMap((group, at) =>
    groupBlocks(group, { at, isAlone: groups.length === 1 })
  );
  if (others.length > 0) blocks.push(othersBlock(others));
  return { section: "gpu_time", title, blocks: [...blocks, symbolsBlock(groups)] };
}

/** Devices whose categories and busy shares agree, in the order of their first; others are of no group. */
function groupsOf(active: readonly Active[]): { groups: Active[][]; others: Active[] } {
  const groups: { shares: Map<string, number>; devices: Active[] }[] = [];
  const others: Active[] = [];
  for (const one of active) {
    const shares = sharesOf(one.activity);
    const group = groups.find((other) => doAgree(other.shares, shares));
    if (group) group.devices.push(one);
    else if (groups.length < GROUPS) groups.push({ shares, devices: [one] });
    else others.push(one);
  }
  return { groups: groups.map(({ devices }) => devices), others };
}

function othersBlock(devices: readonly Active[]): Block {
  const busy = devices.map(busyShare);
  const range = `${percent(Math.min(...busy))} to ${percent(Math.max(...busy))}`;
  const text = `${devices.length} more devices differ from all of these (${
    namesOf(devices)
  }): work of the run ${range} % of the time. Ask for their instances alone to see it.`;
  return { lead: [], rows: [{ text, weight: 200 }] };
}

function busyShare({ activity }: Active): number {
  return activity.busy_seconds / activity.captured_seconds;
}

function sharesOf(activity: Activity): Map<string, number> {
  const { captured_seconds, busy_seconds, kernels, graphs, copies } = activity;
  const shares = new Map([["busy", busy_seconds / captured_seconds]]);
  const add = (key: string, seconds: number) =>
    shares.set(key, (shares.get(key) ?? 0) + seconds / captured_seconds);
  for (const { category, seconds } of kernels) add(category, seconds);
  for (const { seconds } of graphs) add("graph", seconds);
  for (const { name, seconds } of copies) add(name, seconds);
  return shares;
}

function doAgree(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return [...new Set([...a.keys(), ...b.keys()])].every((key) =>
    Math.abs((a.get(key) ?? 0) - (b.get(key) ?? 0)) <= AGREE
  );
}

function groupBlocks(
  devices: readonly Active[],
  { at, isAlone }: { at: number; isAlone: boolean },
): Block[] {
  const busy = devices.map(busyShare);
  const least = Math.min(...busy);
  const most = Math.max(...busy);
  const mean = busy.reduce((sum, one) => sum + one, 0) / busy.length;
  const spread = devices.length > 1 ? ` (${percent(least)} to ${percent(most)})` : "";
  const weight = 340 - 12 * at;
  const many = devices.length > 1
    ? `Devices ${namesOf(devices)} (they agree; means of ${devices.length})`
    : `Device ${namesOf(devices)}`;
  const lost = devices.reduce((sum, { activity }) => sum + activity.lost_records, 0);
  const overlapped = devices.some(({ activity }) => activity.pids.length > 1)
    ? "; several processes share it: their work may overlap"
    : "";
  const head = `${many}: work of the run on the device ${
    percent(mean)
  } %${spread} of the time, copies included; idle ${percent(1 - mean)} %${
    lost > 0 ? `; ${number(lost)} records lost` : ""
  }${overlapped}.`;
  const lines = linesOf(devices);
  const categories = categoriesOf(lines);
  return [
    {
      lead: [
        head,
        "",
        row(
          "category",
          "% of time",
          `seconds${devices.length > 1 ? " a device" : ""}`,
          "launches/s",
        ),
      ],
      rows: categories.map((one): Row => ({
        text: row(
          one.category,
          percent(one.share),
          number(one.seconds / devices.length),
          number(one.times / secondsOf(devices)),
        ),
        weight: weight + 100 * one.share,
        share: one.share,
      })),
    },
    {
      lead: [row("id", "kernel or graph", "category", "% of time", "launches/s", "mean µs")],
      rows: listed(lines).map((one): Row => ({
        text: row(
          idOf(one.name),
          named(one.short, 80),
          one.category,
          percent(one.share),
          number(one.times / secondsOf(devices)),
          number(one.times > 0 ? 1e6 * one.seconds / one.times : null),
        ),
        weight: (isAlone ? 300 : 290 - 12 * at) + 250 * one.share,
        share: one.share,
      })),
      also: restOf(lines),
    },
    ...copyBlocks(devices, weight),
    ...waitBlocks(devices, weight),
  ];
}

function secondsOf(devices: readonly Active[]): number {
  return devices.reduce((sum, { activity }) => sum + activity.captured_seconds, 0);
}

/** Kernels and graphs of all devices together, the largest first; shares are of one device's time. */
function linesOf(devices: readonly Active[]): Line[] {
  const lines = new Map<string, Line>();
  const all = secondsOf(devices);
  const add = (name: string, one: Omit<Line, "name" | "share">) => {
    const known = lines.get(name);
    if (known) {
      known.seconds += one.seconds;
      known.times += one.times;
    } else lines.set(name, { name, share: 0, ...one });
  };
  for (const { activity } of devices) {
    for (const { name, short, category, seconds, times } of activity.kernels) {
      add(name, { short, category, seconds, times });
    }
    for (const { name, seconds, times } of activity.graphs) {
      add(name, { short: `graph ${name}`, category: "graph", seconds, times });
    }
  }
  for (const line of lines.values()) line.share = line.seconds / all;
  return [...lines.values()].sort((a, b) => b.seconds - a.seconds || (a.name < b.name ? -1 : 1));
}

function categoriesOf(lines: readonly Line[]): Line[] {
  const all = new Map<string, Line>();
  for (const { category, share, seconds, times } of lines) {
    const known = all.get(category);
    if (known) {
      known.share += share;
      known.seconds += seconds;
      known.times += times;
    } else all.set(category, { name: category, short: category, category, share, seconds, times });
  }
  return [...all.values()].sort((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1));
}

/** The kernels with a row each. */
function listed(lines: readonly Line[]): readonly Line[] {
  return lines.slice(0, MOST).filter(({ share }, at) => share >= LEAST_SHARE || at < 5);
}

function restOf(lines: readonly Line[]): string | undefined {
  const rest = lines.slice(listed(lines).length);
  if (rest.length === 0) return undefined;
  return `${rest.length} names below them, ${
    percent(rest.reduce((sum, { share }) => sum + share, 0))
  } % in all, are not listed`;
}

function copyBlocks(devices: readonly Active[], weight: number): Block[] {
  const seconds = secondsOf(devices);
  const kinds = new Map<string, { seconds: number; times: number; bytes: number | null }>();
  for (const { activity } of devices) {
    for (const [works, prefix] of [[activity.copies, ""], [activity.sets, "set "]] as const) {
      for (const work of works) {
        const known = kinds.get(prefix + work.name) ?? { seconds: 0, times: 0, bytes: 0 };
        known.seconds += work.seconds;
        known.times += work.times;
        known.bytes = known.bytes === null || work.bytes === null ? null : known.bytes + work.bytes;
        kinds.set(prefix + work.name, known);
      }
    }
  }
  if (kinds.size === 0) return [];
  return [{
    lead: [row("copies", "% of time", "copies/s", "KB each", "GB/s")],
    rows: bySeconds(kinds).map(([kind, one]) => ({
      text: row(
        fenced(kind, 40),
        percent(one.seconds / seconds),
        number(one.times / seconds),
        number(one.bytes === null || one.times === 0 ? null : one.bytes / one.times / 1e3),
        number(one.bytes === null || one.seconds === 0 ? null : one.bytes / one.seconds / 1e9),
      ),
      weight: weight - 20 + 100 * one.seconds / seconds,
    })),
  }];
}

function bySeconds<W extends { seconds: number }>(works: ReadonlyMap<string, W>): [string, W][] {
  return [...works].sort(([a, one], [b, other]) => other.seconds - one.seconds || (a < b ? -1 : 1));
}

function waitBlocks(devices: readonly Active[], weight: number): Block[] {
  const seconds = secondsOf(devices);
  const waits = new Map<string, { seconds: number; times: number }>();
  for (const { activity } of devices) {
    for (const work of activity.waits) {
      const known = waits.get(work.name) ?? { seconds: 0, times: 0 };
      known.seconds += work.seconds;
      known.times += work.times;
      waits.set(work.name, known);
    }
  }
  if (waits.size === 0) return [];
  return [{
    lead: [row("host threads waiting for", "waits/s", "mean µs", "% of a thread's time")],
    rows: bySeconds(waits).map(([name, one]) => ({
      text: row(
        fenced(name),
        number(one.times / seconds),
        number(one.times > 0 ? 1e6 * one.seconds / one.times : null),
        percent(one.seconds / seconds),
      ),
      weight: weight - 25,
    })),
  }];
}

/** Full symbols of the largest kernels, by the ids of the tables. */
function symbolsBlock(groups: readonly Active[][]): Block {
  const lines = linesOf(groups.flat()).filter(({ name, short }) =>
    name !== short && !short.startsWith("graph ")
  );
  const largest = lines.filter(({ share }) => share >= SYMBOL_SHARE).slice(0, SYMBOLS);
  return {
    lead: largest.length > 0 ? ["Full symbols of the largest, by id:"] : [],
    rows: largest.map(({ name, share }) => ({
      text: `[${idOf(name)}] ${fenced(name, 300)}`,
      weight: 20 + 50 * share,
    })),
    of: "full symbols",
  };
}

/** Four digits that name a kernel: the same for the same symbol, in every text. */
function idOf(symbol: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < symbol.length; at++) {
    hash = Math.imul(hash ^ symbol.charCodeAt(at), 0x01000193) >>> 0;
  }
  return String(hash % 10_000).padStart(4, "0");
}
