/** The instance whose windows the tests of this room pack. */

import type { InstanceHead } from "../mod.ts";

/** An instance without tags, which starts at 0. */
export const INSTANCE: InstanceHead = {
  instance_id: "0123456789ab",
  profiler_version: "0.1.0",
  start_ns: 0n,
  tags: {},
  attributes: {},
};
