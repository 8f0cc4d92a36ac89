/** The packed format of profiles. */

import type { ProfileSeries } from "../series/profile.ts";
import { DamagedError } from "./error.ts";
import type { KindFormat } from "./kind.ts";
import { sortedByIndex } from "./order.ts";

/** The format of profiles: which frames, then their values, then their samples. */
export const profile: KindFormat<ProfileSeries> = {
  type: "profile",
  blank: ({ name, tags }, updated_ns) => ({
    name,
    type: "profile",
    tags,
    updated_ns,
    frames: new Map(),
  }),
  columns: [{
    write(out, series, frames) {
      const [indexes, sums] = sortedByIndex(
        Array.from(series.frames.keys(), (name) => frames.indexOfFrame(name)),
        [...series.frames.values()],
      );
      out.ascending(indexes);
      for (const { value } of sums) out.value(value);
      for (const { samples } of sums) out.value(samples);
    },
    read(input, { frames }, { frames: known }) {
      const { names, max } = known;
      const indexes = input.ascending(names.length, Math.min(max, known.room));
      known.room -= indexes.length;
      for (const index of indexes) frames.set(names[index]!, { value: 0, samples: 0 });
      if (frames.size < indexes.length) {
        throw new DamagedError("the frames of a profile must differ");
      }
      for (const frame of frames.values()) frame.value = input.sum();
      for (const frame of frames.values()) frame.samples = input.times();
    },
  }],
};
