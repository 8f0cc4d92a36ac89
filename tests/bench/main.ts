/**
 * All benchmarks, as a table and a JSON file: `deno task bench`. It fails if a target is missed.
 * `deno task bench --soak=10 --instances=10000` simulates 10,000 instances for ten minutes instead, on
 * a SQLite file and then on a libSQL server.
 */

import { benchConsole } from "./console.ts";
import { benchContext } from "./context.ts";
import { benchLocalContext } from "./context_local.ts";
import { benchCore } from "./core.ts";
import { benchCuda } from "./cuda.ts";
import { benchCudaProcess } from "./cuda_process.ts";
import { benchDevices } from "./devices.ts";
import { benchEndpoint } from "./endpoint.ts";
import { benchExposition } from "./exposition.ts";
import { benchFloods } from "./floods.ts";
import { benchGaps } from "./gaps.ts";
import { benchIngest } from "./ingest.ts";
import { benchKeep } from "./keep.ts";
import { benchLaunches } from "./launches.ts";
import { benchPacked } from "./packed.ts";
import { reaches, type Row } from "./row.ts";
import { benchRun } from "./run.ts";
import { benchSegments } from "./segments.ts";
import { benchSoak } from "./soak.ts";
import { benchStart } from "./start.ts";
import { benchStorage } from "./storage.ts";
import { benchStoragePeers } from "./storage_peers.ts";
import { benchSupervisor } from "./supervisor.ts";

const RESULTS = new URL("results.json", import.meta.url);

const [minutes, instances] = [flag("soak", 0), flag("instances", 10_000)];
const directory = await Deno.makeTempDir({ prefix: "service-bench-" });
const rows: Row[] = [];
try {
  const soaks = (["file", "sqld"] as const).map((where) => (path: string) =>
    benchSoak(path, { minutes, instances, where })
  );
  const benches = minutes > 0 ? soaks : [
    benchCore,
    benchPacked,
    benchConsole,
    benchFloods,
    benchCuda,
    benchLaunches,
    benchCudaProcess,
    benchDevices,
    benchExposition,
    benchKeep,
    benchRun,
    benchStart,
    benchSupervisor,
    benchSegments,
    benchEndpoint,
    benchIngest,
    benchStorage,
    benchGaps,
    benchContext,
    benchLocalContext,
    benchStoragePeers,
  ];
  for (const bench of benches) {
    for (const row of await bench(directory)) {
      rows.push(row);
      print(row);
    }
  }
} finally {
  await Deno.remove(directory, { recursive: true });
}
const machine = {
  date: new Date().toISOString(),
  deno: Deno.version.deno,
  cores: navigator.hardwareConcurrency,
  kernel: Deno.osRelease(),
};
if (minutes === 0) {
  await Deno.writeTextFile(RESULTS, `${JSON.stringify({ machine, rows }, null, 2)}\n`);
  console.log(`\nwritten to ${RESULTS.pathname}`);
}
if (rows.some((row) => reaches(row) === false)) Deno.exit(1);

/** Value of a numeric flag, or `unset` without the flag. */
function flag(name: string, unset: number): number {
  const argument = Deno.args.find((text) => text.startsWith(`--${name}=`));
  return argument ? Number(argument.slice(name.length + 3)) : unset;
}

function print(row: Row): void {
  const { what, figure, unit, target, comparison } = row;
  const verdict = { true: "reached", false: "MISSED", undefined: "" }[String(reaches(row))];
  const goal = !target ? "" : "atLeast" in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
  const other = comparison ? `${short(comparison.figure)} ${comparison.what}` : "";
  console.log(
    [
      what.padEnd(72),
      `${short(figure)} ${unit}`.padEnd(18),
      goal.padEnd(8),
      verdict!.padEnd(8),
      other,
    ]
      .join("  ").trimEnd(),
  );
}

function short(figure: number): string {
  return figure >= 100 ? figure.toFixed(0) : figure.toPrecision(3);
}
