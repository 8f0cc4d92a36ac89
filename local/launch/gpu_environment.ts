/** Environment of the workload by which the CUDA driver loads our library into it. */

import { isListable, segmentDirectories, stateDirectory } from "../base/directories.ts";
import type { CudaPlan } from "../plan.ts";
import type { Options } from "./options.ts";

/** The parts of a run that decide how CUDA is captured. */
export interface CudaPlanOptions extends Pick<Options, "cudaGraphTrace"> {
  id: string;
  env: Readonly<Record<string, string>>;
  /** Path of the native library. */
  library: string;
}

/** The capture of CUDA in a run: the variables to set, and where the measurements will be. */
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
      // Set also if it is empty: a run within a run must not inherit the outer one's.
      SERVICE_CUDA_NEXT: next ?? "",
    },
  };
}
