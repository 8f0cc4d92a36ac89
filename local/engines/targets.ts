/** Which Prometheus endpoints a run reads. */

import type { KeySource } from "./key.ts";
import type { Launch } from "./detect.ts";
import type { Options } from "../launch/options.ts";

/** An endpoint. */
export interface Target {
  url: string;
  /** Whether the workload itself is taken to serve it. */
  own: boolean;
  /** Where the key is that it asks for. */
  key?: KeySource;
}

/** The endpoints that the user named, or else the one that the engine's command names. */
export function targets(
  { metricsUrl, metricsPort }: Pick<Options, "metricsUrl" | "metricsPort">,
  { url, key }: Pick<Launch, "url" | "key">,
): Target[] {
  const found: Target[] = [];
  const engine = url === undefined ? undefined : { url, own: true, ...(key && { key }) };
  if (metricsUrl !== undefined) {
    const isEngine = engine && new URL(engine.url).origin === new URL(metricsUrl).origin;
    found.push({ ...(isEngine && engine), url: metricsUrl, own: isHere(metricsUrl) });
  }
  if (engine && (metricsUrl === undefined || metricsPort !== undefined)) found.push(engine);
  return found.filter(({ url }, i) => found.findIndex((other) => other.url === url) === i);
}

function isHere(url: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}
