/** Parsers of the texts under `/proc`: a missing field, or a text in another form, is `null`. */

/** `/proc/<pid>/stat`: the identity of a process and its processor time. */
export interface ProcessStat {
  pid: number;
  /** The program's short name: any bytes, spaces, parentheses and newlines included. */
  comm: string;
  state: string;
  parent: number;
  user_ticks: number;
  system_ticks: number;
  /** Of ended children that the process has waited for, and of those that they had waited for. */
  waited_user_ticks: number;
  waited_system_ticks: number;
  threads: number;
  /** Ticks from the machine's start to the process's: with the pid, its identity. */
  start_ticks: number;
}

/** Reads `/proc/<pid>/stat`. */
export function parseStat(text: string): ProcessStat | null {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 1 || close < open) return null;
  const fields = text.slice(close + 2).split(" ");
  const [state = "", parent] = fields;
  const stat = {
    pid: integer(text.slice(0, open).trim()),
    parent: integer(parent),
    user_ticks: integer(fields[11]),
    system_ticks: integer(fields[12]),
    waited_user_ticks: integer(fields[13]),
    waited_system_ticks: integer(fields[14]),
    threads: integer(fields[17]),
    start_ticks: integer(fields[19]),
  };
  if (!/^[A-Za-z]$/.test(state) || !complete(stat)) return null;
  return { ...stat, state, comm: text.slice(open + 1, close) };
}

/** Whether a process has ended, reaped or not. Its first thread may end before the others. */
export function hasEnded({ state, threads }: ProcessStat): boolean {
  return /[Xx]/.test(state) || (state === "Z" && threads <= 1);
}

/** `/proc/<pid>/status`, and `/proc/<pid>/task/<tid>/status` with the switches of that thread. */
export interface ProcessStatus {
  resident_bytes: number | null;
  virtual_bytes: number | null;
  threads: number | null;
  voluntary_switches: number | null;
  involuntary_switches: number | null;
}

/** Reads `/proc/<pid>/status`. */
export function parseStatus(text: string): ProcessStatus {
  return {
    resident_bytes: bytes(field(text, "VmRSS")),
    virtual_bytes: bytes(field(text, "VmSize")),
    threads: integer(field(text, "Threads")),
    voluntary_switches: integer(field(text, "voluntary_ctxt_switches")),
    involuntary_switches: integer(field(text, "nonvoluntary_ctxt_switches")),
  };
}

/** `/proc/<pid>/io`: bytes through read and write calls, and bytes that storage had to move. */
export interface ProcessIo {
  read_bytes: number | null;
  write_bytes: number | null;
  storage_read_bytes: number | null;
  storage_write_bytes: number | null;
}

/** Reads `/proc/<pid>/io`. */
export function parseIo(text: string): ProcessIo {
  return {
    read_bytes: integer(field(text, "rchar")),
    write_bytes: integer(field(text, "wchar")),
    storage_read_bytes: integer(field(text, "read_bytes")),
    storage_write_bytes: integer(field(text, "write_bytes")),
  };
}

/** Reads `/proc/<pid>/environ`: of a name that is there twice the first entry counts, as in `getenv`. */
export function environment(text: string): Record<string, string> {
  const entries = text.split("\0").map((entry) => /^([^=]+)=([^]*)$/.exec(entry));
  return Object.fromEntries(
    entries.reverse().flatMap((match) => match ? [[match[1], match[2]]] : []),
  );
}

/** How processors spend their time, in the kernel's order. */
export const CPU_MODES = [
  "user",
  "nice",
  "system",
  "idle",
  "iowait",
  "irq",
  "softirq",
  "steal",
] as const;

/** The `cpu` lines of `/proc/stat`. */
export interface CpuTimes {
  /** Ticks in each of {@linkcode CPU_MODES}; an old kernel lacks the last ones. */
  ticks: number[];
  /** Processors that are online. */
  count: number;
}

/** Reads `/proc/stat`. Guest time stays out: the kernel has counted it under user and nice already. */
export function parseCpu(text: string): CpuTimes | null {
  const line = /^cpu +(.+)$/m.exec(text)?.[1];
  if (line === undefined) return null;
  const ticks = line.trim().split(/ +/).slice(0, CPU_MODES.length).map(integer);
  const count = text.match(/^cpu\d+ /gm)?.length ?? 0;
  return ticks.length >= 4 && allIntegers(ticks) ? { ticks, count } : null;
}

/** The measured part of `/proc/meminfo`. */
export interface Meminfo {
  total_bytes: number | null;
  available_bytes: number | null;
  swap_total_bytes: number | null;
  swap_free_bytes: number | null;
}

