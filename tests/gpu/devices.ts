/** Comparison of the device metrics with nvidia-smi in the same second, idle and under load. */

import { command } from "../command.ts";
import { readLocal, type Run, startRun } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";
import { type Finding, finding, observation } from "./finding.ts";
import { plain } from "./runs.ts";
import { type Column, GPM, MONITOR, monitorReader, QUERY, readQuery, type Values } from "./smi.ts";

/** Values that were read at one time. */
interface Sample {
  at_ms: number;
  values: Values;
}

/** Our samples beside those of one command of nvidia-smi. */
interface Comparison {
  what: string;
  columns: readonly Column[];
  ours: Sample[];
  theirs: Sample[];
}

const SAMPLES = 12;
const SECOND_MS = 1_000;
const OF_FIRST_DEVICE = ["-i", "0"];

/** All comparisons, for the first device. */
export async function* compareDevices(workload: string): AsyncGenerator<Finding> {
  const seconds = String(SAMPLES + 8);
  const query = ["nvidia-smi", ...OF_FIRST_DEVICE, "--query-gpu=uuid", "--format=csv,noheader"];
  const uuid = (await plain(query)).stdout.trim();
  yield* compare("idle", ["sleep", seconds], uuid);
  yield* compare("under load", [workload, "loop", "gpu", seconds], uuid);
}

async function* compare(
  phase: string,
  words: string[],
  uuid: string,
): AsyncGenerator<Finding> {
  await using directory = await temporaryDirectory();
  await using run = startRun(words, { directory: directory.path });
  await run.url;
  const gpm = GPM.map(({ column }) => column).join();
  const monitor = ["nvidia-smi", "dmon", ...OF_FIRST_DEVICE, "-s", "put", "-d", "1"];
  const withGpm = await plain([...monitor, "-c", "1", "--gpm-metrics", gpm])
    .then(() => ["--gpm-metrics", gpm], () => []);
  const [ours, asked, monitored] = await Promise.all([
    sampleOurs(run, uuid),
    sampleLines(queryCommand(), readQuery),
    sampleLines([...monitor, ...withGpm], monitorReader()),
  ]);
  yield* rows({ what: `${phase}, --query-gpu`, columns: QUERY, ours, theirs: asked });
  const columns = [...MONITOR, ...withGpm.length > 0 ? GPM : []];
  yield* rows({ what: `${phase}, dmon`, columns, ours, theirs: monitored });
  if (phase !== "idle") yield await checkUuid(run, uuid);
}

function queryCommand(): string[] {
  const fields = QUERY.map(({ column }) => column).join();
  const format = "--format=csv,noheader,nounits";
  return ["nvidia-smi", ...OF_FIRST_DEVICE, `--query-gpu=${fields}`, format, "-l", "1"];
}

async function sampleOurs(run: Run, uuid: string): Promise<Sample[]> {
  const samples: Sample[] = [];
  while (samples.length < SAMPLES) {
    // Between two ticks: each answer has another poll.
    await new Promise((resolve) => setTimeout(resolve, SECOND_MS - (Date.now() + 500) % SECOND_MS));
    const { metrics } = await readLocal(run, "?metrics=gpu_*");
    const values = metrics.flatMap((metric) =>
      metric.type === "gauge" && metric.tags["device.uuid"] === uuid
        ? [[metric.name, Number(metric.stats.value)] as const]
        : []
    );
    samples.push({ at_ms: Date.now(), values: new Map(values) });
  }
  return samples;
}

/** Samples of a command that prints a line a second. */
async function sampleLines(
  words: string[],
  read: (line: string) => Values | null,
): Promise<Sample[]> {
  const process = command(words, { stdout: "piped", stdin: "null" }).spawn();
  const samples: Sample[] = [];
  let rest = "";
  for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const values = read(line);
      if (values) samples.push({ at_ms: Date.now(), values });
    }
    if (samples.length >= SAMPLES) break;
  }
  try {
    process.kill("SIGTERM");
  } catch {
    // It has ended.
  }
  await process.status;
  return samples;
}

function* rows({ what, columns, ours, theirs }: Comparison): Generator<Finding> {
  for (const { column, metric, tolerance } of columns) {
    const pairs = theirs.map(({ at_ms, values }) => {
      const beside = ours.toSorted((a, b) =>
        Math.abs(a.at_ms - at_ms) - Math.abs(b.at_ms - at_ms)
      )[0];
      return [beside?.values.get(metric) ?? null, values.get(metric) ?? null] as const;
    });
    const both = pairs.filter((pair): pair is [number, number] =>
      pair[0] !== null && pair[1] !== null
    );
    const name = `${what}: ${metric}`;
    if (pairs.every(([mine, other]) => mine === null && other === null)) {
      yield observation(name, "neither has it");
      continue;
    }
    if (both.length === 0) {
      const isOurs = pairs.some(([mine]) => mine !== null);
      yield isOurs
        ? observation(name, `nvidia-smi's ${column} is absent`)
        : finding(name, "absent", false, `as nvidia-smi's ${column}`);
      continue;
    }
    const difference = median(both.map(([mine, other]) => Math.abs(mine - other)));
    const [mine, other] = [0, 1].map((side) => median(both.map((pair) => pair[side]!)));
    const found = `${mine}, theirs ${other}; differ by ${difference} (medians of ${both.length})`;
    yield Number.isFinite(tolerance)
      ? finding(name, found, difference <= tolerance, `differ by at most ${tolerance}`)
      : observation(name, found);
  }
}

async function checkUuid(run: Run, uuid: string): Promise<Finding> {
  const { metrics } = await readLocal(run, "?metrics=cuda_*");
  const uuids = new Set(metrics.flatMap(({ tags }) => tags["device.uuid"] ?? []));
  const found = [...uuids].join() || "none";
  return finding("device.uuid of the CUDA metrics", found, found === uuid, `nvidia-smi's ${uuid}`);
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const value = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
  return Math.round(value * 100) / 100;
}
