/** Collectives: time in communication, and the device or host that makes the others wait. */

import assert from "node:assert/strict";
import type { DeviceLoad, Load } from "./testdata/load.ts";
import { assertFirst, idsOf, judged, judgedAll, testFindings } from "./testdata/judged.ts";
import { h100, SYMBOLS, trainer, training, work } from "./testdata/workloads.ts";

const collective = { class: "collective" } as const;

interface RankOptions {
  /** How much longer a rank's own kernels take. */
  slower?: number;
  /** How many more of them it has. */
  more?: number;
  /** Share of the time in own kernels of a usual rank. */
  own?: number;
  device?: Partial<DeviceLoad>;
}

/** A rank of a job whose steps take as long as those of the slowest: it waits in collectives for the rest. */
function rank(index: number, { slower = 1, more = 1, own = 0.6, device }: RankOptions): DeviceLoad {
  const share = own * slower * more;
  return h100({
    pid: 100 + index,
    kernels: [
      work(SYMBOLS.gemm, 0.7 * share, 900 * slower),
      work(SYMBOLS.attention, 0.3 * share, 600 * slower),
      work(SYMBOLS.reduce, 0.98 - share, 9000 * (0.98 - share)),
    ],
    ...device,
  });
}

function job(name: string, ranks: readonly RankOptions[]): Load {
  return training({
    tags: { "host.name": name },
    devices: ranks.map((options, index) => rank(index, options)),
    processes: ranks.map((_, index) => trainer({ pid: 100 + index })),
    host: { cpus: 192 },
  });
}

const usual = [{}, {}, {}];
const hot = {
  throttled: { hw_thermal_slowdown: 0.9 },
  gauges: { clock_sm_megahertz: 1300, temperature_celsius: 91 },
};

testFindings({
  "a rank that heat slows": {
    load: job("a", [...usual, { slower: 1.5, device: hot }]),
    ...collective,
    id: "collectives/straggler",
    // The others are in collectives for 38 % of the time, it for 8 %.
    stake: [0.27, 0.33],
    title: /device 3 is slow.*hw_thermal_slowdown/,
  },
  "a rank with half as much work again": {
    load: job("a", [...usual, { more: 1.5 }]),
    ...collective,
    id: "collectives/uneven_work",
    stake: [0.27, 0.33],
    title: /as fast as the others', so it has more work/,
  },
  "a rank whose kernels take longer at full clock": {
    load: job("a", [...usual, { slower: 1.5 }]),
    ...collective,
    id: "collectives/straggler",
    stake: [0.27, 0.33],
    title: /at the same clock/,
  },
  "a rank that copies over a bad link while the others wait: the link is the cause": {
    load: job("a", [...usual, {
      device: {
        kernels: [work(SYMBOLS.gemm, 0.6, 900), work(SYMBOLS.reduce, 0.08, 700)],
        copies: [{ kind: "host_to_device", share: 0.3, bytes: 4e7, bytes_per_second: 1.7e9 }],
        gauges: { pcie_link_generation: 1, pcie_link_width: 8, utilization_percent: 70 },
      },
    }]),
    class: "device",
    id: "hardware/link",
    stake: [0.25, 0.32],
  },
  "collectives that nothing hides": {
    load: job("a", [{}, {}, {}, {}]),
    ...collective,
    id: "collectives/exposed",
    stake: [0.33, 0.43],
  },
}, {
  "ranks that differ by a few percent": {
    load: job("a", [{ own: 0.9 }, { own: 0.9, slower: 1.02 }, { own: 0.91 }, { own: 0.9 }]),
    never: /straggler|uneven|exposed/,
  },
  "all ranks equally hot": {
    load: job("a", [1, 2, 3, 4].map(() => ({ own: 0.9, device: hot }))),
    never: /straggler|uneven/,
  },
});

/** A rank that is idle while the others wait for it: its process is late. */
function late(index: number): DeviceLoad {
  return rank(index, {
    device: {
      kernels: [work(SYMBOLS.gemm, 0.6, 900), work(SYMBOLS.reduce, 0.06, 540)],
      gauges: { utilization_percent: 70 },
    },
  });
}

Deno.test("hosts/straggler: a host whose processes are late, and of that its own cause", () => {
  const slow = job("c", [{}, {}]);
  const found = judgedAll([job("a", [{}, {}]), job("b", [{}, {}]), {
    ...slow,
    devices: [late(0), late(1)],
  }]);
  assertFirst(found, {
    ...collective,
    id: "hosts/straggler",
    stake: [0.27, 0.36],
    title: /its processes are late/,
  });
  const neighbours = judgedAll([job("a", [{}, {}]), job("b", [{}, {}]), {
    ...slow,
    devices: [late(0), late(1)],
    host: { cpus: 192, used: 0.97, stalled: { "cpu some": 0.6 } },
  }]);
  assert.deepEqual(idsOf(neighbours), ["host/neighbours"]);
});

const hosts = ["a", "b", "c", "d"];

Deno.test("hosts/straggler: the host with the short collectives, and why", () => {
  const found = judgedAll(
    hosts.map((name) =>
      job(name, name === "c" ? [1, 2].map(() => ({ slower: 1.5, device: hot })) : [{}, {}])
    ),
  );
  assertFirst(found, {
    ...collective,
    id: "hosts/straggler",
    stake: [0.27, 0.33],
    title: /host `c` is slow.*hw_thermal_slowdown/,
  });
  assert.deepEqual(
    idsOf(found),
    ["hosts/straggler"],
    "the others' communication is its consequence",
  );
});

Deno.test("hosts/uneven_work: the host with more of the same kernels", () => {
  const found = judgedAll(
    hosts.map((name) => job(name, name === "b" ? [{ more: 1.5 }, { more: 1.5 }] : [{}, {}])),
  );
  assertFirst(found, { ...collective, id: "hosts/uneven_work", stake: [0.27, 0.33] });
});

Deno.test("not hosts/: replicas of one model that communicate within themselves", () => {
  const replicas = hosts.map((name, at) =>
    job(name, [{ own: 0.5 + 0.1 * at }, { own: 0.5 + 0.1 * at }])
  );
  const busier = replicas.map((load, at): Load => ({
    ...load,
    devices: load.devices!.map((device) => ({
      ...device,
      kernels: device.kernels!.map((kernel) => ({ ...kernel, seconds: kernel.seconds / (1 + at) })),
    })),
  }));
  assert.deepEqual(judgedAll(busier).findings.filter(({ id }) => /^hosts/.test(id)), []);
});

Deno.test("not collectives/: the straggler by its copies is told under the link that is the cause", () => {
  const found = judged(job("a", [...usual, {
    device: {
      kernels: [work(SYMBOLS.gemm, 0.6, 900), work(SYMBOLS.reduce, 0.08, 700)],
      copies: [{ kind: "host_to_device", share: 0.3, bytes: 4e7, bytes_per_second: 1.7e9 }],
      gauges: { pcie_link_generation: 1, pcie_link_width: 8, utilization_percent: 70 },
    },
  }]));
  assert.deepEqual(idsOf(found), ["hardware/link"]);
  const straggler = found.findings.find(({ id }) => id === "collectives/straggler");
  assert.match(straggler!.title, /device 3 .* its copies take/);
});
