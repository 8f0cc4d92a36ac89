/** The local `/signals/windows`: windows of the run as a stream in the packed format. */

import {
  absorb,
  emptyWindow,
  type Interval,
  type Selection,
  type SpanWindow,
  type Window,
} from "@service/core";
import { overlap } from "@service/core/gaps";
import {
  type InstanceHead,
  PACKED_TYPE,
  type PackedWindow,
  streamWindows,
  WindowPacker,
} from "@service/core/packed";
import { refuse } from "@service/core/problem";
import { optional, selectionParameters, step } from "@service/core/query";
import { selectIn } from "@service/core/selection";
import { listedInstance } from "../base/instance.ts";
import { type Route, route } from "./route.ts";
import { spanOf, spanParameters, type WindowSource } from "./windows.ts";

/** The run and its windows. */
export interface WindowStreamOptions {
  instance: InstanceHead;
  /** Everything since the instance start. */
  total: Window;
  windows: WindowSource;
  now_ns: () => bigint;
  /** Brings `total` and `windows` up to now where that takes milliseconds. */
  refresh?: () => Promise<void> | undefined;
}

/** Most windows of one answer. */
const MAX_STEPS = 10_000n;

/** The route of `/signals/windows`: the merge over a span, or one window for each step of it. */
export function windowStreamRoute(options: WindowStreamOptions): Route {
  const { total, windows, now_ns, refresh } = options;
  return route({
    method: "GET",
    path: "/signals/windows",
    query: {
      ...selectionParameters,
      ...spanParameters,
      step: optional(
        step,
        "Seconds. Windows end at multiples of it, and the last one at the end of the span. " +
          "Default: one window.",
      ),
    },
    async handle({ query }) {
      await refresh?.();
      const { step: step_ns, ...selection } = query;
      const whole = { from_ns: total.from_ns, to_ns: total.to_ns };
      const span = spanOf(query, { ...total, now_ns: now_ns() }) ?? whole;
      const isWhole = span.from_ns <= total.from_ns && total.to_ns <= span.to_ns;
      if (step_ns !== undefined) {
        expectFewSteps(overlap(span, whole), step_ns);
        const steps = windows.steps({ ...span, step_ns }, selection);
        return { type: PACKED_TYPE, stream: streamOf(options, { readings: steps, selection }) };
      }
      const reading = isWhole ? copyOf(total) : await windows.read(span, selection);
      return { type: PACKED_TYPE, stream: streamOf(options, { readings: [reading], selection }) };
    },
  });
}

function expectFewSteps({ from_ns, to_ns }: Interval, step_ns: bigint): void {
  if ((to_ns - from_ns) / step_ns <= MAX_STEPS) return;
  const message = `must give at most ${MAX_STEPS} windows in the span`;
  throw refuse(400, `Cannot read windows: step ${message}`, [{ parameter: "step", message }]);
}

/** All of a window that changes while the answer is sent. */
function copyOf(total: Window): SpanWindow {
  const window = emptyWindow(total.from_ns);
  absorb(window, total);
  return { window, payload_ns: total.to_ns, gaps: [] };
}

function streamOf(
  { instance, total }: WindowStreamOptions,
  { readings, selection }: {
    readings: Iterable<SpanWindow> | AsyncIterable<SpanWindow>;
    selection: Selection;
  },
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  async function* packed(): AsyncGenerator<PackedWindow> {
    const packer = new WindowPacker(instance);
    for await (const { window, payload_ns, gaps } of readings) {
      selectIn(window, selection);
      const members = { instance: await listedInstance(instance, total.to_ns), payload_ns, gaps };
      yield await packer.pack(window, { members });
    }
  }
  return streamWindows(packed());
}
