/** Formats of log lines: one row for each, tried in order. */

import { isNamed, isReading } from "./readings.ts";

/** A format of log lines. */
export interface LogFormat {
  name: string;
  /**
   * Groups `level` or `priority`, `message`, `key`, `pid`, and `body`: the part of the message behind the
   * level, where the level is a word of the message.
   */
  pattern: RegExp;
  /** Whether such lines need not be a logger's, and the body decides. */
  isFigure?: (body: string) => boolean;
  /** A line that this format takes, and no earlier one. */
  example: string;
}

const LEVEL =
  "TRACE|DEBUG|INFO|INF|DBG|NOTICE|WARNING|WARN|WRN|ERROR|ERR|CRITICAL|CRIT|FATAL|SEVERE|PANIC|ALERT|EMERG";
/** Levels in small letters, which count only in brackets. */
const BRACKETED_LEVEL = String
  .raw`(?:emerg|alert|critical|crit|error|exception|warning|warn|notice|info|debug)(?=\s*\])`;
const CLOCK = String.raw`\d{1,2}:\d\d:\d\d(?:[.,]\d+)?`;
const ZONE = String.raw`(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?`;
const TIME = String
  .raw`(?:\d{4}[-/]\d\d[-/]\d\d[T ]${CLOCK}${ZONE}|\d\d/\d\d/\d\d ${CLOCK}|\d\d/\d\d/\d{4}-${CLOCK}|\d\d[-/]\d\d ${CLOCK}|[A-Z][a-z]{2} [ \d]\d ${CLOCK}|${CLOCK})`;
/** Names of a logger, a process or a thread. */
const UP_TO_THREE_WORDS = String
  .raw`(?:(?:\s+(?:[-|]\s+)?|(?<=\]))\[?[\w.:/#<>+-]{1,60}\]?(?=[\s[])){0,3}?`;
/** A place in a program: `[file.py:12]`, `[file.py:12:function]`, `in module`. */
const PLACE = String.raw`(?:\[[^\]]*:\d+(?::\w+)?\])?\s*(?:in \w+)?`;

/** Programs that write the level behind their name without a colon. */
const TOOL = "(?:nvcc|ptxas|nvlink|fatbinary|rsync|CMake|[A-Z]{3,8}(?= ERROR))";

