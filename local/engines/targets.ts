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
}

/** The endpoints that the user named, by a URL and by a port of this machine. */
export interface NamedMetrics {
  metricsUrl?: string;
  metricsPort?: number;
  /** File with the key of the endpoint at the URL, or else of the engine. */
  keyFile?: string;
}

/** The endpoints that the user named, or else the one that the engine's command names. */
export function targets(
  { metricsUrl, metricsPort, keyFile }: NamedMetrics,
  { url, key: found }: Pick<Detection, "url" | "key">,
): Target[] {
  const endpoints: Target[] = [];
  const given = keyFile ? { key: { file: keyFile } } : undefined;
  const key = (metricsUrl === undefined && given?.key) || found;
  const named = metricsPort !== undefined && { named: true };
  const engine = url === undefined ? undefined : { url, own: true, ...named, ...(key && { key }) };
  if (metricsUrl !== undefined) {
    const isEngine = engine && new URL(engine.url).origin === new URL(metricsUrl).origin;
    endpoints.push({
      ...(isEngine && engine),
      url: metricsUrl,
      own: isHere(metricsUrl),
      named: true,
      ...given,
    });
  }
  if (engine && (metricsUrl === undefined || metricsPort !== undefined)) endpoints.push(engine);
  return endpoints.filter(({ url }, i) => endpoints.findIndex((other) => other.url === url) === i);
}

function isHere(url: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}
