/** Pauses in long work, so that whoever asks over HTTP meanwhile is answered soon. */

/** How long work may hold the event loop. */
const LIMIT_MS = 2;

/** Paces a piece of work: each call gives way to the event loop where the last pause is too long ago. */
export function createPauses(limit_ms = LIMIT_MS): () => Promise<void> | void {
  let since = performance.now();
  return () => {
    if (performance.now() - since < limit_ms) return;
    // Not setImmediate: while that goes round, requests were seen to wait a tenth of a second.
    return new Promise((resolve) =>
      setTimeout(() => {
        since = performance.now();
        resolve();
      }, 0)
    );
  };
}
