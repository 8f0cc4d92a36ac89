/** Which Prometheus endpoints a run reads. */

import type { Launch } from "./launchers.ts";
import type { Options } from "./options.ts";

/** An endpoint. */
export interface Target {
  url: string;
  /** Whether the workload itself is taken to serve it. */
  own: boolean;
}

/** The endpoints that the user named, or else the one that the engine's command names. */
export function targets(
  { metricsUrl, metricsPort }: Pick<Options, "metricsUrl" | "metricsPort">,
  { url }: Pick<Launch, "url">,
): Target[] {
  const found: Target[] = [];
  if (metricsUrl !== undefined) found.push({ url: metricsUrl, own: isHere(metricsUrl) });
  if (url !== undefined && (metricsUrl === undefined || metricsPort !== undefined)) {
    found.push({ url, own: true });
  }
  return found.filter(({ url }, i) => found.findIndex((other) => other.url === url) === i);
}

function isHere(url: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}
