/** Serves the hosted API: `deno task edge`, and on Deno Deploy. */

import { serve } from "./serve.ts";
import { readSettings, type Settings } from "./settings.ts";

// This variable would override the address of the settings.
Deno.env.delete("DENO_SERVE_ADDRESS");
Deno.exit(await serve(settingsOrExit()));

function settingsOrExit(): Settings {
  try {
    return readSettings(Deno.env);
  } catch (error) {
    console.error((error as Error).message);
    Deno.exit(2);
  }
}
