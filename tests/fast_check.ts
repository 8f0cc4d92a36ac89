/**
 * `fast-check` for all property tests: each run has fresh seeds, and a failure says how to repeat it. The
 * import map gives this file to all that import "fast-check".
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
