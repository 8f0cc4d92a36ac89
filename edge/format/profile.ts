/** The format of profiles. */

import type { FrameSum, ProfileSeries } from "@service/core";
import { frameNames } from "@service/core/series";
import { detached, NotCanonical, type TextReader } from "./_text_reader.ts";
import { readSum } from "./_values.ts";
import { sortedByIndex } from "./columns.ts";
import type { KindFormat, RememberedNames } from "./kind.ts";

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
  read(reader, { name, tags, updated_ns }, remembered) {
    reader.expect('"frames":');
    return { name, type: "profile", tags, updated_ns, frames: readFrames(reader, remembered) };
  },
};

const NAMES = /\[(?:"(?:[^"\\]|\\.)*",?)*\]/y;
const readNatural = (reader: TextReader): number => reader.natural();

function readFrames(reader: TextReader, remembered: RememberedNames): Map<string, FrameSum> {
  reader.expect('{"names":');
  if (!remembered.names || !reader.skipIf(remembered.names.text)) {
    const text = reader.match(NAMES);
    remembered.names = { text: detached(text), list: frameNames.check(JSON.parse(text)) };
  }
  const { list } = remembered.names;
  reader.expect(',"values":');
  const values = reader.list(readSum, list.length);
  reader.expect(',"samples":');
  const samples = reader.list(readNatural, list.length);
  reader.expect("}");
  const frames = new Map<string, FrameSum>();
  list.forEach((name, i) => frames.set(name, { value: values[i]!, samples: samples[i]! }));
  const isComplete = frames.size === values.length && frames.size === samples.length;
  if (!isComplete || frames.size !== list.length) throw new NotCanonical();
  return frames;
}
