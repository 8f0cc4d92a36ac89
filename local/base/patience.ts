/** Patience: waiting that ends. */

/** The result of `work`, or `undefined` after `patience_ms`; then `work` goes on alone. */
export async function waitFor<T>(work: Promise<T>, patience_ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), patience_ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
