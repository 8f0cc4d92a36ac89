/** Programs: errors of shells, build tools, command lines and languages that state no level. */

import type { Block } from "../block.ts";
import { type LineFormat, openOneOf } from "./line_format.ts";

/** A program before its message, with its place or process: `make[2]: `, `./run.sh: `. */
const PROGRAM = String.raw`-?[\w./+-]{1,80}(?:\[\d+\])?(?::\d+)?:`;

/** Texts of the C library's errors. */
const ERRNO = String
  .raw`(?:No such file or directory|No such file|No such device(?: or address)?|Permission denied|Operation not permitted|Is a directory|Not a directory|Directory not empty|File exists|File too large|No space left on device|Disk quota exceeded|Read-only file system|Input/output error|Device or resource busy|Resource temporarily unavailable|Cannot allocate memory|Out of memory|Broken pipe|Bad address|Bad file descriptor|Invalid argument|Too many open files(?: in system)?|Text file busy|Exec format error|Argument list too long|Stale file handle|Host is down|No route to host|Network is unreachable|Connection (?:refused|reset by peer|timed out|closed by remote host)|No such process|Authentication failure|Name or service not known|Temporary failure in name resolution|Address already in use|Cannot assign requested address|Function not implemented|Invalid cross-device link)`;

/** Beginnings of what command lines say of their arguments and files. */
const REFUSAL = String
  .raw`(?:cannot |can't |could not |couldn't |failed to |unable to |was unable to |no module named |missing (?:\w+ ){0,2}operand|missing \S+ near |invalid (?:option|argument|user|group|adjustment|mode|number|date|identifier|regular expression|value|character|path|url|format|input|choice|header|syntax)|not (?:in \w+ format|an? (?:valid|regular)\b|permitted|recognized)|unrecognized (?:option|argument)|unknown (?:option|command|argument)|option \S+ (?:is unknown|requires an argument)|illegal option|bad (?:usage|option|substitution)|unexpected )`;

