/** The poller's scenarios under the compiler's sanitizers. */

import { missingSanitizer } from "../cuda/build.ts";
import { testUnless } from "../../skipping.ts";
import { SCENARIOS } from "./scenarios.ts";

for (const sanitizer of ["address,undefined", "thread"] as const) {
  const test = testUnless(await missingSanitizer(sanitizer));
  test(`the poller holds in all scenarios under -fsanitize=${sanitizer}`, async () => {
    await Promise.all(Object.values(SCENARIOS).map((scenario) => scenario({ sanitizer })));
  });
}
