/** Reduced facts: what the text still needs of an instance after it was judged, where there are many. */

import type { Activity, InstanceFacts, KernelWork } from "../facts/mod.ts";

/** Kernels, graphs and waits of a device that keep their names. */
const NAMED = 20;
/** Processes of an instance. */
const PROCESSES = 10;
/** Errors of an instance. */
const ERRORS = 10;

/** The facts without courses and idle devices, and of long lists the first alone. Sums stay the same. */
export function reduced(facts: InstanceFacts): InstanceFacts {
  const worked = facts.devices.filter(({ activity }) => activity !== null);
  return {
    ...facts,
    courses: [],
    processes: facts.processes.slice(0, PROCESSES),
    errors: facts.errors.slice(0, ERRORS),
    devices: (worked.length > 0 ? worked : facts.devices).map((device) => ({
      ...device,
      activity: device.activity && reducedActivity(device.activity),
    })),
  };
}

function reducedActivity(activity: Activity): Activity {
  const { kernels, graphs, waits } = activity;
  return {
    ...activity,
    kernels: [...kernels.slice(0, NAMED), ...byCategory(kernels.slice(NAMED))],
    graphs: graphs.slice(0, NAMED),
    waits: waits.slice(0, NAMED),
  };
}

/** Kernels as one of each category. */
function byCategory(kernels: readonly KernelWork[]): KernelWork[] {
  const sums = new Map<string, KernelWork>();
  for (const { category, seconds, times } of kernels) {
    const known = sums.get(category);
    if (known) {
      known.seconds += seconds;
      known.times += times;
    } else {
      const name = `(other ${category})`;
      const rest = { library: null, data_types: [] };
      sums.set(category, { name, short: name, category, seconds, times, ...rest });
    }
  }
  return [...sums.values()];
}
