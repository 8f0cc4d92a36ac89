/** Profiles: increases by frame. */

import { MAX_FRAMES } from "../limits.ts";
import { list, mapped, object, type Shape } from "../schema.ts";
import { ShapeError } from "../schema_error.ts";
import { addSums, type Quantity, quantity, type Sum } from "../sum.ts";
import { name, sum, times, value } from "../value_schema.ts";
import { type SeriesKind, type SeriesOf, uploaded } from "./kind.ts";

/** The frame with the sum of all frames that a selection does not show. */
export const REST_FRAME = "(not shown)";

/** A profile's increase by frame. */
export interface ProfileSeries extends SeriesOf<"profile"> {
  /** By frame name. */
  frames: Map<string, FrameSum>;
}

/** A frame's increase, and its number of samples. */
export interface FrameSum {
  /** The increase, exact, in the profile's own unit. */
  value: Sum;
  /** Number of samples in it. */
  samples: number;
}

/** Cumulative values by frame, largest first. */
export interface ProfileStats {
  /** By value, largest first. */
  frames: Frame[];
}

/** One named share of a profile: its cumulative value and its number of samples. */
export interface Frame {
  /** Name of the frame, such as a kernel's symbol. */
  name: string;
  /** The increase, in the profile's own unit. */
  value: Quantity;
  /** Number of samples in it. */
  samples: number;
}

interface FramesBody {
  names: string[];
  values: Sum[];
  samples: number[];
}

const frames: Shape<Map<string, FrameSum>> = mapped(
  object<FramesBody>({
    names: list(name, { max: MAX_FRAMES + 1 }),
    values: list(sum, { max: MAX_FRAMES + 1 }),
    samples: list(times, { max: MAX_FRAMES + 1 }),
  }),
  ({ names, values, samples }) => {
    const frames = new Map<string, FrameSum>();
    for (const [field, { length }] of Object.entries({ values, samples })) {
      if (length !== names.length) {
        const rule = `must have one for each of ${names.length} names`;
        throw new ShapeError(field, `${rule}: got ${length}`);
      }
    }
    names.forEach((name, i) => frames.set(name, { value: values[i]!, samples: samples[i]! }));
    if (frames.size < names.length) throw new ShapeError("names", "must all differ");
    return frames;
  },
);

/** The kind `profile`: increases add up frame by frame. */
export const profile: SeriesKind<ProfileSeries, ProfileStats> = {
  absorb(ours, theirs) {
    for (const [name, frame] of theirs.frames) {
      const own = ours.frames.get(name);
      if (own) {
        own.value = addSums(own.value, frame.value);
        own.samples += frame.samples;
      } else ours.frames.set(name, { ...frame });
    }
  },
  copy: (series) => ({
    ...series,
    frames: new Map(Array.from(series.frames, ([name, frame]) => [name, { ...frame }])),
  }),
  shape: uploaded<ProfileSeries>("profile", { frames }),
  body({ frames }) {
    const sums = [...frames.values()];
    const body: FramesBody = {
      names: [...frames.keys()],
      values: sums.map(({ value }) => value),
      samples: sums.map(({ samples }) => samples),
    };
    return { frames: body };
  },
  stats: ({ frames }, top) => ({ frames: largestFirst(shownFrames(frames, top)) }),
  statsShape: object<ProfileStats>({
    frames: list(object<Frame>({ name, value, samples: times })),
  }),
};

/**
 * The `top` largest frames, and the sum of all others as the frame `(not shown)`, so that the sum of a
 * profile stays the same; all frames when `top` is absent.
 */
export function shownFrames(
  frames: ReadonlyMap<string, FrameSum>,
  top: number | undefined,
): ReadonlyMap<string, FrameSum> {
  const named = new Map(frames);
  named.delete(REST_FRAME);
  if (top === undefined || named.size <= top) return frames;
  const shown = largestFirst(named).slice(0, top);
  const kept = new Map(shown.map(({ name }) => [name, frames.get(name)!]));
  const rest: FrameSum = { value: 0, samples: 0 };
  for (const [name, { value, samples }] of frames) {
    if (kept.has(name)) continue;
    rest.value = addSums(rest.value, value);
    rest.samples += samples;
  }
  return kept.set(REST_FRAME, rest);
}

/** The frames, largest first. */
function largestFirst(frames: ReadonlyMap<string, FrameSum>): Frame[] {
  return Array.from(
    frames,
    ([name, { value, samples }]) => ({ name, value: quantity(value), samples }),
  ).sort(byValueAndName);
}

/** Compares without `===`: an integer may be a `bigint` on one side and a number on the other. */
function byValueAndName(a: Frame, b: Frame): number {
  if (a.value < b.value) return 1;
  if (a.value > b.value) return -1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
