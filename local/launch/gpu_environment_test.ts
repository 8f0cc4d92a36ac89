/** The workload's environment makes the CUDA driver load our library. */

import assert from "node:assert/strict";
import { planCuda } from "./gpu_environment.ts";

const library = "/opt/service/libservice.so";
const options = { id: "0123456789ab", cudaGraphTrace: "node", library } as const;

Deno.test("the workload's environment has the library, the directories and the mode of graphs", () => {
  const { environment, directories, next } = planCuda({ ...options, env: { HOME: "/home/a" } });
  assert.deepEqual(directories, [
    `/dev/shm/service-${Deno.uid()}/0123456789ab`,
    "/home/a/.local/state/service/segments/0123456789ab",
  ]);
  assert.deepEqual(environment, {
    CUDA_INJECTION64_PATH: library,
    SERVICE_SEGMENTS: directories.join(":"),
    SERVICE_CUDA_GRAPH_TRACE: "node",
    SERVICE_CUDA_NEXT: "",
  });
  assert.equal(next, undefined);
});

Deno.test("a directory that a list cannot hold is left out", () => {
  const { environment, directories } = planCuda({ ...options, env: { HOME: "/home/a:b" } });
  assert.equal(environment.SERVICE_SEGMENTS, directories[0]);
});

Deno.test("another tool that the user has named is loaded after ours", () => {
  const named = (path: string) => planCuda({ ...options, env: { CUDA_INJECTION64_PATH: path } });
  assert.equal(named("/opt/tool.so").next, "/opt/tool.so");
  assert.equal(named("/opt/tool.so").environment.SERVICE_CUDA_NEXT, "/opt/tool.so");
  for (const none of ["", "none", library]) assert.equal(named(none).next, undefined);
});
