/** What a process keeps of instances from one upload to the next; each part has its bound. */

import { UploadReader } from "../format/fast_upload.ts";
import { Dictionaries } from "./dictionaries.ts";
import { OpenMinutes } from "./open_minutes.ts";

/** What a process keeps of instances: all of it can be made again from their database. */
export interface Memory {
  /** Texts of the series that came last. */
  uploads: UploadReader;
  /** The dictionaries that windows are packed by. */
  dictionaries: Dictionaries;
  /** Merges of the windows of minutes that are not over. */
  minutes: OpenMinutes;
}

/** A memory of nothing yet. */
export function createMemory(): Memory {
  const dictionaries = new Dictionaries();
  return { uploads: new UploadReader(), dictionaries, minutes: new OpenMinutes(dictionaries) };
}
