/** What scenarios look for in what the poller publishes. */

import { type Bench, type Published, valuesOf } from "./harness.ts";

/** UUID of the device with this number. */
export const gpu = (index: number) => `GPU-0000000${index}-0000-4000-8000-000000000000`;
/** UUID of a MIG device of the device with this number. */
export const mig = (index: number, number: number) =>
  `MIG-0000000${index}-0000-5000-8000-00000000000${number}`;

/** The first two devices. */
export const FIRST = gpu(0);
export const SECOND = gpu(1);

/** Value of a metric of the first device; `undefined`: not measured at present. */
export const first = (published: Published, metric: string) => valuesOf(published, metric)[FIRST];

/** Whether a device, the first one by default, has a value of the metric. */
export const isMeasured = (metric: string, uuid = FIRST) => (published: Published) =>
  valuesOf(published, metric)[uuid] !== undefined;

/** Refused metrics of the first device, with the reasons. */
export function refusals({ readings }: Published): Record<string, string> {
  const refused = readings.filter(({ name, tags }) =>
    name === "unsupported" && tags["device.uuid"] === FIRST
  );
  return Object.fromEntries(refused.map(({ tags }) => [tags.metric!, tags.reason!]));
}

/** Time for which the first device was throttled, in ns. */
export function throttled({ readings }: Published, reason: string): number {
  return readings.find(({ name, tags }) =>
    name === "gpu_throttled_nanoseconds" && tags["device.uuid"] === FIRST && tags.reason === reason
  )?.value ?? NaN;
}

/** Waits until each device that is polled was polled `times` times more. */
export async function polls(
  poller: Awaited<ReturnType<Bench["poll"]>>,
  times = 1,
): Promise<Published> {
  const polled = (published: Published) => first(published, "polled") ?? 0;
  let published = await poller.until((published) => polled(published) > 0);
  for (let i = 0; i < times; i++) {
    const before = polled(published);
    published = await poller.until((published) => polled(published) > before);
  }
  return published;
}

/** Lines of a script with what GPM measures. */
export const FAKE_GPM = `
  gpm * 2 61500000
  gpm * 3 40250000
  gpm * 5 33000000
  gpm * 10 71000001
  gpm * 11 0
  gpm * 12 4000000
  gpm * 13 1000000
  gpm * 20 1000000000
  gpm * 21 250000000
  gpm * 60 2000000000
  gpm * 61 4000000000
`;
