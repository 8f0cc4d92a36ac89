/** The memory of a process: instances between two uploads, each part with a bound. */

import { Blocks } from "./blocks.ts";
import { OpenMinutes } from "./open_minutes.ts";
import { Packers } from "./packers.ts";
import { Runs } from "./runs.ts";

/** The memory of instances; all of it can be restored from their database. */
export interface Memory {
  /** The blocks that windows name. */
  blocks: Blocks;
  /** The packers of windows that came as JSON. */
  packers: Packers;
  /** Windows of minutes that are not over. */
  minutes: OpenMinutes;
  /** Merges of stored windows that were read. */
  runs: Runs;
}

/** An empty memory; `onDamage` is called for each stored row that cannot be read. */
export function createMemory(onDamage?: (error: Error) => void): Memory {
  const blocks = new Blocks(onDamage);
  return {
    blocks,
    packers: new Packers(blocks),
    minutes: new OpenMinutes(blocks),
    runs: new Runs(),
  };
}
