/**
 * Consoles of engines as they were written: each failure is told once, with its traceback, and where
 * none failed nothing is told. Versions and dates: `tests/engines/README.md`.
 */

import assert from "node:assert/strict";
import type { ErrorEntry } from "@service/core";
import { createConsole } from "./console.ts";

/** The errors of a console: beginning of the message, and last line of the traceback. */
const ERRORS: Record<string, [message: string, last: RegExp][]> = {
  vllm_healthy: [],
  sglang_healthy: [],
  llama_server_load: [["srv    send_error: task id = 15353, error: request (12002 tokens)", /^$/]],
  vllm_port_taken: [["OSError: [Errno 98] Address already in use", /^OSError: .* in use$/]],
  vllm_wrong_model: [["huggingface_hub.errors.HFValidationError", /^huggingface_hub\.errors/]],
  vllm_worker_died_first_request: [
    ["Worker proc VllmWorker-0 died unexpectedly", /^$/],
    ["Dumping input data for V1 LLM engine", /^$/],
    ["Dumping scheduler output", /^$/],
    ["Dumping scheduler stats", /^$/],
    ["AsyncLLM output_handler failed.", /^vllm.*EngineDeadError/],
    ["EngineCore encountered a fatal error.", /^RuntimeError: cancelled$/],
  ],
  llama_server_badflag: [["error: invalid argument: --nope", /^$/]],
  llama_server_porttaken: [
    ["srv         start: couldn't bind HTTP server socket", /^$/],
    ["srv  llama_server: exiting due to HTTP server error", /^$/],
  ],
  llama_server_oom: [
    ["llama_init_from_model: failed to initialize the context: std::bad_alloc", /^$/],
    ["cmn  common_init_: failed to create context", /^$/],
    ["srv    load_model: failed to create_context", /^$/],
    ["srv  llama_server: exiting due to model loading error", /^$/],
  ],
  torchrun_fail_n: [
    ["RuntimeError: rank 1 diverged at step 20", /^RuntimeError: rank 1 diverged/],
    ["RuntimeError: [/__w/pytorch/", /^RuntimeError: .*Connection closed by peer/],
    ["failed (exitcode: 1) local_rank: 1 (pid: 7248)", /^={60}$/],
  ],
  vllm_worker_killed: [
    ["Worker proc VllmWorker-0 died unexpectedly", /^$/],
    ["EngineCore encountered a fatal error.", /^RuntimeError: Executor failed\.$/],
    ["AsyncLLM output_handler failed.", /^vllm.*EngineDeadError/],
    ["RuntimeError: Executor failed.", /^RuntimeError: Executor failed\.$/],
  ],
  vllm_fatal_unsupported_head_dim: [
    ["WorkerProc hit an exception.", /^RuntimeError: Unsupported CPU attention/],
    ["RuntimeError: Unsupported CPU attention", /^RuntimeError: Unsupported CPU attention/],
    ["Dumping input data for V1 LLM engine", /^$/],
    ["Dumping scheduler output", /^$/],
    ["Dumping scheduler stats", /^$/],
    ["EngineCore encountered a fatal error.", /^RuntimeError: Worker failed with error/],
    ["AsyncLLM output_handler failed.", /^vllm.*EngineDeadError/],
  ],
  sglang_no_libcuda: [["ImportError:", /CRITICAL: Could not load any common_ops/]],
  llama_server_wrongmodel: [
    ["gguf_init_from_file: failed to open GGUF file", /^$/],
    ["llama_model_load: error loading model", /^$/],
    ["llama_model_load_from_file_impl: failed to load model", /^$/],
    ["common_fit_params: encountered an error", /^$/],
    ["cmn  common_init_: failed to load model", /^$/],
    ["srv    load_model: failed to load model", /^$/],
    ["srv  llama_server: exiting due to model loading error", /^$/],
  ],
};

/** Distinct errors in the console of a file. */
function errorsIn(name: string): ErrorEntry[] {
  const errors = new Map<string, ErrorEntry>();
  const console = createConsole({
    report: (entry) => entry.level === "error" && errors.set(entry.message, entry),
    now_ns: () => 0n,
  });
  const bytes = Deno.readFileSync(new URL(`testdata/engines/${name}.log`, import.meta.url));
  console.write({ stream: 2, time_ns: 0n, bytes });
  console.end({ code: 0, signal: null }, 0n);
  return [...errors.values()];
}

for (const [name, expected] of Object.entries(ERRORS)) {
  Deno.test(`${name}: each failure is told with its traceback`, () => {
    const errors = errorsIn(name);
    for (const [message, last] of expected) {
      const found = errors.filter((error) => error.message.startsWith(message));
      assert.equal(
        found.length,
        1,
        `${message}: ${errors.map((error) => error.message.slice(0, 80)).join("\n")}`,
      );
      assert.match(found[0]!.exception.split("\n").at(-1)!, last, message);
    }
    assert.equal(errors.length, expected.length);
  });
}
