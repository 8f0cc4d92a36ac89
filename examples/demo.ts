/**
 * Demo of the service, in half a minute: a hosted API on a file in a temporary folder, `workload.py`
 * under the profiler with upload, and the answer of each endpoint with its `curl` command. Removes its
 * files, and fails if an answer does not match the interface.
 */

import assert from "node:assert/strict";
import {
  decode,
  instanceList,
  type Metric,
  type Quantity,
  type Signals,
  signals,
} from "@service/core";
import { secondsFromNs } from "@service/core/time";
import { type Hosted, readLocal, startHosted, startRun, until, uploadTo } from "../tests/stack.ts";

const WORKLOAD = new URL("workload.py", import.meta.url).pathname;

if (import.meta.main) {
  const directory = await Deno.makeTempDir({ prefix: "service-demo-" });
  try {
    await using hosted = await startHosted(directory);
    await demo(hosted, directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function demo(hosted: Hosted, directory: string): Promise<void> {
  printLine("Hosted API", `${hosted.url}, on an embedded libSQL file`);
  await using run = startRun(["python3", WORKLOAD], { directory, env: uploadTo(hosted) });
  const url = await run.url;
  printLine("Profiler", `service-run -- python3 examples/workload.py, pid ${run.process.pid}`);

  for (const seconds of [4n, 10n]) {
    const local = await until(async () => {
      const payload = await readLocal(run);
      return payload.payload_ns - payload.start_ns > seconds * 1_000_000_000n && payload;
    });
    heading(`Local signals, ${seconds} s into the run`, `curl ${url}/signals`);
    show(local);
  }

  const { status, stdout, stderr } = await run.ended;
  assert.equal(status.code, 0, `the run failed: ${stderr}`);
  heading("The workload's own output", "(unchanged, exit code 0)");
  console.log(stdout.trimEnd().replaceAll(/^/gm, "  "));

  heading("Hosted instances, after the run", curl(`${hosted.url}/api/v1/instances`));
  const { instances } = await hosted.get("/api/v1/instances", instanceList);
  assert.equal(instances.length, 1, "one run is one instance");
  const [instance] = instances;
  table(["instance_id", "host.name", "project.name", "seconds", "command"], [[
    instance!.instance_id,
    instance!.tags["host.name"]!,
    instance!.tags["project.name"]!,
    String(instance!.last_seen_ts - instance!.first_seen_ts),
    shorten(instance!.attributes["process.command_line"]!),
  ]]);

  const path = `/api/v1/signals?instance_id=${instance!.instance_id}&start=${
    instance!.first_seen_ts
  }`;
  const complete = await hosted.get(path, signals);
  heading("Hosted signals of the whole run", curl(`${hosted.url}${path}`));
  show(complete);

  const lastLocal = `${directory}/service/${instance!.instance_id}.json`;
  const last = signals.check(decode(await Deno.readTextFile(lastLocal)));
  const compared = compareCounters(last, complete);
  printLine("Local and hosted", `${compared} counters, all equal to the last digit`);
  printLine("Follow it from here", `start=${secondsFromNs(complete.payload_ns)}`);
}

/** Asserts that every counter of the last local payload has the same total in the hosted one. */
function compareCounters(local: Signals, hosted: Signals): number {
  const key = ({ name, tags }: Metric) => `${name} ${JSON.stringify(Object.entries(tags).sort())}`;
  const totals = new Map(hosted.metrics.map((metric) => [key(metric), metric.stats]));
  const counters = local.metrics.filter(({ type }) => type === "counter");
  for (const counter of counters) {
    assert.deepEqual(totals.get(key(counter)), counter.stats, `${key(counter)} differs`);
  }
  assert(counters.length > 0, "there are counters to compare");
  return counters.length;
}

function show({ metrics, resources, errors }: Signals): void {
  const covered = metrics.find(({ name }) => name === "profiler_covered_nanoseconds")!.stats;
  assert("total" in covered);
  const seconds = (Number(covered.total) / 1e9).toFixed(1);
  console.log(
    `  ${metrics.length} metrics over ${seconds} s, ${resources.length} resources, ${errors.length} errors`,
  );
  const processes = new Map<string, Map<string, number>>();
  for (const { name, tags, stats } of metrics) {
    const pid = tags["process.pid"];
    if (pid === undefined) continue;
    const value = "value" in stats ? stats.value : "total" in stats ? stats.total : 0;
    processes.set(pid, (processes.get(pid) ?? new Map()).set(name, Number(value)));
  }
  const commands = new Map(
    resources.map(({ tags, attributes }) => [
      tags["process.pid"],
      attributes["process.command_line"] ?? "",
    ]),
  );
  const cell = (row: Map<string, number>, name: string, unit = 1, digits = 0) => {
    const value = row.get(name);
    return value === undefined ? "-" : (value / unit).toFixed(digits);
  };
  table(
    ["pid", "CPU %", "CPU s", "memory MB", "threads", "read MB", "written MB", "command"],
    [...processes].map(([pid, row]) => [
      pid,
      cell(row, "process_cpu_usage_percent", 1, 1),
      cell(row, "process_user_cpu_seconds", 1, 2),
      cell(row, "process_memory_usage_bytes", 1e6),
      cell(row, "process_threads"),
      cell(row, "process_io_read_bytes", 1e6),
      cell(row, "process_io_write_bytes", 1e6),
      shorten(commands.get(pid) ?? ""),
    ]),
  );
  table(
    ["host metric", "tags", "value"],
    metrics.filter(({ name }) => /^host_(cpu_usage|memory_usage|network|disk)/.test(name))
      .map(({ name, tags, stats }) => [
        name,
        Object.values(tags).join(" "),
        number("value" in stats ? stats.value : "total" in stats ? stats.total : 0),
      ]),
  );
  for (const { level, message } of errors) console.log(`  ${level}: ${message}`);
  for (const { name, tags, stats } of metrics) {
    if (name !== "profiler_capture_state" || !("value" in stats) || stats.value !== 0) continue;
    console.log(`  not captured: ${tags["capture"]}, as ${tags["reason"]}`);
  }
}

/** A command line without folders, and cut to 48 characters. */
function shorten(command: string): string {
  const bare = command.replaceAll(/\/\S*\//g, "");
  return bare.length > 48 ? `${bare.slice(0, 47)}…` : bare;
}

function number(value: Quantity): string {
  return Number.isInteger(Number(value)) ? String(value) : Number(value).toFixed(1);
}

function curl(url: string): string {
  return `curl -H "X-API-Key: $SERVICE_API_KEY" "${url}"`;
}

function printLine(what: string, text: string): void {
  console.log(`\n${what}: ${text}`);
}

function heading(what: string, how: string): void {
  console.log(`\n== ${what}\n   ${how}`);
}

function table(columns: string[], rows: string[][]): void {
  const widths = columns.map((column, i) =>
    Math.max(column.length, ...rows.map((row) => row[i]!.length))
  );
  for (const row of [columns, ...rows]) {
    console.log(`  ${row.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd()}`);
  }
}
