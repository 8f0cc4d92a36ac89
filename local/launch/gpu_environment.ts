/** What the CUDA driver and the library that it loads into the workload find in the environment. */

import type { Options } from "./options.ts";
import { isTellable, segmentDirectories } from "../sources/activity/directories.ts";
import { stateDirectory } from "../base/state.ts";

/** How the workload's CUDA processes are captured. */
export interface CudaPlan {
  /** The native library, which the driver is to load into them. */
  library: string;
  /** Variables for the workload. */
  environment: Record<string, string>;
  /** Where its processes leave what they measure. */
  directories: string[];
  /** Another tool that the user has named to the driver, and that ours loads. */
  next?: string;
}

/** What {@linkcode planCuda} has to know of a run. */
export interface CudaPlanOptions extends Pick<Options, "cudaGraphTrace"> {
  id: string;
  env: Readonly<Record<string, string>>;
  /** Path of the native library. */
  library: string;
}

/** What a run sets so that the CUDA driver loads our library. */
export function planCuda(options: CudaPlanOptions): CudaPlan {
  const { id, env, cudaGraphTrace, library } = options;
  const directories = segmentDirectories(id, stateDirectory(env));
  const named = env.CUDA_INJECTION64_PATH ?? "";
  const next = ["", "none", library].includes(named) ? undefined : named;
  return {
    library,
    directories,
    next,
    environment: {
      CUDA_INJECTION64_PATH: library,
      SERVICE_SEGMENTS: directories.filter(isTellable).join(":"),
      SERVICE_CUDA_GRAPH_TRACE: cudaGraphTrace,
      // Also where there is none: a run within a run must not hand down its own.
      SERVICE_CUDA_NEXT: next ?? "",
    },
  };
}
