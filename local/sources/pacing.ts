/** Pacing: long work yields to the event loop, so that HTTP requests meanwhile are answered soon. */

import { yieldToEventLoop } from "@service/core/yield";

/** How long work may hold the event loop. */
const LIMIT_MS = 2;

/** Called between pieces of work: yields to the event loop if it was held for too long. */
export type Pace = () => Promise<void> | void;

/** The pace of work that starts now. */
export function createPace(limit_ms = LIMIT_MS): Pace {
  let resumed_ms = performance.now();
  return () => {
    if (performance.now() - resumed_ms < limit_ms) return;
    return yieldToEventLoop().then(() => {
      resumed_ms = performance.now();
    });
  };
}
