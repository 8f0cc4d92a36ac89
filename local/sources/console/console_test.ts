/** Errors from console output: the same for any chunks, colours and interleaving. */

import assert from "node:assert/strict";
import type { ErrorEntry } from "@service/core";
import { errorEntry } from "@service/core/entries";
import fc from "fast-check";
import { type ConsoleChunk, createConsole, MAX_TEXT_LENGTH } from "./console.ts";

const DATA = new URL("testdata/", import.meta.url);
const SECOND_NS = 1_000_000_000n;
const encoder = new TextEncoder();

interface Excerpt {
  name: string;
  bytes: Uint8Array;
  expected: Partial<ErrorEntry>[];
}

/** Outputs of real programs, and the expected findings. */
const excerpts: Excerpt[] = Array.from(Deno.readDirSync(DATA), ({ name }) => name)
  .filter((name) => name.endsWith(".log")).sort()
  .map((name) => ({
    name: name.replace(".log", ""),
    bytes: Deno.readFileSync(new URL(name, DATA)),
    expected: JSON.parse(Deno.readTextFileSync(new URL(name.replace(".log", ".json"), DATA))),
  }));
assert(excerpts.length >= 20);

function found(
  chunks: Partial<ConsoleChunk>[],
  status = { code: 0, signal: null as string | null },
) {
  const entries: ErrorEntry[] = [];
  const console = createConsole({ report: (entry) => entries.push(entry), now_ns: () => 9n });
  for (const { stream = 2, time_ns = 5n, bytes = new Uint8Array() } of chunks) {
    console.write({ stream, time_ns, bytes });
  }
  console.end(status, 10n);
  for (const entry of entries) errorEntry.check(entry);
  return entries;
}

function withoutTime(entries: ErrorEntry[]): Partial<ErrorEntry>[] {
  return entries.map(({ log_ns: _, ...entry }) => entry);
}

function text(lines: string): Partial<ConsoleChunk>[] {
  return [{ bytes: encoder.encode(lines) }];
}

function cut(bytes: Uint8Array, sizes: number[]): Partial<ConsoleChunk>[] {
  const chunks = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    chunks.push({ bytes: bytes.subarray(at, at + size) });
    at += size;
  }
  return chunks;
}

for (const { name, bytes, expected } of excerpts) {
  Deno.test(`${name}: what is in it is found, whole and byte by byte`, () => {
    assert.deepEqual(withoutTime(found([{ bytes }])), expected);
    assert.deepEqual(withoutTime(found(cut(bytes, [1]))), expected);
  });
}

Deno.test("how the bytes are cut into chunks makes no difference", () => {
  fc.assert(fc.property(
    fc.shuffledSubarray(excerpts, { minLength: 1, maxLength: 4 }),
    fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }),
    (some, sizes) => {
      const bytes = encoder.encode(
        some.map(({ bytes }) => new TextDecoder().decode(bytes)).join("step 1 of 10\n"),
      );
      assert.deepEqual(found(cut(bytes, sizes)), found([{ bytes }]));
    },
  ));
});

Deno.test("any bytes at all, however cut, are taken alike", () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom(
      "\n",
      "\r",
      "\r\n",
      "ERROR: x",
      "Traceback (most recent call last):",
      "\x1b[31m",
    )
      .map((text) => encoder.encode(text)),
    fc.constantFrom(
      "E1121 01:02:03.1 1 a.cc:1] x",
      '  File "a", line 1',
      "KeyError: 1",
      "é",
      "日本",
    )
      .map((text) => encoder.encode(text)),
  );
  fc.assert(fc.property(
    fc.array(piece, { maxLength: 30 }),
    fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }),
    (pieces, sizes) => {
      const bytes = Uint8Array.from(pieces.flatMap((piece) => [...piece]));
      assert.deepEqual(found(cut(bytes, sizes)), found([{ bytes }]));
    },
  ));
});

Deno.test("colours and a terminal's line ends change nothing", () => {
  for (const { name, bytes, expected } of excerpts) {
    if (name === "py_bar") continue;
    const lines = new TextDecoder().decode(bytes).split("\n");
    const coloured = lines.map((line) => `\x1b[1;31m${line}\x1b[0m\x1b[K`).join("\r\n");
    assert.deepEqual(withoutTime(found(text(coloured))), expected, name);
  }
});

