/** The memory of a process: instances between two uploads, each part with a bound. */

import { Dictionaries } from "./dictionaries.ts";
import { OpenMinutes } from "./open_minutes.ts";

/** The memory of instances; all of it can be restored from their database. */
export interface Memory {
  /** The dictionaries that pack windows. */
  dictionaries: Dictionaries;
  /** Merged windows of minutes that are not over. */
  minutes: OpenMinutes;
}

/** An empty memory. */
export function createMemory(): Memory {
  const dictionaries = new Dictionaries();
  return { dictionaries, minutes: new OpenMinutes(dictionaries) };
}