/** Reads `/proc/meminfo`. */
export function parseMeminfo(text: string): Meminfo {
  return {
    total_bytes: bytes(field(text, "MemTotal")),
    available_bytes: bytes(field(text, "MemAvailable")),
    swap_total_bytes: bytes(field(text, "SwapTotal")),
    swap_free_bytes: bytes(field(text, "SwapFree")),
  };
}

/** Unit of the kernel's counts, which does not depend on the sectors of the device. */
const SECTOR_BYTES = 512;

/** Totals of one block device. */
export interface DiskBytes {
  device: string;
  read_bytes: number;
  write_bytes: number;
}

/** Reads `/proc/diskstats`: whole disks, without their partitions, loop devices and disks in memory. */
export function parseDiskstats(text: string): DiskBytes[] {
  const disks = text.split("\n").flatMap((line) => {
    const [, , device = "", , , read, , , , written] = line.trim().split(/\s+/);
    const sectors = { read: integer(read), written: integer(written) };
    if (device === "" || !complete(sectors)) return [];
    return [{
      device,
      read_bytes: sectors.read * SECTOR_BYTES,
      write_bytes: sectors.written * SECTOR_BYTES,
    }];
  });
  const names = new Set(disks.map(({ device }) => device));
  return disks.filter(({ device }) =>
    !/^(loop|z?ram)\d/.test(device) && !isPartition(device, names)
  );
}

/** Whether a device is a partition: `sda1` if there is an `sda`, `nvme0n1p2` if there is an `nvme0n1`. */
function isPartition(device: string, names: ReadonlySet<string>): boolean {
  const letters = /^(.*\D)\d+$/.exec(device)?.[1];
  if (letters === undefined) return false;
  return names.has(letters) || (/\dp$/.test(letters) && names.has(letters.slice(0, -1)));
}

/** Totals of one network interface. */
export interface NetworkBytes {
  interface: string;
  receive_bytes: number;
  transmit_bytes: number;
}

/** Reads `/proc/net/dev`. */
export function parseNetDev(text: string): NetworkBytes[] {
  return text.split("\n").flatMap((line) => {
    const colon = line.lastIndexOf(":");
    const fields = line.slice(colon + 1).trim().split(/\s+/);
    const moved = { receive_bytes: integer(fields[0]), transmit_bytes: integer(fields[8]) };
    return colon > 0 && complete(moved)
      ? [{ interface: line.slice(0, colon).trim(), ...moved }]
      : [];
  });
}

/** Reads `/proc/loadavg`: the averages over 1, 5 and 15 minutes. */
export function parseLoadavg(text: string): [number, number, number] | null {
  const match = /^(\d+\.\d+) (\d+\.\d+) (\d+\.\d+)(?: |$)/.exec(text);
  return match && [Number(match[1]), Number(match[2]), Number(match[3])];
}

/** One line of `/proc/pressure/*`: the time in which some tasks, or all of them, waited for a resource. */
export interface Pressure {
  kind: "some" | "full";
  /** Share of the last ten seconds. */
  percent: number;
  /** Since the machine's start. */
  total_microseconds: number;
}

/** Reads `/proc/pressure/cpu`, `memory` or `io`. */
export function parsePressure(text: string): Pressure[] {
  return Array.from(
    text.matchAll(/^(some|full) avg10=(\d+\.\d+) .*\btotal=(\d+)$/gm),
    ([, kind, percent, total]) => ({
      kind: kind === "full" ? "full" : "some",
      percent: Number(percent),
      total_microseconds: Number(total),
    }),
  );
}

/** The text after `name:` on a line of its own. */
function field(text: string, name: string): string | undefined {
  const label = `${name}:`;
  const at = text.startsWith(label) ? 0 : text.indexOf(`\n${label}`) + 1;
  if (at === 0 && !text.startsWith(label)) return undefined;
  const end = text.indexOf("\n", at);
  return text.slice(at + label.length, end < 0 ? undefined : end).trim();
}

function integer(text: string | undefined): number | null {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}

/** Bytes of a size that the kernel writes in kibibytes. */
function bytes(text: string | undefined): number | null {
  const kibibytes = text?.endsWith(" kB") ? integer(text.slice(0, -3)) : null;
  return kibibytes === null ? null : kibibytes * 1024;
}

function allIntegers(values: (number | null)[]): values is number[] {
  return values.every((value) => value !== null);
}

function complete<K extends string>(
  values: Record<K, number | null>,
): values is Record<K, number> {
  return allIntegers(Object.values(values));
}