Deno.test("processes that write at once are told apart by their marks", () => {
  const plain = excerpts.filter(({ name }) => name !== "py_bar" && name !== "py_logging2");
  const two = fc.shuffledSubarray(plain, { minLength: 2, maxLength: 2 });
  const marks = fc.constantFrom(
    ["(Worker_TP0 pid=71) ", "(Worker_TP1 pid=72) "],
    [
      "[rank0]: ",
      "[rank1]: ",
    ],
    ["[default0]:", "[default1]:"],
    ["[1,0]<stderr>:", "[1,1]<stderr>:"],
  );
  fc.assert(fc.property(two, marks, fc.infiniteStream(fc.boolean()), (pair, marks, turns) => {
    const left = pair.map(({ bytes }) => new TextDecoder().decode(bytes).trimEnd().split("\n"));
    let all = "";
    while (left[0]!.length + left[1]!.length > 0) {
      const turn = turns.next().value && left[0]!.length > 0 || left[1]!.length === 0 ? 0 : 1;
      all += `${marks[turn]}${left[turn]!.shift()}\n`;
    }
    const pids = marks.map((mark) => /pid=(\d+)/.exec(mark)?.[1]);
    const ranks = marks.map((mark) => {
      const [, name, number] = /\[(rank|default|\S*1,)(\d+)/.exec(mark) ?? [];
      return name && { [name === "default" ? "process.local_rank" : "process.rank"]: number! };
    });
    const expected = pair.flatMap(({ expected }, turn) =>
      expected.map(({ tags, ...entry }) => ({
        ...entry,
        tags: {
          ...(pids[turn] && { "process.pid": pids[turn] }),
          ...(ranks[turn] || {}),
          ...tags,
        },
      }))
    );
    const byText = (a: Partial<ErrorEntry>, b: Partial<ErrorEntry>) =>
      `${a.message}${a.exception}` < `${b.message}${b.exception}` ? -1 : 1;
    assert.deepEqual(withoutTime(found(text(all))).sort(byText), expected.sort(byText));
  }));
});

Deno.test("a traceback outlives what other streams, bars and loggers write into it", () => {
  const lines = [
    "Traceback (most recent call last):",
    '  File "a.py", line 1, in <module>',
    "\rLoading:  50%|#####     | 50/100 [00:02<00:02, 33.1it/s]",
    "INFO:worker:still here",
    "    load()",
    "WARNING:worker:slow",
    "ValueError: bad",
    "",
  ];
  const entries = found([
    { bytes: encoder.encode(lines.slice(0, 3).join("\n")) },
    { stream: 1, bytes: encoder.encode("ERROR: elsewhere\nfine\n") },
    { bytes: encoder.encode("\n" + lines.slice(3).join("\n")) },
  ]);
  assert.deepEqual(entries.map(({ message }) => message).sort(), [
    "ValueError: bad",
    "elsewhere",
    "slow",
  ]);
  const traceback = entries.find(({ message }) => message === "ValueError: bad")!;
  assert.equal(traceback.exception, [lines[0], lines[1], lines[4], lines[6]].join("\n"));
});

Deno.test("an open traceback is reported once it has got no line for a second", () => {
  const entries: ErrorEntry[] = [];
  const console = createConsole({ report: (entry) => entries.push(entry), now_ns: () => 0n });
  const [chunk] = text(
    "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'k'\n",
  );
  console.write({ stream: 2, time_ns: 5n * SECOND_NS, bytes: chunk!.bytes! });
  console.idle(5n * SECOND_NS + 1n);
  assert.equal(entries.length, 0);
  console.idle(6n * SECOND_NS);
  assert.deepEqual(entries.map(({ message, log_ns }) => [message, log_ns]), [[
    "KeyError: 'k'",
    5n * SECOND_NS,
  ]]);
});

Deno.test("repeats are told once a tick, and their counts add up", () => {
  const entries: ErrorEntry[] = [];
  const console = createConsole({ report: (entry) => entries.push(entry), now_ns: () => 0n });
  const write = (time_ns: bigint, line: string) =>
    console.write({ stream: 2, time_ns, bytes: encoder.encode(`${line}\n`) });
  for (let n = 0; n < 1_000; n++) {
    write(BigInt(n), `ERROR: request ${1_000 + n} failed at 0x${n.toString(16)}`);
  }
  write(1_000n, "all well");
  assert.equal(entries.length, 1);
  console.idle(1n * SECOND_NS);
  console.idle(2n * SECOND_NS);
  write(3n * SECOND_NS, "ERROR: request 2000 failed at 0xabc");
  console.idle(4n * SECOND_NS);
  assert.deepEqual(entries.map(({ tags }) => tags!.count), [undefined, "999", undefined]);
  assert.deepEqual(entries.map(({ log_ns }) => log_ns), [0n, 999n, 3n * SECOND_NS]);
});

Deno.test("workers, ranks and devices that fail are told apart, a flood of numbers is folded", () => {
  const told = (lines: string[]) =>
    found(text(lines.join("\n"))).map(({ message, tags }) => [
      message,
      tags!["process.rank"] ?? tags!["process.local_rank"] ?? tags!.count,
    ]);
  const eight = Array.from({ length: 8 }, (_, n) => n);
  assert.deepEqual(
    told(eight.map((n) => `ERROR: worker ${n}/8 failed`)),
    eight.map((n) => [`worker ${n}/8 failed`, undefined]),
  );
  const marks = [
    "[rank%]: ",
    "[default%]:",
    "[1,%]<stderr>:",
    "[1,%]<stderr>: ",
    "[prterun-host-1@1,%]<stderr>: ",
  ];
  for (const mark of marks) {
    assert.deepEqual(
      told(eight.map((n) => `${mark.replace("%", String(n))}ValueError: no data`)),
      eight.map((n) => ["ValueError: no data", String(n)]),
    );
  }
  const many = told(Array.from({ length: 500 }, (_, n) => `ERROR: layer ${n} failed`));
  assert.deepEqual(many.at(-1), ["layer 499 failed", String(501 - many.length)]);
  assert.deepEqual(many.slice(0, 2).map(([message]) => message), [
    "layer 0 failed",
    "layer 1 failed",
  ]);
  assert(many.length < 20);
});

Deno.test("of a flood of different errors the first and the newest are reported", () => {
  const letters = (n: number) =>
    n.toString(26).replace(/\d/g, (digit) => "zyxwvutsrq"[Number(digit)]!);
  const lines = Array.from({ length: 5_000 }, (_, n) => `ERROR: no ${letters(n)} here`);
  const entries = found(text(lines.join("\n")));
  assert(entries.length <= 250);
  assert.equal(entries[0]!.message, `no ${letters(0)} here`);
  assert.equal(entries.at(-1)!.message, `no ${letters(4_999)} here`);
});

Deno.test("a failed exit is an error with its status and the last lines", () => {
  const [exit] = found(text("one\n\rbar 1\rbar 2\nno room\n"), { code: 7, signal: null });
  assert.equal(exit!.message, "The command exited with status 7");
  assert.equal(exit!.exception, "one\nbar 2\nno room");
  const message = (code: number, signal: string | null) => found([], { code, signal })[0]!.message;
  assert.match(message(139, null), /status 139: SIGSEGV \(segmentation fault/);
  assert.match(message(137, "SIGKILL"), /was ended by SIGKILL \(.*out-of-memory killer/);
  assert.deepEqual(found(text("fine\n")), []);
});

Deno.test("what was open when the workload ended is reported before its end", () => {
  const crash = "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'k'";
  const entries = found(text(crash), { code: 1, signal: null });
  assert.deepEqual(entries.map(({ message }) => message), [
    "KeyError: 'k'",
    "The command exited with status 1",
  ]);
});

Deno.test("lost bytes are said once and counted", () => {
  const entries: ErrorEntry[] = [];
  const console = createConsole({ report: (entry) => entries.push(entry), now_ns: () => 3n });
  console.lost(0);
  console.lost(10);
  console.lost(5);
  assert.equal(console.lost_bytes, 15);
  assert.deepEqual(entries.map(({ level, log_ns }) => [level, log_ns]), [["warning", 3n]]);
});

Deno.test("texts are kept whole up to their limit, then cut with a mark", () => {
  const message = (length: number) => found(text(`ERROR: ${"x".repeat(length)}\n`))[0]!.message;
  assert.equal(message(MAX_TEXT_LENGTH), "x".repeat(MAX_TEXT_LENGTH));
  assert.equal(message(MAX_TEXT_LENGTH + 7), `${"x".repeat(MAX_TEXT_LENGTH)}… (7 more characters)`);
  const frames = Array.from({ length: 5_000 }, (_, n) => `  File "a.py", line ${n}, in f`).join(
    "\n",
  );
  const [deep] = found(text(`Traceback (most recent call last):\n${frames}\nKeyError: 'k'\n`));
  assert.equal(deep!.message, "KeyError: 'k'");
  assert.match(deep!.exception, /^Traceback .*… \(\d+ more characters\)$/s);
});

Deno.test("a line of any length takes bounded memory, and the next one is read", () => {
  const megabyte = new Uint8Array(2 ** 20).fill(120);
  const chunks: Partial<ConsoleChunk>[] = [
    ...text("ERROR: "),
    ...Array(8).fill({ bytes: megabyte }),
    ...text("\nERROR: next\n"),
  ];
  const entries = found(chunks);
  assert.equal(entries.length, 2);
  assert.match(entries[0]!.message, /^x{16384}… \(\d+ more characters\)$/);
  assert.equal(entries[1]!.message, "next");
});

Deno.test("secrets are not reported", () => {
  const entries = found(
    text("ERROR: cannot log in with api_key=hunter2 at https://me:hunter2@host/\n"),
    { code: 1, signal: null },
  );
  assert.equal(entries.length, 2);
  for (const entry of entries) assert.doesNotMatch(entry.message + entry.exception, /hunter2/);
});

const TRACEBACK = [
  "Traceback (most recent call last):",
  '  File "core.py", line 1, in run',
  "    step()",
  "    ~~~~^^",
  "RuntimeError: no blocks",
  "",
  "During handling of the above exception, another exception occurred:",
  "",
  "Traceback (most recent call last):",
  '  File "core.py", line 2, in run',
  "ValueError: gave up",
];

Deno.test("a traceback that loggers write record by record is one, for each of them", () => {
  const headers = (n: number) => [
    `(EngineCore_DP${n} pid=7${n}) ERROR 11-21 01:02:03 [core.py:708] `,
    `INFO:worker-${n}:`,
    `2026-11-21 01:02:03,00${n} - worker.${n} - ERROR - `,
  ];
  for (const [at, first] of headers(0).entries()) {
    const second = headers(1)[at]!;
    const lines = TRACEBACK.flatMap((line) => [`${first}${line}`, `${second}${line}`]);
    const entries = found(text(lines.join("\n") + "\nINFO:other:done\n"));
    assert.deepEqual(
      entries.map(({ message, exception }) => [message, exception]),
      [["ValueError: gave up", TRACEBACK.join("\n")], [
        "ValueError: gave up",
        TRACEBACK.join("\n"),
      ]],
      first,
    );
  }
});

Deno.test("the record before a traceback is its message, however the traceback is written", () => {
  const record = "(EngineCore_DP0 pid=7) ERROR 11-21 01:02:03 [core.py:708] ";
  const cases = {
    "EngineCore failed to start.": ["EngineCore failed to start.", ...TRACEBACK].map((line) =>
      record + line
    ),
    "Scheduler hit an exception": [
      `[2026-11-21 01:02:03 TP0] Scheduler hit an exception: ${TRACEBACK[0]}`,
      ...TRACEBACK.slice(1),
      "",
      "[2026-11-21 01:02:04] fine",
    ],
    "Exception in ASGI application": [
      "ERROR:    Exception in ASGI application",
      ...TRACEBACK,
      "INFO:     done",
    ],
  };
  for (const [message, lines] of Object.entries(cases)) {
    const entries = found(text(lines.join("\n")));
    assert.deepEqual(
      entries.map(({ message, exception }) => [message, exception]),
      [[message, TRACEBACK.join("\n")]],
    );
  }
});

Deno.test("a traceback that is never finished ends when enough else was written", () => {
  const entries: ErrorEntry[] = [];
  const console = createConsole({ report: (entry) => entries.push(entry), now_ns: () => 0n });
  const open = '[rank0]: Traceback (most recent call last):\n[rank0]:   File "a.py", line 1\n';
  console.write({ stream: 2, time_ns: 0n, bytes: encoder.encode(open + "fine\n".repeat(2_000)) });
  assert.equal(entries.length, 1);
  assert.equal(entries[0]!.message, 'File "a.py", line 1');
});
