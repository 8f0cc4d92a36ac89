/** The Prometheus endpoints that a run reads. */

import type { KeySource } from "../base/key.ts";
import type { Detection } from "./detect.ts";

/** A Prometheus endpoint. */
export interface Target {
  url: string;
  /** Whether it is assumed to belong to the workload. */
  own: boolean;
  /** Whether the user named it: then it is read whosoever it is. */
  named?: boolean;
  /** Source of its key. */
  key?: KeySource;
  /** What a read does to it. */
  effect?: string;
}

/** The endpoints that the user named, by a URL and by a port of this machine. */
export interface NamedMetrics {
  metricsUrl?: string;
  metricsPort?: number;
  /** File with the key of the endpoint at the URL, or else of the engine. */
  keyFile?: string;
}

/** The endpoints that the user named, or else those that the engine's command names. */
export function targets(
  { metricsUrl, metricsPort, keyFile }: NamedMetrics,
  { urls, key: found, effect }: Pick<Detection, "urls" | "key" | "effect">,
): Target[] {
  const given = keyFile ? { key: { file: keyFile } } : undefined;
  const key = (metricsUrl === undefined && given?.key) || found;
  const named = metricsPort !== undefined && { named: true };
  const engine = urls.map((url): Target => ({
    url,
    own: true,
    ...named,
    ...(key && { key }),
    ...(effect !== undefined && { effect }),
  }));
  if (metricsUrl === undefined) return engine;
  const { origin } = new URL(metricsUrl);
  const url = {
    ...engine.find(({ url }) => new URL(url).origin === origin),
    url: metricsUrl,
    own: isHere(metricsUrl),
    named: true,
    ...given,
  };
  const others = metricsPort === undefined ? [] : engine;
  return [url, ...others.filter(({ url }) => url !== metricsUrl)];
}

function isHere(url: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}
