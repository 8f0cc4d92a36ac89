/** The last snapshot of a run, which outlives it. */

import { removeOldest, writeWhole } from "../base/files.ts";

/** Where a last snapshot goes. */
export interface SnapshotFileOptions {
  directory: string;
  instance_id: string;
  /** The file to write instead, from `SERVICE_SNAPSHOT_FILE`. */
  file?: string;
}

/** Last snapshots that are kept. */
const KEPT = { files: 20, names: /^[0-9a-f]{12}\.json$/ };

/** Writes the last payload of a run, and removes the oldest of earlier runs. */
export async function saveSnapshot(text: string, options: SnapshotFileOptions): Promise<void> {
  const { directory, instance_id, file } = options;
  if (file !== undefined) return await writeWhole(file, text);
  await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
  await writeWhole(`${directory}/${instance_id}.json`, text);
  await removeOldest(directory, KEPT);
}
