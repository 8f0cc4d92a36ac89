/** The processor time of a run is that of its whole tree, as getrusage has it. */

import assert from "node:assert/strict";
import { testUnless } from "../skipping.ts";
import { measure, SHAPES } from "./cpu_shapes.ts";
import { missing } from "./supervisor.ts";

const test = testUnless(missing);

for (const [shape, text] of Object.entries(SHAPES)) {
  test(`processor time is within 1 % of getrusage: ${text}`, async () => {
    const { getrusage, document } = await measure(shape);
    assert(
      Math.abs(document - getrusage) <= 0.01 * getrusage,
      `${document} s in the document, ${getrusage} s in getrusage`,
    );
  });
}