const STACK = /^(?:\s+\S|Stack trace:|#\d+ )/;

const PROGRAMS: LineFormat[] = [
  // Shells.
  { opens: /^(?<message>[\w./+-]+: (?:-c: )?line \d+: (?!\s*\d+ ).+)$/ },
  { opens: /^(?<message>[\w./+-]+: (?:(?:\d+: )?.*: (?:command )?not found|command not found))$/ },
  { opens: /^(?<message>(?:zsh|fish): .*(?:not found|Unknown command).*)$/ },
  { opens: /^(?<message>[\w./+-]+: \d+: (?:Syntax error: |cannot open |Can't open |Bad ).*)$/ },
  // Unix tools.
  {
    opens: new RegExp(
      String
        .raw`^(?<message>(?:${PROGRAM}|stat|open|\S+@\S+:|Connecting to .*|Failed to [\w ]+:) ?.*\b${ERRNO}(?: \([\w,-]+\))?\.?)$`,
      "i",
    ),
  },
  { opens: new RegExp(`^(?<message>${PROGRAM} +(?:[^:]{1,80}: )?${REFUSAL}.*)$`, "i") },
  { opens: /^(?<message>[\w./+-]+: .{1,200}(?:does not exist|file format not recognized)\.?)$/ },
  { opens: /^(?<message>sed: -e expression #\d+, .*|tar: Error .*|curl: \(\d+\) .*)$/ },
  { opens: /^(?<message>git: '.*' is not a git command\..*|CONFLICT \(.*|merge: .* - not .*)$/ },
  { opens: /^(?<message>Host key verification failed\.)$/ },
  { opens: /^(?<message>NVIDIA-SMI has failed because .*|Failed to initialize NVML: .*)$/ },
  // Builds and packages.
  { opens: /^(?<message>(?:.{0,80}: |\[[\w.-]+:\d+\] )\*\*\* \S.*)$/ },
  { opens: /^(?<message>\S+: (?:undefined reference to|in function ['`].*undefined) .*)$/ },
  { opens: /^(?<message>(?:vet: )?\S+\.go:\d+:\d+: .+)$/ },
  {
    opens: /^(?<message>CMake Error(?:: | at ).+|-- .* incomplete, errors occurred!)$/,
    takes: /^(?: {2}\S|$)/,
  },
  {
    level: "warning",
    opens: /^(?<message>CMake Warning(?: \(dev\))?(?::| (?:at|in) .+:?))$/,
    takes: /^ {2}\S/,
  },
  { opens: /^(?<message>FAILED: \S.*|ninja: build stopped: .*|FAILURE: Build failed .*)$/ },
  { opens: /^(?<message>(?:(?:npm|yarn|pnpm) (?:error|ERR!)|error Command) \S.*|E: \S.*)$/ },
  { level: "warning", opens: /^(?<message>npm warn \S.*|W: \S.*)$/i },
  { opens: /^(?<message>[1-9]\d* errors? (?:detected|generated|occurred|found)\b.*)$/ },
  {
    opens:
      /^(?<message>(?:BUILD |> Task \S+ |.{0,300}(?:\.\.\.|:) ?)FAILED(?: in [\d.]+ ?m?s|\. .*|[.!])?|\S+::.{1,300} FAILED +\[ *\d+%\])$/,
  },
  {
    opens: /^(?<message>FAILED (?:\S+::\S+.*|\([\w=, ]+\))|--- FAIL: \S.*|FAIL: \w+ \(.*\))$/,
  },
  // Clusters and containers.
  {
    opens:
      /^(?<message>(?:docker: )?Error (?:response )?from (?:daemon|server)\b.*|Cannot connect to the Docker daemon .*|The connection to the server \S+ was refused.*)$/,
  },
  {
    opens:
      /^(?<message>MPI_ABORT was invoked .*|.*\bcalled MPI_Abort\(.*|(?:mpirun|mpiexec|prterun|ORTE) (?:has lost|noticed|was unable|detected) .*|= +BAD TERMINATION .*)$/,
  },
  {
    opens: new RegExp(
      String
        .raw`^(?<message>(?:[\w./@-]+(?::? [\w./@-]+){0,5} failed|[\w./@-]+:(?: [\w./@-]+){1,3} error): (?!\d|no\b(?! such)|none\b|ok\b|\w*(?:Error|Exception)\b)\S.*)$`,
    ),
  },
  // What programs say in words.
  {
    opens: new RegExp(
      `^(?<message>${
        [
          String.raw`(?:Failed|Unable) to \w+ (?:[^:]{1,120}: \S.*|[^:,;?]{1,200})`,
          String
            .raw`An? (?:\w+ ){0,2}(?:error|exception) (?:has )?occurred(?:[.:!]?| \(.*| (?:while|during|when|in|at|on|with)\b.*)`,
        ].join("|")
      })$`,
      "i",
    ),
  },
  { opens: /^(?:# *)?(?<message>(?:fatal error: )?Check failed: .*)$/, takes: /^#/ },
  { opens: /^(?<message>.*\bhttp: panic serving .*)$/, takes: /^(?:goroutine |\t|\S+\(.*\)$|$)/ },
  // The C library, debuggers and valgrind.
  {
    opens:
      /^(?<message>(?:free|malloc|realloc|calloc|munmap_chunk|malloc_\w+|tcache_\w+|_int_\w+)\(\): .+|double free or corruption \(.*|corrupted (?:size vs\.|double-linked list).*|\*\*\* [\w ]+ detected \*\*\*.*|Fatal glibc error: .*|<jemalloc>: .*|.*\bAttempt to free invalid pointer .*)$/,
  },
  {
    opens: /^(?<message>\S+: \S+: version [`'].*' not found \(.*|\S+: symbol lookup error: .*)$/,
  },
  {
    opens:
      /^(?<message>(?:Program|Thread \S+ ".*") received signal SIG(?!INT|TRAP|USR|PIPE|CONT).*)$/,
  },
  {
    opens:
      /^(?<message>==(?<pid>\d+)== (?:Invalid (?:read|write|free)|Process terminating with default action|Conditional jump or move depends|Use of uninit).*)$/,
    takes: /^==\d+==(?: {3}|$)/,
  },
  { opens: /^=+ (?<message>Invalid __\w+__ .*|ERROR SUMMARY: [1-9].*)$/, takes: /^=+ {5}/ },
  // Status codes of XLA, abseil and gRPC.
  {
    opens:
      /^(?<message>(?:[\w.]+: ){0,2}(?:RESOURCE_EXHAUSTED|FAILED_PRECONDITION|DEADLINE_EXCEEDED|INVALID_ARGUMENT|DATA_LOSS|UNIMPLEMENTED|UNAVAILABLE|INTERNAL|PERMISSION_DENIED): \S.*)$/,
  },
  // Languages.
  {
    opens:
      /^(?<message>Error occurred during initialization of VM|Unrecognized (?:VM )?option: .*|# A fatal error has been detected by the Java .*)$/,
    takes: /^#/,
  },
  { level: "warning", opens: /^(?<message>.* VM warning: .*)$/ },
  { opens: /^(?<message>Unhandled exception\. .*)$/, takes: STACK },
  { opens: /^(?<message>\S+:\d+:in [`'].*: .* \([A-Z][\w:]*\))$/, takes: /^\s+(?:\d+: )?from / },
  { opens: /^(?<message>PHP (?:Fatal|Parse|Recoverable fatal) error: +.*)$/, takes: STACK },
  { level: "warning", opens: /^(?<message>PHP (?:Warning|Notice|Deprecated): +.*)$/ },
  {
    opens:
      /^(?<message>.+ at (?:\S+\.(?:pl|pm|t|cgi)|-e|\(eval \d+\)) line \d+(?:, (?:<\w*> (?:line|chunk) \d+|near ".*"?))?\.?)$/,
  },
  {
    opens:
      /^(?<message>Can't (?:locate \S+ in @INC|open perl script) .*|(?:BEGIN failed--c|Execution of \S+ aborted due to c)ompilation .*)$/,
  },
  { opens: /^(?<message>Error in .+ : .*|Error in .+:|Execution halted)$/, takes: /^ {2}\S/ },
  {
    level: "warning",
    opens: /^(?<message>Warning messages?:|Warning message:)$/,
    takes: /^(?:\s*\d+: |\s+\S|In )/,
  },
  { opens: /^(?<message>lua[\d.]*: .+)$/, takes: /^(?:stack traceback:|\t)/ },
  {
    opens: /^(?<message>invalid command name ".*"|can't read ".*": no such variable)$/,
    takes: /^(?: {4}|")/,
  },
  { opens: /^(?<message>\*\* \([\w.]+\) .+)$/, takes: /^ {4}\S/ },
  {
    opens:
      /^(?<message>Fortran runtime error: .*|At line \d+ of file .+|forrtl: severe .*|ERROR STOP\b.*)$/,
  },
];

/** The error of a program that starts on this line. */
export function openProgram(text: string): Block | undefined {
  return openOneOf(PROGRAMS, text);
}
