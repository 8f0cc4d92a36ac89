/**
 * Server for the benchmark of the local endpoint, over a window that changes once a second as in a
 * run. `/plain` serves the same bytes without any work: the limit of the platform. The argument is the
 * count of series. Prints its URL and the size of the payload in bytes.
 */

import { encode } from "@service/core";
import { createEndpoint } from "../../local/serve/endpoint.ts";
import { localSignals } from "../../local/serve/signals.ts";
import { sampleWindow } from "./samples.ts";

const total = sampleWindow(Number(Deno.args[0]));
const options = {
  total,
  windows: {
    read: () => Promise.reject(new Error("no span is read")),
    steps() {
      throw new Error("no steps are read");
    },
  },
  instance: {
    instance_id: "0123456789ab",
    profiler_version: "0.0.0",
    start_ns: 0n,
    tags: {},
    attributes: {},
  },
  context: { "instance.id": "0123456789ab" },
  version: "0.0.0",
  host: "127.0.0.1",
  now_ns: () => total.to_ns,
  ready: Promise.resolve(),
};
const endpoint = createEndpoint(options);
const plain = new TextEncoder().encode(encode(localSignals(options)));
setInterval(() => total.to_ns += 1_000_000_000n, 1_000);
Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port} ${plain.length}`),
}, (request) => request.url.endsWith("/plain") ? new Response(plain) : endpoint(request));
