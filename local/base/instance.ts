/** The instance of a run as it is listed. */

import { type Instance, tsFromNs } from "@service/core";
import type { InstanceHead } from "@service/core/packed";
import { resourceIdentity } from "@service/core/resource_id";

/** The instance in a list, whose newest window ends at `last_ns`. */
export async function listedInstance(
  { instance_id, tags, attributes, start_ns }: InstanceHead,
  last_ns: bigint,
): Promise<Instance> {
  const identity = new TextEncoder().encode(resourceIdentity(tags));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", identity));
  return {
    instance_id,
    resource_id: hash.toHex().slice(0, 16),
    tags,
    attributes,
    first_seen_ts: tsFromNs(start_ns),
    last_seen_ts: tsFromNs(last_ns),
  };
}
