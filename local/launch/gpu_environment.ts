/** What the CUDA driver and the library that it loads into the workload find in the environment. */

import { isListable, segmentDirectories, stateDirectory } from "../base/directories.ts";
import type { CudaPlan } from "../plan.ts";
import type { Options } from "./options.ts";

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
      SERVICE_SEGMENTS: directories.filter(isListable).join(":"),
      SERVICE_CUDA_GRAPH_TRACE: cudaGraphTrace,
      // Also where there is none: a run within a run must not hand down its own.
      SERVICE_CUDA_NEXT: next ?? "",
    },
  };
}
