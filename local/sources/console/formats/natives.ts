/** Native code: errors of CUDA and HIP, of processes that ended badly, of shells and the kernel. */

import type { Block } from "../block.ts";
import { type LineFormat, openOneOf } from "./line_format.ts";
import { CUDA_ADVICE } from "./python.ts";

const INDENTED = /^\s+\S/;

const REPORTS: LineFormat[] = [{
  opens: /^(?<message>Fatal Python error: .*)$/,
  takes: /^(?:$|\s|(?:Current thread|Thread) 0x|Python runtime state: |Extension modules: |<\w)/,
}];

/** What shells call a signal that ended a command. */
const SIGNAL_TEXT =
  "(?:Segmentation fault|Killed|Aborted|Bus error|Illegal instruction|Floating point exception)";

/** How a process is said to have ended badly. */
const ENDS = [
  String
    .raw`.{0,200}\b(?:exited|returned|finished|completed|terminated|failed) (?:with )?(?:an? )?(?:(?:exit|return|status|error) ){0,2}(?:code|status):? ?=? ?-?[1-9]\d*\b.*`,
  String.raw`.{0,200}\breturned (?:an? )?non-?zero (?:exit|return|status)\b.*`,
  String.raw`.{0,200}\bfailed with (?:an? )?(?:error|exception|[1-9]\d* errors?)\b.*`,
  String
    .raw`.{0,200}\b(?:died|exited|terminated|crashed|stopped) (?:unexpectedly|abruptly|abnormally)\b.*`,
  String
    .raw`.{0,200}\b(?:worker|process|rank|node|actor|child)\b[^.]{0,30}\d[^.]{0,40}? (?:is dead|died|was killed|crashed)\b.*`,
  String
    .raw`.{0,200}\b(?:(?:killed|terminated|exited|died|crashed) (?:by|on|with|from|due to) (?:fatal )?signal\b|(?:caught|received|fatal|got) signal:? (?:SIG(?:SEGV|ABRT|BUS|FPE|ILL|KILL)|(?:4|6|7|8|9|11))\b).*`,
];

const NATIVES: LineFormat[] = [
  {
    opens: /^(?<message>\S+:\d+:\d+: runtime error: .*)$/,
    takes: /^(?:0x[0-9a-f]+: note:|\s+\S|SUMMARY: UndefinedBehavior)/,
  },
  {
    opens: new RegExp(
      String
        .raw`^(?<message>(?:.*: line \d+: +(?<pid>\d+) )?${SIGNAL_TEXT}(?: +\(core dumped\))?(?: {2,}.*)?)$`,
    ),
  },
  {
    opens: new RegExp(String.raw`^(?<message>\[\d+\] +[-+]? *(?<pid>\d+) ${SIGNAL_TEXT}.*)$`, "i"),
  },
  { opens: new RegExp(`^(?<message>${ENDS.join("|")})$`, "i") },
  {
    opens:
      /^(?<message>.*(?:Out of memory: Killed process (?<pid>\d+)|\boom-kill(?:er)?[:= ]|\bsegfault at [0-9a-f]|NVRM: Xid |Memory access fault by GPU|Received sigquit from a child).*)$/,
    takes: INDENTED,
  },
  {
    // llama.cpp, if its log has no level.
    opens:
      /^(?<message>(?:(?:llama|ggml|gguf|common|clip|mtmd)_\w+|srv +\S+|main): .*\b(?:error|failed|unable to)\b.*)$/,
  },
  {
    opens:
      /^(?<message>.*[:\]] Assertion [`'].*[`'] failed\.?|[Aa]ssertion (?:failed: .+|".*" failed: .+)|.*\bGGML_ASSERT\(.*\) failed.*)$/,
    takes: /^\[New LWP|^#\d/,
  },
  {
    opens:
      /^(?<message>(?:.*[ :\]])?(?:CUDA|HIP|ROCm|cuDNN|cuBLAS|CUBLAS|NCCL|RCCL|Cuda|Hip)[\w ]{0,24}(?:error|Error|failure|ERROR)\b.*|.*\b(?:CUDA_ERROR_[A-Z_]+|cudaError[A-Z]\w*|hipError[A-Z]\w*|an illegal memory access was encountered|unspecified launch failure|device-side assert triggered|misaligned address).*)$/,
    takes: new RegExp(`${INDENTED.source}|${CUDA_ADVICE.source}`),
  },
];

/** The error of native code that starts on this line. */
export function openNative(text: string): Block | undefined {
  return openOneOf(NATIVES, text);
}

/** The report of the interpreter of Python that starts on this line, which may look like a log record. */
export function openReport(text: string): Block | undefined {
  return openOneOf(REPORTS, text);
}
