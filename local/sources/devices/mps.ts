/** MPS, NVIDIA's service by which processes compute on a device at the same time. */

import type { DeviceEnvironment } from "./visible.ts";

/** Where its daemon has its pipes, unless the environment names another folder. */
const PIPES = "/tmp/nvidia-mps";

/** Whether processes with `env` share devices through MPS: its daemon has a pipe for them. */
export function mpsMode({ CUDA_MPS_PIPE_DIRECTORY }: DeviceEnvironment): "enabled" | "disabled" {
  try {
    Deno.lstatSync(`${CUDA_MPS_PIPE_DIRECTORY || PIPES}/control`);
    return "enabled";
  } catch {
    return "disabled";
  }
}
