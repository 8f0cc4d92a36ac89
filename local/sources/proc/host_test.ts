/** Metrics of the host: increases from the first sample, shares from the second. */

import assert from "node:assert/strict";
import type { Window } from "@service/core";
import { rounded } from "@service/core/sum";
import { createHostSource } from "./host.ts";
import { Recorder } from "../recorder.ts";
import { testUnless } from "../../../tests/skipping.ts";

const FILES: Record<string, string> = {
  "stat": "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3 4\ncpu1 1 2 3 4\n",
  "meminfo": "MemTotal: 100 kB\nMemAvailable: 60 kB\nSwapTotal: 10 kB\nSwapFree: 4 kB\n",
  "diskstats": "8 0 sda 1 0 4 0 1 0 6 0\n8 1 sda1 1 0 4 0 1 0 6 0\n",
  "net/dev": "lo: 1 0 0 0 0 0 0 0 2\neth0: 30 0 0 0 0 0 0 0 40\n",
  "loadavg": "0.50 1.00 2.00 1/2 3\n",
  "pressure/io": "some avg10=1.50 avg60=0.00 avg300=0.00 total=500\n",
  "pressure/cpu": "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
  "sys/kernel/ostype": "Linux\n",
  "sys/kernel/osrelease": "6.1.0-test\n",
};

Deno.test("a host is measured: increases from the first sample on, shares from the second on", async () => {
  const proc = madeUp(FILES);
  try {
    let now_ns = 5_000_000_000n;
    const recorder = new Recorder(0n, () => now_ns);
    const source = createHostSource({ profilerVersion: "1.2.3", proc });
    await source.sample(recorder);
    const first = recorder.cut(1n);
    assert.deepEqual(values(first), {
      "host_memory_total_bytes []": 102400,
      "host_memory_available_bytes []": 61440,
      "host_memory_usage_bytes []": 40960,
      "host_swap_total_bytes []": 10240,
      "host_swap_usage_bytes []": 6144,
      'host_disk_read_bytes [["device","sda"]]': 0,
      'host_disk_write_bytes [["device","sda"]]': 0,
      'host_network_receive_bytes [["interface","eth0"]]': 0,
      'host_network_transmit_bytes [["interface","eth0"]]': 0,
      'host_load_average [["window","1m"]]': 0.5,
      'host_load_average [["window","5m"]]': 1,
      'host_load_average [["window","15m"]]': 2,
      'host_pressure_stall_percent [["kind","some"],["resource","io"]]': 1.5,
      'host_pressure_stall_microseconds [["kind","some"],["resource","io"]]': 0,
    });
    const [resource] = first.resources.values();
    assert.equal(resource?.kind, "host");
    assert.deepEqual(resource?.attributes, {
      "platform.name": "Linux",
      "platform.version": "6.1.0-test",
      "platform.machine": Deno.build.arch,
      "profiler.version": "1.2.3",
      "host.cpu_count": "2",
      "host.memory_total_bytes": "102400",
    });

    write(proc, {
      // 100 ticks more, one of them back from iowait.
      "stat": "cpu  110 0 65 875 49 0 0 0 9 0\ncpu0 1 2 3 4\n",
      "diskstats": "8 0 sda 1 0 6 0 1 0 6 0\n8 1 sda1 1 0 4 0 1 0 6 0\n",
      // The interface was made anew.
      "net/dev": "eth0: 7 0 0 0 0 0 0 0 41\n",
      "pressure/io": "some avg10=1.50 avg60=0.00 avg300=0.00 total=750\n",
    });
    now_ns = 6_000_000_000n;
    await source.sample(recorder);
    const window = recorder.cut(2n);
    assert.deepEqual([...window.resources.values()], [{ ...resource, last_seen_ts: 6 }]);
    assert.equal(resource?.first_seen_ts, 5);
    const second = values(window);
    assert.equal(second["host_cpu_usage_percent []"], 25);
    assert.equal(second['host_cpu_mode_percent [["mode","system"]]'], 15);
    assert.equal(second['host_cpu_mode_percent [["mode","idle"]]'], 75);
    assert.equal(second['host_cpu_mode_percent [["mode","iowait"]]'], 0);
    assert.equal(second['host_disk_read_bytes [["device","sda"]]'], 1024);
    assert.equal(second['host_network_receive_bytes [["interface","eth0"]]'], 7);
    assert.equal(second['host_network_transmit_bytes [["interface","eth0"]]'], 1);
    assert.equal(
      second['host_pressure_stall_microseconds [["kind","some"],["resource","io"]]'],
      250,
    );
  } finally {
    Deno.removeSync(proc, { recursive: true });
  }
});

Deno.test("a host whose kernel tells nothing has a resource and no metrics", async () => {
  const proc = madeUp({});
  try {
    const recorder = new Recorder(0n, () => 1n);
    await createHostSource({ profilerVersion: "1.2.3", proc }).sample(recorder);
    const window = recorder.cut(1n);
    assert.deepEqual(values(window), {});
    assert.equal(window.resources.size, 1);
  } finally {
    Deno.removeSync(proc, { recursive: true });
  }
});

testUnless(Deno.build.os === "linux" ? null : "not Linux")(
  "the real host's modes add up to 100 percent",
  async () => {
    const recorder = new Recorder(0n, () => 1n);
    const source = createHostSource({ profilerVersion: "1.2.3" });
    let modes: [string, number][] = [];
    while (modes.length === 0) {
      await source.sample(recorder);
      modes = Object.entries(values(recorder.cut(1n)))
        .filter(([key]) => key.startsWith("host_cpu_mode_percent"));
    }
    const sum = modes.reduce((sum, [, share]) => sum + share, 0);
    assert.ok(Math.abs(sum - 100) < 1e-6, String(sum));
  },
);

function madeUp(files: Record<string, string>): string {
  const proc = Deno.makeTempDirSync();
  for (const folder of ["net", "pressure", "sys/kernel"]) {
    Deno.mkdirSync(`${proc}/${folder}`, { recursive: true });
  }
  write(proc, files);
  return proc;
}

function write(proc: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) Deno.writeTextFileSync(`${proc}/${path}`, text);
}

/** Values and increases of the sources' own series. */
function values({ series }: Window): Record<string, number> {
  const all: Record<string, number> = {};
  for (const entry of series.values()) {
    if (entry.name.startsWith("profiler_")) continue;
    const value = entry.type === "gauge"
      ? entry.value
      : entry.type === "counter"
      ? entry.total
      : NaN;
    all[`${entry.name} ${JSON.stringify(Object.entries(entry.tags).sort())}`] =
      typeof value === "bigint" ? Number(value) : rounded(value);
  }
  return all;
}
