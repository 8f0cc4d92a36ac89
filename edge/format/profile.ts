/** The format of profiles. */

import type { ProfileSeries } from "@service/core";
import { sortedByIndex } from "./columns.ts";
import type { KindFormat } from "./kind.ts";

/** The format of profiles: which frames, then their values, then their samples. */
export const profile: KindFormat<ProfileSeries> = {
  type: "profile",
  blank: ({ name, tags, updated_ns }) => ({
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
    read(input, { frames }, { frames: names }) {
      for (const index of input.ascending(names.length)) {
        frames.set(names[index]!, { value: 0, samples: 0 });
      }
      for (const sum of frames.values()) sum.value = input.value();
      for (const sum of frames.values()) sum.samples = input.value();
    },
  }],
};
