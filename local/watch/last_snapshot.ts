/** The last snapshot of a run, which outlives it. */

/** Where a last snapshot goes. */
export interface SnapshotFileOptions {
  directory: string;
  instance_id: string;
  /** The one file to write instead, from `SERVICE_SNAPSHOT_FILE`. */
  file?: string;
}

/** Last snapshots that are kept. */
const KEPT = 20;

/** Writes the last payload of a run, whole or not at all, and removes the oldest of earlier runs. */
export async function saveSnapshot(text: string, options: SnapshotFileOptions): Promise<void> {
  const { directory, instance_id, file = `${directory}/${instance_id}.json` } = options;
  if (options.file === undefined) {
    await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
  }
  await Deno.writeTextFile(`${file}.tmp`, text, { mode: 0o600 });
  await Deno.rename(`${file}.tmp`, file);
  if (options.file === undefined) await removeOldest(directory);
}

async function removeOldest(directory: string): Promise<void> {
  const snapshots: { path: string; time: number }[] = [];
  for await (const { name } of Deno.readDir(directory)) {
    if (!/^[0-9a-f]{12}\.json$/.test(name)) continue;
    const path = `${directory}/${name}`;
    snapshots.push({ path, time: (await Deno.stat(path)).mtime?.getTime() ?? 0 });
  }
  snapshots.sort((a, b) => b.time - a.time);
  for (const { path } of snapshots.slice(KEPT)) await Deno.remove(path);
}
