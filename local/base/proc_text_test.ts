/** Texts under `/proc` are read as the kernel writes them. */

import assert from "node:assert/strict";
import fc from "fast-check";
import {
  hasEnded,
  parseCpu,
  parseDiskstats,
  parseIo,
  parseLoadavg,
  parseMeminfo,
  parseNetDev,
  parsePressure,
  parseStat,
  parseStatus,
} from "./proc_text.ts";

const AFTER_COMM = "S 1 42 42 0 -1 4194560 103 0 0 0 250 31 7 9 20 0 3 0 111785 2998272 421 0\n";

for (
  const comm of [
    "python3",
    "a b",
    ")",
    "((",
    ") R 1 1",
    "tmux: server (x)",
    "line\nbreak",
    "",
    " ",
    "日本",
  ]
) {
  Deno.test(`a stat is read whose program is called ${JSON.stringify(comm)}`, () => {
    assert.deepEqual(parseStat(`42 (${comm}) ${AFTER_COMM}`), {
      pid: 42,
      comm,
      state: "S",
      parent: 1,
      user_ticks: 250,
      system_ticks: 31,
      waited_user_ticks: 7,
      waited_system_ticks: 9,
      threads: 3,
      start_ticks: 111785,
    });
  });
}

Deno.test("a stat is read, whatever the program's name", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (comm) => {
    const stat = parseStat(`42 (${comm}) ${AFTER_COMM}`);
    assert.equal(stat?.comm, comm);
    assert.equal(stat?.start_ticks, 111785);
  }));
});

Deno.test("a stat that is cut short, or another text, is null", () => {
  const complete = `42 (a) ${AFTER_COMM}`;
  const start_ticks_end = complete.indexOf("111785");
  for (let length = 0; length < start_ticks_end; length++) {
    assert.equal(parseStat(complete.slice(0, length)), null);
  }
  for (const text of ["", ")(", "x (a) " + AFTER_COMM, complete.replace("250", "2.5")]) {
    assert.equal(parseStat(text), null);
  }
});

Deno.test("a process has ended when it is dead, or a zombie without living threads", () => {
  const stat = (state: string, threads: number) => {
    const text = AFTER_COMM.replace(/^S/, state).replace(" 3 0 111785", ` ${threads} 0 111785`);
    return parseStat(`42 (a) ${text}`)!;
  };
  assert.equal(hasEnded(stat("Z", 1)), true);
  assert.equal(hasEnded(stat("X", 1)), true);
  assert.equal(hasEnded(stat("Z", 2)), false);
  assert.equal(hasEnded(stat("T", 1)), false);
});

Deno.test("a status has sizes in bytes, and null for missing fields", () => {
  const text = "Name:\tVmRSS:\t9 kB\nVmSize:\t    5588 kB\nVmRSS:\t     632 kB\nThreads:\t2\n" +
    "voluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t5\n";
  assert.deepEqual(parseStatus(text), {
    resident_bytes: 632 * 1024,
    virtual_bytes: 5588 * 1024,
    threads: 2,
    voluntary_switches: 7,
    involuntary_switches: 5,
  });
  assert.deepEqual(parseStatus("Name:\tkthreadd\nThreads:\t1\n"), {
    resident_bytes: null,
    virtual_bytes: null,
    threads: 1,
    voluntary_switches: null,
    involuntary_switches: null,
  });
});

Deno.test("bytes of calls and bytes of storage are counted apart", () => {
  const text = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n" +
    "cancelled_write_bytes: 7\n";
  assert.deepEqual(parseIo(text), {
    read_bytes: 1,
    write_bytes: 2,
    storage_read_bytes: 5,
    storage_write_bytes: 6,
  });
});

Deno.test("guest time, which the kernel counts under user too, is not counted again", () => {
  const text = "cpu  10 20 30 40 50 60 70 80 9 9\ncpu0 1 2 3 4\ncpu1 1 2 3 4\nintr 5\n";
  assert.deepEqual(parseCpu(text), { ticks: [10, 20, 30, 40, 50, 60, 70, 80], count: 2 });
  assert.deepEqual(parseCpu("cpu  10 20 30 40\n"), { ticks: [10, 20, 30, 40], count: 0 });
  assert.equal(parseCpu("cpu  10 x 30 40\n"), null);
  assert.equal(parseCpu("intr 5\n"), null);
});

Deno.test("memory that an old kernel does not estimate is null", () => {
  assert.deepEqual(parseMeminfo("MemTotal:       16 kB\nMemFree: 8 kB\nSwapTotal: 0 kB\n"), {
    total_bytes: 16384,
    available_bytes: null,
    swap_total_bytes: 0,
    swap_free_bytes: null,
  });
});

Deno.test("only whole disks are measured, by their sectors of 512 bytes", () => {
  const line = (device: string) => `   8  0 ${device} 1 0 4 0 1 0 6 0 0 0 0 0 0 0\n`;
  const names = ["sda", "sda1", "sda12", "nvme0n1", "nvme0n1p2", "mmcblk0", "mmcblk0p1", "loop7"]
    .concat(["ram0", "zram0", "dm-0", "md127", "md127p1", "xvda1", "sr0"]);
  const disks = parseDiskstats(names.map(line).join("") + "   8  0 short 1\n\n");
  assert.deepEqual(
    disks.map(({ device }) => device),
    ["sda", "nvme0n1", "mmcblk0", "dm-0", "md127", "xvda1", "sr0"],
  );
  assert.deepEqual(disks[0], { device: "sda", read_bytes: 2048, write_bytes: 3072 });
});

Deno.test("network interfaces are read below the table's head", () => {
  const text = "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes\n" +
    "    lo: 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0\n  eth0:3 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0\n bad: 1\n";
  assert.deepEqual(parseNetDev(text), [
    { interface: "lo", receive_bytes: 1, transmit_bytes: 2 },
    { interface: "eth0", receive_bytes: 3, transmit_bytes: 4 },
  ]);
});

Deno.test("load and pressure are read, null and empty from other texts", () => {
  assert.deepEqual(parseLoadavg("0.52 1.00 12.25 2/180 9000\n"), [0.52, 1, 12.25]);
  assert.equal(parseLoadavg("nan 1 2"), null);
  const text = "some avg10=1.43 avg60=0.60 avg300=0.29 total=6202258\n" +
    "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
  assert.deepEqual(parsePressure(text), [
    { kind: "some", percent: 1.43, total_microseconds: 6202258 },
    { kind: "full", percent: 0, total_microseconds: 7 },
  ]);
  assert.deepEqual(parsePressure("junk"), []);
});

Deno.test("no text makes a parser throw or answer NaN", () => {
  const parsers = [parseStat, parseStatus, parseIo, parseCpu, parseMeminfo, parseDiskstats]
    .concat([parseNetDev, parseLoadavg, parsePressure] as never[]);
  const words = fc.constantFrom(
    "cpu ",
    "VmRSS:",
    "1",
    "-5",
    " kB",
    "\n",
    "(",
    ")",
    "some avg10=",
    " ",
  );
  fc.assert(fc.property(fc.array(fc.oneof(words, fc.string())), (parts) => {
    for (const parse of parsers) {
      assert.doesNotMatch(JSON.stringify(parse(parts.join("")), notFinite) ?? "", /"not finite"/);
    }
  }));
});

function notFinite(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value) ? "not finite" : value;
}
