/** The one way to give other work its turn. */

/**
 * Resolves when all that is ready has had its turn: requests too.
 *
 * Not `setImmediate`: in a loop of it, requests were seen to wait a tenth of a second.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
