/** The hosted API as a program for tests that knows a schema version of a later program. */

import { serve } from "../serve.ts";
import { readSettings } from "../settings.ts";
import { LATER } from "./later_migrations.ts";

// What is done each minute is done each 60 ms.
if (Deno.env.get("TEST_FAST_MINUTES")) {
  const { setInterval } = globalThis;
  const faster = (work: () => void, ms: number) => setInterval(work, ms === 60_000 ? 60 : ms);
  globalThis.setInterval = faster as typeof setInterval;
}
const migrations = LATER.slice(0, Number(Deno.env.get("TEST_SCHEMA_VERSION")));
Deno.exit(await serve(readSettings(Deno.env), { migrations }));
