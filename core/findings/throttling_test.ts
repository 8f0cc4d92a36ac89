/** Throttling: the lost share of the clock, and what holds it down. */

import { testFindings } from "./testdata/judged.ts";
import { a100, training } from "./testdata/workloads.ts";

const device = { class: "device" } as const;

/** An A100 at a clock of 1,060 instead of 1,410 MHz: a quarter is lost. */
function slowed(reason: string, gauges: Record<string, number> = {}, held = 0.95) {
  return training({
    devices: [a100({
      throttled: { [reason]: held },
      gauges: { clock_sm_megahertz: 1060, ...gauges },
    })],
  });
}

testFindings({
  "a power limit below the default": {
    load: slowed("sw_power_cap", { power_management_limit_watts: 250, power_usage_watts: 250 }),
    ...device,
    id: "throttling/power_limit",
    stake: [0.2, 0.28],
    title: /250 W, where 400 W are the default/,
  },
  "a power brake": {
    load: slowed("hw_power_brake_slowdown"),
    ...device,
    id: "throttling/power_brake",
    stake: [0.2, 0.28],
  },
  "heat": {
    load: slowed("sw_thermal_slowdown", { temperature_celsius: 90 }),
    ...device,
    id: "throttling/heat",
    stake: [0.2, 0.28],
  },
  "a clock that never rises, and nothing holds it down": {
    load: training({
      devices: [a100({ throttled: { gpu_idle: 0 }, gauges: { clock_sm_megahertz: 1060 } })],
    }),
    ...device,
    id: "throttling/locked_clock",
    stake: [0.15, 0.28],
  },
  "a slowdown without a cause of its own": {
    load: slowed("hw_slowdown"),
    ...device,
    id: "throttling/hardware",
    stake: [0.2, 0.28],
  },
}, {
  "the default power limit": { load: slowed("sw_power_cap"), never: /throttling/ },
  "a low clock of a device that rests": {
    load: training({
      devices: [
        a100({ kernels: [], busy: 0.05, throttled: {}, gauges: { clock_sm_megahertz: 300 } }),
      ],
    }),
    never: /throttling/,
  },
  "a low clock, and its reasons are not measured": {
    load: training({
      devices: [a100({ throttled: undefined, gauges: { clock_sm_megahertz: 1060 } })],
    }),
    never: /throttling/,
  },
  "a few percent of the clock": {
    load: slowed("sw_thermal_slowdown", { clock_sm_megahertz: 1390 }),
    never: /throttling/,
  },
  "a reason that held for a moment": {
    load: slowed("hw_power_brake_slowdown", {}, 0.05),
    never: /throttling/,
  },
});