/** Formats in the order in which they are tried. */
export const FORMATS: readonly LogFormat[] = [
  {
    name: "glog, abseil, PyTorch",
    pattern:
      /^\[?(?<level>[IWEF])\d{3,4} [\d:.]+ +(?:\d+ +)?(?<key>[\w./-]+(?::\d+| \S+:\d+))\]\s*(?<message>.*)$/,
    example: "E1121 01:02:03.123456 1234 file.cc:12] out of space",
  },
  {
    name: "TensorFlow",
    pattern: line(`${TIME}:`, String.raw` (?<level>[IWEF]) (?<key>\S+:\d+)\] (?<message>.*)`),
    example: "2026-11-21 01:02:03.123456: E path/file.cc:12] out of space",
  },
  {
    name: "NCCL, with a time or a place before its name since 2.24",
    pattern: line(
      String.raw`(?:\[${TIME}\] )?[\w.-]+:(?<pid>\d+):\d+ (?<key>\[\d+\]) (?:\S+:\d+ )?`,
      String.raw`NCCL (?<level>WARN|INFO|ERROR|TRACE) (?<message>.*)`,
    ),
    example: "host:123:456 [0] NCCL WARN out of space",
  },
  {
    name: "TensorRT-LLM",
    pattern: line(
      String.raw`(?:\[${TIME}\] ?)?(?<key>\[(?:TRT-LLM|TRT|TensorRT-LLM)\] ?(?:\[RANK \d+\] ?)?)`,
      String.raw`\[(?<level>[A-Z]+)\] ?(?:\[TensorRT-LLM\]\[[A-Z]+\] ?)?(?<message>.*)`,
    ),
    example: "[11/21/2026-01:02:03] [TRT-LLM] [E] out of space",
  },
  {
    name: "Ray",
    pattern: line(
      String.raw`\[${TIME} (?<level>[IWECF]) (?<pid>\d+) \d+\] (?:\(\w+\) )?`,
      String.raw`(?<key>\S+:\d+): +(?<message>.*)`,
    ),
    example: "[2026-11-21 01:02:03,123 E 12 34] file.cc:12: out of space",
  },
  {
    name: "llama.cpp",
    pattern: /^\d+\.\d\d\.\d{3}\.\d{3} (?<level>[DIWE]) (?<message>.*)$/,
    example: "0.01.234.567 E out of space",
  },
  {
    name: "rich's handler, which repeats no time",
    pattern: line(
      String
        .raw`(?:\[(?:\d\d/\d\d/\d\d )?${CLOCK}\] | {10,40}(?=\S.* [\w.<>-]+:\d+$))(?<level>${LEVEL}) +`,
      String.raw`(?<message>.*?)(?: +[\w.<>-]+:\d+)?$`,
    ),
    example: "[11/21/26 01:02:03] ERROR    out of space        disk.py:12",
  },
  {
    name: "vLLM, and any level before a time",
    pattern: line(
      String.raw`(?<level>${LEVEL}):?\s+\[?${TIME}\]?\s*(?<key>\[[^\]]+:\d+\])?`,
      String.raw`\s*[-|:]?\s*(?<message>.*)`,
    ),
    example: "ERROR 11-21 01:02:03 [core.py:123] out of space",
  },
  {
    name: "Python's logging.basicConfig()",
    pattern: line(String.raw`(?<level>${LEVEL}):(?<key>[\w.$<>/-]+):(?<message>.*)`),
    example: "ERROR:name:out of space",
  },
  {
    name: "a time, up to three words, and a level",
    pattern: line(
      String.raw`\[?${TIME}\]?(?<key>${UP_TO_THREE_WORDS})`,
      String.raw`[\s\-|:,[]+(?<level>${LEVEL}|${BRACKETED_LEVEL})\s*\]?\s*`,
      String.raw`${PLACE}[-|:]?\s*(?<message>.*)`,
    ),
    example: "2026-11-21 01:02:03,123 - name - ERROR - out of space",
  },
  {
    name: "a name and a level between dashes",
    pattern: line(String.raw`(?<key>[\w.]{1,60}) - (?<level>${LEVEL}) - (?<message>.*)`),
    example: "name - ERROR - out of space",
  },
  {
    name: "syslog's priority",
    pattern: line(
      String.raw`<(?<priority>\d{1,3})>(?:1 )?(?:\S+T\S+ |${TIME} \S+ )?`,
      String.raw`(?<key>(?:[\w./-]+(?:\[(?<pid>\d+)\])?:)?)\s*(?<message>[^\s<>].*)`,
    ),
    example: "<3>out of space",
  },
  {
    name: "syslog's files, of programs that state a level",
    pattern: line(
      String.raw`${TIME} \S+ (?<key>[\w./-]+)(?:\[(?<pid>\d+)\])?: `,
      String.raw`(?<level>${LEVEL}|(?i:fatal|error|warning)): (?<message>.*)`,
    ),
    example: "Nov 21 01:02:03 host app[12]: error: out of space",
  },
  {
    name: "a level in brackets",
    pattern: line(
      String.raw`(?:[\w.-]{1,60}: )?[[<](?<level>${LEVEL}|${BRACKETED_LEVEL}|[EWF])\s*[\]>]`,
      String.raw`\s*[-:]?\s*(?<message>.*)`,
    ),
    isFigure: isReading,
    example: "[ERROR] out of space",
  },
  {
    name: "a level and a colon",
    pattern: line(String.raw`(?<level>${LEVEL}):\s*(?<message>.*)`),
    isFigure: isReading,
    example: "ERROR: out of space",
  },
  {
    name: "a level and a space",
    pattern: line(String.raw`(?<message>(?:[\w.-]{1,60}: )?(?<level>${LEVEL}) +(?<body>.*))`),
    isFigure: isNamed,
    example: "ERROR out of space",
  },
  {
    name: "logfmt",
    pattern:
      /^(?=.*\b(?:level|lvl)="?(?<level>\w+)).*?\b(?:msg|message|event)=(?<message>"(?:[^"\\]|\\.)*"|\S+)/,
    example: 'time=2026-11-21T01:02:03Z level=error msg="out of space"',
  },
  {
    name: "a program's or compiler's own errors",
    pattern: line(
      String
        .raw`(?!\S*(?:Error|Exception): |\S+ [^:]*: Error: )(?<message>(?:\[[\w.-]+:\d+\] )?(?:[\w./+<>()-]+(?: [\w.-]+){0,2}(?:[:,]\d+)*\)?: ){0,3}(?:${TOOL} |\S+:\d+:\d+ - )?`,
      String
        .raw`(?<level>(?:[Ff]atal|[Ii]nternal compiler|[Pp]arse|[Ss]yntax) error|[Ff]atal|[Ee]rror|[Ww]arning|ERROR|WARNING|FATAL)`,
      String
        .raw`(?: [A-Z]{1,4}\d{2,5}|\[\w+\]| \([^()]{1,60}\)| while [\w ]+)? *:\s*(?<body>\S.*))`,
    ),
    isFigure: isReading,
    example: "file.c:1:2: fatal error: out of space",
  },
  {
    name: "SGLang, which states no level",
    pattern: line(String.raw`\[${TIME}(?: [\w ]{1,40})?\] (?<message>.*)`),
    example: "[2026-11-21 01:02:03 TP0] out of space",
  },
];

/** The pattern of a whole line, from its parts. */
function line(...parts: string[]): RegExp {
  return new RegExp(`^${parts.join("")}$`);
}
