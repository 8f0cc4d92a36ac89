/** Version of the hosted API, from its `deno.json`. */

import config from "./deno.json" with { type: "json" };

/** Version of the hosted API. */
export const VERSION: string = config.version;
