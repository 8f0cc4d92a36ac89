/** Native code: errors of C++, sanitizers, CUDA and HIP, shells and the kernel. */

import type { Block } from "../block.ts";
import { type LineFormat, openOneOf } from "./line_format.ts";
import { CUDA_ADVICE } from "./python.ts";

const INDENTED = /^\s+\S/;

const REPORTS: LineFormat[] = [
  {
    opens: /^(?<message>Fatal Python error: .*)$/,
    takes: /^(?:$|\s|(?:Current thread|Thread) 0x|Python runtime state: |Extension modules: |<\w)/,
  },
  {
    opens: /^Exception in thread "[^"]*" (?<message>.*)$/,
    takes: /^(?:\s+at |\s+\.\.\. |Caused by: |\s+Suppressed: )/,
  },
  {
    opens:
      /^(?<message>terminate called (?:after throwing|without|recursively).*|libc\+\+abi: terminating.*)$/,
    takes: new RegExp(`${INDENTED.source}|${CUDA_ADVICE.source}|^$`),
    laterMessage: /^ {2}what\(\): +(.*)$/,
  },
  {
    opens: /^==(?<pid>\d+)==\s*ERROR: (?<message>\w+Sanitizer: .*)$/,
    takes:
      /^(?:\s|$|0x|READ |WRITE |freed |previously |Thread |Address |SUMMARY: |HINT: |Hint: |Shadow |=>|Direct |Indirect |allocated |#\d|==\d+==|\w+Sanitizer|[\w ]+:$)/,
    last: /^==\d+==ABORTING|^SUMMARY: .* leaked in/,
  },
  {
    level: "warning",
    opens: /^WARNING: (?<message>ThreadSanitizer: .*?) \(pid=(?<pid>\d+)\)$/,
    takes: /^(?:\s|$|SUMMARY: )/,
    last: /^={10,}$/,
  },
];

const NATIVES: LineFormat[] = [
  {
    opens: /^(?<message>\S+:\d+:\d+: runtime error: .*)$/,
    takes: /^(?:0x[0-9a-f]+: note:|\s+\S|SUMMARY: UndefinedBehavior)/,
  },
  {
    opens:
      /^(?<message>(?:.*: line \d+: +(?<pid>\d+) )?(?:Segmentation fault|Killed|Aborted|Bus error|Illegal instruction|Floating point exception)(?: +\(core dumped\))?(?: {2,}.*)?)$/,
  },
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
    opens: /^(?<message>.*: Assertion [`'].*' failed\.?|.*\bGGML_ASSERT\(.*\) failed.*)$/,
    takes: /^\[New LWP|^#\d/,
  },
  {
    opens:
      /^(?<message>(?:.*[ :\]])?(?:CUDA|HIP|ROCm|cuDNN|cuBLAS|CUBLAS|NCCL|RCCL|Cuda|Hip)[\w ]{0,24}(?:error|Error|failure|ERROR)\b.*|.*\b(?:CUDA_ERROR_[A-Z_]+|cudaError[A-Z]\w*|hipError[A-Z]\w*).*)$/,
    takes: new RegExp(`${INDENTED.source}|${CUDA_ADVICE.source}`),
  },
];

/** The error of native code that starts on this line. */
export function openNative(text: string): Block | undefined {
  return openOneOf(NATIVES, text);
}

/** The report of native code that starts on this line, which may look like a log record. */
export function openReport(text: string): Block | undefined {
  return openOneOf(REPORTS, text);
}
