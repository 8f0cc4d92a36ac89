/** The executed engine: a workload that is not known by its command may become an engine by `exec`. */

import { readText } from "../base/files.ts";
import type { ProcFiles } from "../base/proc_files.ts";
import { environment } from "../base/proc_text.ts";
import { detect } from "../engines/detect.ts";
import { type Target, targets } from "../engines/targets.ts";
import { recordCaptureState } from "../sources/capture_state.ts";
import type { Source } from "../sources/source.ts";

/** The workload to look at. */
export interface ExecutedEngineOptions {
  /** The workload's first process. */
  pid: number;
  files: ProcFiles;
  /** The reason why its command names no endpoint. */
  reason: string;
  /** The source of an endpoint, whose key may be in `env`. */
  open(target: Target, env: Record<string, string>): Source;
}

/** A source of the engine that the process becomes; until then it says why there is none. */
export function createExecutedEngineSource(options: ExecutedEngineOptions): Source {
  const { pid, files, open } = options;
  let { reason } = options;
  let command: string | null = null;
  let engine: Source | undefined;

  function look(): void {
    const now = files.text(`${pid}/cmdline`);
    if (!now || now === command) return;
    command = now;
    const env = environment(files.text(`${pid}/environ`) ?? "");
    const words = now.replace(/\0$/, "").split("\0");
    const detection = detect(words, { env, readText, isRunning: true });
    if (detection.engine === undefined) return;
    reason = detection.reason ?? reason;
    const [target] = targets({}, detection);
    if (target) engine = open(target, env);
  }

  return {
    sample(recorder) {
      if (!engine) look();
      if (engine) return engine.sample(recorder);
      recordCaptureState(recorder, { capture: "engine_metrics", captured: false, reason });
    },
    hurry: () => engine?.hurry?.(),
    async settle() {
      await engine?.settle?.();
    },
  };
}
