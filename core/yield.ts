/** Yielding: the one function that lets other work run. */

/**
 * Resolves after all work that is ready has run, requests included.
 *
 * Not with `setImmediate`: in a loop of it, requests waited for a tenth of a second.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
