/** Levels and messages of log lines in the formats that engines document. */

import assert from "node:assert/strict";
import { createConsole } from "./console.ts";
import { parseLog } from "./levels.ts";
import { FORMATS } from "./log_formats.ts";

/** Lines in the formats that engines document, and what each is: level, message, process. */
const LINES: [line: string, ...expected: (string | undefined)[]][] = [
  // vLLM.
  [
    "ERROR 11-21 01:02:03 [core.py:123] EngineCore failed to start.",
    "error",
    "EngineCore failed to start.",
  ],
  [
    "(EngineCore_DP0 pid=123) ERROR 11-21 01:02:03 [core.py:708] out of blocks",
    "error",
    "out of blocks",
    "123",
  ],
  [
    "(APIServer pid=7) WARNING 11-21 01:02:03.123 [config.py:1] no quantization",
    "warning",
    "no quantization",
    "7",
  ],
  ["(EngineCore_DP0 pid=123) INFO 11-21 01:02:03 [core.py:77] 0 errors so far"],
  // SGLang.
  [
    "[2026-11-21 01:02:03 TP0] Received sigquit from a child process. It usually means the child failed.",
    "error",
    "Received sigquit from a child process. It usually means the child failed.",
  ],
  ["[2026-11-21 01:02:03] server_args=ServerArgs(log_level='error', crash_on_warning=False)"],
  ["[2026-11-21 01:02:03 TP1] Prefill batch. #new-seq: 1, #errors: 0"],
  // TensorRT-LLM.
  ["[TRT-LLM] [E] Failed to load the engine", "error", "Failed to load the engine"],
  [
    "[11/21/2026-01:02:03] [TRT-LLM] [W] Logger level already set",
    "warning",
    "Logger level already set",
  ],
  ["[11/21/2026-01:02:03] [TRT-LLM] [RANK 0] [E] no memory", "error", "no memory"],
  [
    "[TensorRT-LLM][ERROR] Encountered an error in forward function",
    "error",
    "Encountered an error in forward function",
  ],
  ["[TensorRT-LLM][ERROR] [TensorRT-LLM][ERROR] Assertion failed", "error", "Assertion failed"],
  ["[11/21/2026-01:02:03] [TRT-LLM] [I] warnings: 0"],
  // uvicorn, gunicorn, Flask, DeepSpeed, loguru, nginx, tracing.
  ["ERROR:    [Errno 98] address already in use", "error", "[Errno 98] address already in use"],
  ['INFO:     127.0.0.1:1 - "GET /error HTTP/1.1" 500 Internal Server Error'],
  [
    "[2026-11-21 01:02:03 +0000] [123] [CRITICAL] WORKER TIMEOUT (pid:12)",
    "error",
    "WORKER TIMEOUT (pid:12)",
  ],
  ["[2026-11-21 01:02:03,123] ERROR in app: Exception on / [GET]", "error", "Exception on / [GET]"],
  ["[2026-11-21 01:02:03,123] [WARNING] [real_accelerator.py:162:get] no GPU", "warning", "no GPU"],
  [
    "2026-11-21 01:02:03.123 | ERROR    | app.main:run:12 - no route",
    "error",
    "app.main:run:12 - no route",
  ],
  ["2026/11/21 01:02:03 [error] 12#12: *1 connect() failed", "error", "12#12: *1 connect() failed"],
  ["2026-11-21T01:02:03.123456Z  WARN router: slow shard", "warning", "router: slow shard"],
  ['time="2026-11-21T01:02:03Z" level=error msg="no \\"space\\"" n=1', "error", 'no "space"'],
  ["2026-11-21 01:02:03 [error    ] request failed [app]", "error", "request failed [app]"],
  ["2026-11-21 01:02:03 [warning  ] slow", "warning", "slow"],
  ["2026-11-21 01:02:03 [info     ] no error"],
  // llama.cpp.
  [
    "llama_model_load: error loading model: no x.gguf",
    "error",
    "llama_model_load: error loading model: no x.gguf",
  ],
  [
    "srv    load_model: failed to load model, 'x.gguf'",
    "error",
    "srv    load_model: failed to load model, 'x.gguf'",
  ],
  ["main: server is listening, 0 slots busy"],
  [
    "0.00.123.456 E llama_model_load: cannot open a.gguf",
    "error",
    "llama_model_load: cannot open a.gguf",
  ],
  ["main: error: unable to load model", "error", "main: error: unable to load model"],
  [
    "/src/ggml.c:12: GGML_ASSERT(n > 0) failed",
    "error",
    "/src/ggml.c:12: GGML_ASSERT(n > 0) failed",
  ],
  ["0.00.123.456 I no error here"],
  // glog, abseil, PyTorch, TensorFlow.
  ["E1121 01:02:03.123456  1234 file.cc:12] Check failed", "error", "Check failed"],
  [
    "F1121 01:02:03.123456 1234 src/file.cc:12] Check failed: n > 0",
    "error",
    "Check failed: n > 0",
  ],
  [
    "[rank0]:[W1121 01:02:03.123456789 ProcessGroupNCCL.cpp:12] destroy_process_group() was not called",
    "warning",
    "destroy_process_group() was not called",
  ],
  [
    "2026-11-21 01:02:03.123456: E external/xla/cuda.cc:12] failed call to cuInit",
    "error",
    "failed call to cuInit",
  ],
  ["I1121 01:02:03.123456 1234 file.cc:12] error count 0"],
  // NCCL.
  [
    "node-1:4242:4250 [0] NCCL WARN Cuda failure 2 'out of memory'",
    "warning",
    "Cuda failure 2 'out of memory'",
    "4242",
  ],
  [
    "[2026-11-21 01:02:03] node-1:4242:4250 [0] misc/socket.cc:12 NCCL WARN connection closed",
    "warning",
    "connection closed",
    "4242",
  ],
  ["node-1:4242:4250 [0] NCCL INFO no warning"],
  // CUDA, HIP, the kernel.
  ["CUDA error: out of memory", "error", "CUDA error: out of memory"],
  ["CUDA Runtime Error at: a.cu:12", "error", "CUDA Runtime Error at: a.cu:12"],
  ["call failed: hipErrorOutOfMemory", "error", "call failed: hipErrorOutOfMemory"],
  [
    "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x2. Reason: Unknown.",
    "error",
    "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x2. Reason: Unknown.",
  ],
  [
    "Out of memory: Killed process 4242 (python3) total-vm:1kB",
    "error",
    "Out of memory: Killed process 4242 (python3) total-vm:1kB",
    "4242",
  ],
  [
    "python3[42]: segfault at 0 ip 0 sp 0 error 4 in a.so",
    "error",
    "python3[42]: segfault at 0 ip 0 sp 0 error 4 in a.so",
  ],
  ["Segmentation fault (core dumped)", "error", "Segmentation fault (core dumped)"],
  [
    "a.out: a.c:3: main: Assertion `n > 0' failed.",
    "error",
    "a.out: a.c:3: main: Assertion `n > 0' failed.",
  ],
  // JSON.
  ['{"level":50,"pid":9,"msg":"gone"}', "error", "gone", "9"],
  ['{"severity":"WARNING","message":"slow"}', "warning", "slow"],
  ['{"level":"info","msg":"no error"}'],
  // Ordinary output.
  ["error rate: 0.01, warnings: 3"],
  ["validation error 0.12 at step 3"],
  ["The default is fatal to nobody"],
  ["val_error=0.3 killed=0"],
];

Deno.test("the example of each format is taken by its row, and by no earlier one", () => {
  for (const { name, pattern, example } of FORMATS) {
    const first = FORMATS.find((format) => format.pattern.test(example));
    assert.equal(first?.name, name, `${pattern}`);
    assert.match(parseLog(example)!.message, /out of space$/);
  }
});

Deno.test("each line in a documented format is what its level says", () => {
  for (const [line, ...expected] of LINES) {
    const found: (string | undefined)[][] = [];
    const console = createConsole({
      report: ({ level, message, tags }) => found.push([level, message, tags!["process.pid"]]),
      now_ns: () => 0n,
    });
    console.write({
      stream: 1,
      time_ns: 0n,
      bytes: new TextEncoder().encode(`fine\n${line}\nfine\n`),
    });
    console.end({ code: 0, signal: null }, 0n);
    const [level, message, pid] = expected;
    assert.deepEqual(found, level ? [[level, message, pid]] : [], line);
  }
});
