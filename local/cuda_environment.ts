/** What the CUDA driver and the library that it loads into the workload find in the environment. */

import type { Options } from "./options.ts";
import { segmentDirectories } from "./segment_directories.ts";
import { stateDirectory } from "./state.ts";

const LIBRARY = new URL("../ffi/build/libservice.so", import.meta.url);

/** How the workload's CUDA processes are captured. */
export interface CudaPlan {
  /** Variables for the workload; none where nothing is captured. */
  environment: Record<string, string>;
  /** Where its processes leave what they measure. */
  directories: string[];
  /** Another tool that the user has named to the driver, and that ours loads. */
  next?: string;
  /** Why nothing is captured. */
  why?: string;
}

/** What {@linkcode planCuda} has to know of a run. */
export interface CudaPlanOptions extends Pick<Options, "cudaGraphTrace"> {
  id: string;
  env: Readonly<Record<string, string>>;
  /** The library; another one for tests. */
  library?: URL;
}

/** What a run sets so that the CUDA driver loads our library. */
export function planCuda(options: CudaPlanOptions): CudaPlan {
  const { id, env, cudaGraphTrace, library = LIBRARY } = options;
  const path = library.protocol === "file:" ? decodeURIComponent(library.pathname) : "";
  if (!isFile(path)) {
    const why = path === "" ? "not part of this package" : "not built: deno task native";
    return { environment: {}, directories: [], why: `the injected library is ${why}` };
  }
  const directories = segmentDirectories(id, stateDirectory(env));
  const named = env.CUDA_INJECTION64_PATH ?? "";
  const next = ["", "none", path].includes(named) ? undefined : named;
  return {
    directories,
    next,
    environment: {
      CUDA_INJECTION64_PATH: path,
      SERVICE_SEGMENTS: directories.join(":"),
      SERVICE_CUDA_GRAPH_TRACE: cudaGraphTrace,
      // Also where there is none: a run within a run must not hand down its own.
      SERVICE_CUDA_NEXT: next ?? "",
    },
  };
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
