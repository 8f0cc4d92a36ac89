/**
 * Property tests with fast-check: each run has a new seed, and a failure prints how to repeat it.
 * The import map resolves "fast-check" to this file.
 */

import fc from "npm:fast-check@4.10.2";

const seed = Deno.env.get("FC_SEED");

fc.configureGlobal({
  ...(seed !== undefined && { seed: Number(seed) }),
  reporter(details) {
    if (!details.failed) return;
    const message = `${fc.defaultReportMessage(details)}\nRepeat it with FC_SEED=${details.seed}`;
    throw new Error(message, { cause: details.errorInstance });
  },
});

export default fc;
