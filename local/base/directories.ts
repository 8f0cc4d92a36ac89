/** Directories of this user that the profiler writes to. */

/**
 * The state directory, for run files, spools and last snapshots: `$SERVICE_STATE_DIR`, else
 * `$XDG_STATE_HOME/service`, or its default.
 */
export function stateDirectory(env: Readonly<Record<string, string>>): string {
  const { SERVICE_STATE_DIR, XDG_STATE_HOME, HOME, TMPDIR = "/tmp" } = env;
  if (SERVICE_STATE_DIR?.startsWith("/")) return SERVICE_STATE_DIR;
  if (SERVICE_STATE_DIR) return `${Deno.cwd()}/${SERVICE_STATE_DIR}`;
  if (XDG_STATE_HOME?.startsWith("/")) return `${XDG_STATE_HOME}/service`;
  return HOME ? `${HOME}/.local/state/service` : `${TMPDIR}/service`;
}

/** The directories that an instance's segments may lie in, the fastest first. */
export function segmentDirectories(id: string, stateDirectory: string): string[] {
  return [`/dev/shm/service-${Deno.uid()}/${id}`, `${stateDirectory}/segments/${id}`];
}

/** The directories that programs may be unpacked into, the best first. */
export function programDirectories(env: Readonly<Record<string, string>>): string[] {
  const { XDG_CACHE_HOME, HOME, TMPDIR = "/tmp" } = env;
  const caches = XDG_CACHE_HOME?.startsWith("/") ? XDG_CACHE_HOME : HOME && `${HOME}/.cache`;
  return [
    ...(caches ? [`${caches}/service`] : []),
    `${stateDirectory(env)}/native`,
    `${TMPDIR}/service-${Deno.uid()}`,
  ];
}

/** Whether a list of paths can hold this one: there, `:` ends a path. */
export function isListable(path: string): boolean {
  return !path.includes(":");
}
