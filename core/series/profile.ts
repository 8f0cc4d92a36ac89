/** Profiles: increases by frame. */

import { MAX_FRAMES, OTHER_FRAME } from "../limits.ts";
import { list, mapped, object, type Shape } from "../schema.ts";
import { ShapeError } from "../schema_error.ts";
import { addSums, type Quantity, quantity, type Sum } from "../sum.ts";
import { name, sum, times, value } from "../value_schema.ts";
import { type SeriesKind, type SeriesOf, uploaded } from "./kind.ts";

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
  stats: ({ frames }, top) => ({ frames: largestFirst(frames).slice(0, top) }),
  statsShape: object<ProfileStats>({
    frames: list(object<Frame>({ name, value, samples: times })),
  }),
};

/** Adds all but the `top` largest frames to the frame `(other)`, which is not counted. */
export function foldFrames(profile: ProfileSeries, top: number): void {
  const other = profile.frames.get(OTHER_FRAME);
  const named = new Map(profile.frames);
  named.delete(OTHER_FRAME);
  if (named.size <= top) return;
  const sorted = largestFirst(named);
  const frames = new Map(sorted.slice(0, top).map(({ name }) => [name, named.get(name)!]));
  let rest: FrameSum = other ?? { value: 0, samples: 0 };
  for (const { name } of sorted.slice(top)) {
    const { value, samples } = named.get(name)!;
    rest = { value: addSums(rest.value, value), samples: rest.samples + samples };
  }
  profile.frames = frames.set(OTHER_FRAME, rest);
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
