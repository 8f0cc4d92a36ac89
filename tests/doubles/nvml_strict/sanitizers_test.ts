/** The poller under the sanitizers, over drivers of each generation that write all that they may. */

import assert from "node:assert/strict";
import { testUnless } from "../../skipping.ts";
import { missingSanitizer, type Sanitizer } from "../cuda/build.ts";
import { SANITIZER_ENVIRONMENT } from "../cuda/harness.ts";
import { faster, valuesOf } from "../nvml/harness.ts";
import { DRIVERS } from "./build.ts";
import { assertFair, openReferee } from "./harness.ts";

/** Troubles of all kinds, and their end. */
const TROUBLES = [
  "xid 0 31\nxid 0 79\nmig 1 9 0 9856 16 H100 MIG 1g.10gb\nmig 1 2 0 40192 60 H100 MIG 3g.40gb",
  "lost 2\nfail 0 nvmlDeviceGetFieldValues 999 2\nfail 0 nvmlGpmSampleGet 19 1\nset 0 power 999999",
  "down 9",
  "up\nwell 2\nunmig 1\nmig 1 5 0 9856 16 H100 MIG 1g.10gb",
];

for (const sanitizer of ["address,undefined", "thread"] satisfies Sanitizer[]) {
  const test = testUnless(await missingSanitizer(sanitizer));
  test(
    `the poller holds over the strict double under -fsanitize=${sanitizer}`,
    async () => {
      await Promise.all(DRIVERS.map(async (driver) => {
        await using referee = await openReferee(
          "device h100 0000:1b:00.0\ndevice h100 0000:2b:00.0\ndevice b200 0000:3b:00.0",
          { driver, sanitizer },
        );
        const poller = await referee.poll({ ...SANITIZER_ENVIRONMENT, ...faster(10) });
        const beat = async () => {
          const before = await poller.until(() => true);
          const newest = (values: Record<string, number>) => Math.max(0, ...Object.values(values));
          await poller.until((published) =>
            published.state === "interrupted" ||
            newest(valuesOf(published, "polled")) > newest(valuesOf(before, "polled"))
          );
        };
        await beat();
        for (const trouble of TROUBLES) {
          await referee.say(trouble);
          await beat();
          await beat();
        }
        await poller.until(({ state }) => state === "capturing");
        await beat();
        const { status, stderr } = await poller.stop();
        assert.deepEqual([status.code, stderr], [0, ""]);
        assertFair(await referee.ledger());
      }));
    },
  );
}
