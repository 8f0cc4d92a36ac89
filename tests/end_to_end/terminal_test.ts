/** The native supervisor in a terminal. */

import assert from "node:assert/strict";
import { RingReader } from "../../local/sources/console/ring.ts";
import { HOME } from "../command.ts";
import { testUnless } from "../skipping.ts";
import { inTerminal, missing, shell, SUPERVISOR, test } from "./supervisor.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

const ISATTY =
  `python3 -c 'import os; os.write(%, str([os.isatty(i) for i in range(3)]).encode())'`;
for (
  const [redirections, fd, expected] of [
    ["", 1, "[True, True, True]"],
    ["< /dev/null", 1, "[False, True, True]"],
    ["2> /dev/null", 1, "[True, True, False]"],
    ["| cat", 1, "[True, False, True]"],
    ["2>&1 | cat", 1, "[True, False, False]"],
    ["> /dev/null", 2, "[True, False, True]"],
  ] as const
) {
  test(`a terminal stays a terminal, a pipe stays a pipe: ${redirections || "all three"}`, async () => {
    const script = `${SUPERVISOR} -- ${ISATTY.replace("%", String(fd))} ${redirections}`;
    assert.equal((await inTerminal(["bash", "-c", script])).shown, expected);
  });
}

for (
  const [redirections, stdout, stderr] of [
    ["", undefined, undefined],
    ["> /dev/null 2>&1", /\/dev\/null/, /\/dev\/null/],
    ["> /dev/null", /\/dev\/null/, undefined],
    ["2> /dev/null", undefined, /\/dev\/null/],
    ["< /dev/null > /dev/null 2>&1", /\/dev\/null/, /\/dev\/null/],
    [">&- 2>&-", /closed/, /closed/],
    ["< <(:)", /terminal/, /terminal/],
    ["< <(:) > $D/out", undefined, undefined],
    ["> $D/out 2>&1", undefined, undefined],
    ["2>&1 | cat", undefined, undefined],
    ["| cat", undefined, undefined],
    ["2> /dev/null | cat", undefined, /\/dev\/null/],
  ] as const
) {
  test(`the ring says which streams are read: ${redirections || "a terminal"}`, async () => {
    await using directory = await temporaryDirectory();
    const copy = `${directory.path}/ring`;
    const watch = `cat > /dev/null; cat /proc/self/fd/3 > ${copy}`;
    const script = `D=${directory.path}; ` +
      `${SUPERVISOR} --watch 3 bash -c '${watch}' -- true ${redirections}`;
    await inTerminal(["bash", "-c", script]);
    using file = await Deno.open(copy);
    const states = new RingReader(file).streams;
    assert.deepEqual(states.map(({ stream }) => stream), ["stdout", "stderr"]);
    for (const [at, expected] of [stdout, stderr].entries()) {
      const { reason } = states[at]!;
      if (expected) assert.match(reason ?? "(read)", expected);
      else assert.equal(reason, undefined);
    }
  });
}

test("the pseudo terminal has the size of the terminal, also after a change", async () => {
  const script =
    "stty size; trap 'stty size; exit 3' WINCH; echo ready; while :; do sleep .1; done";
  const { shown, status } = await inTerminal(
    [SUPERVISOR, "--", "bash", "-c", script],
    [{ expect: "ready" }, { size: [41, 123] }],
  );
  assert.match(shown, /41 123\r\n$/);
  assert.equal(status >> 8, 3);
});

test("every byte passes a terminal in raw mode both ways", async () => {
  const all = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join("");
  const program = "import os, sys, tty; tty.setraw(0); os.write(1, b'ready'); got = b''\n" +
    "while len(got) < 256: got += os.read(0, 256)\n" +
    "os.write(1, got)";
  const { shown } = await inTerminal([SUPERVISOR, "--", "python3", "-c", program], [
    { expect: "ready" },
    { send: all },
  ]);
  assert.equal(shown, `ready${all}`);
});

test("Ctrl-C ends a workload without a handler by SIGINT", async () => {
  const { status } = await inTerminal(
    [SUPERVISOR, "--", "bash", "-c", "echo ready; exec sleep 100"],
    [{ expect: "ready" }, { send: "\x03" }],
  );
  assert.equal(status & 127, 2);
});

test("Ctrl-Z stops the workload and restores the shell's terminal, and fg continues it", async () => {
  const { shown } = await inTerminal(["bash", "--norc", "--noediting", "-i"], [
    { send: `PS1='shell> '; ${SUPERVISOR} -- python3 -i -c 'print("rea" "dy")'\n` },
    { expect: "ready" },
    { send: "\x1a" },
    { expect: "Stopped" },
    { expect: "shell> " },
    { send: "stty -a | grep -ow icanon; echo be'fore'\n" },
    { expect: "before" },
    { send: "fg\n" },
    { expect: "python3" },
    { send: "print(6 * 7)\n" },
    { expect: "42" },
    { send: "exit(5)\n" },
    { expect: "shell> " },
    { send: "echo code=$?; exit\n" },
  ]);
  assert.match(shown, /\r\nicanon\r\n/);
  assert.match(shown, /code=5/);
});

for (
  const [typed, read] of [
    ["one\ntwo\n\x04", "one\\ntwo\\n"],
    ["a\x04b\n\x04", "ab\\n"],
    ["\x04", ""],
  ] as const
) {
  test(`input typed before the start is read once: ${JSON.stringify(typed)}`, async () => {
    const read_all = `python3 -c 'import sys; print("read", repr(sys.stdin.read()))'`;
    const script = `echo ready; until read -t 0; do :; done; exec ${SUPERVISOR} -- ${read_all}`;
    const { shown, status } = await inTerminal(["bash", "-c", script], [
      { expect: "ready" },
      { send: typed },
    ]);
    assert.equal(status, 0);
    assert(shown.endsWith(`read '${read}'\r\n`), shown);
  });
}

const missingScript = (await shell("command -v script")).code === 0 ? null : "no command `script`";

testUnless(missing ?? missingScript)(
  "a script without a terminal types an end before it starts",
  async () => {
    const script = `script -qec "$S cat -v" /dev/null`;
    assert.equal((await shell(`timeout 20 ${script}`)).code, 0);
  },
);

test("three different terminals stay three", async () => {
  const program = `import os, pty, subprocess, sys
pairs = [pty.openpty() for _ in range(3)]
command = "[ -t 0 -a -t 1 -a -t 2 ] || exit; read line; echo got $line; echo wrong >&2; exit 3"
run = subprocess.Popen([*sys.argv[1:], "bash", "-c", command], **dict(
    zip(("stdin", "stdout", "stderr"), (slave for _, slave in pairs))))
for _, slave in pairs[1:]: os.close(slave)
os.write(pairs[0][0], b"hello\\n")
def shown(master):
    text = b""
    try:
        while part := os.read(master, 4096): text += part
    except OSError: pass
    return text.decode()
print(*(repr(shown(master)) for master, _ in pairs[1:]), run.wait())`;
  const { stdout } = await shell(`python3 -c '${program}' $S`);
  assert.equal(stdout, "'got hello\\r\\n' 'wrong\\r\\n' 3\n");
});

test("nohup keeps the workload from a hang-up and its output in nohup.out", async () => {
  await using directory = await temporaryDirectory();
  const script = "echo out; kill -HUP $$ $PPID; echo err >&2";
  const { status } = await inTerminal(
    ["bash", "-c", `cd ${directory.path}; nohup ${SUPERVISOR} -- bash -c '${script}'`],
  );
  assert.equal(status, 0);
  assert.match(await Deno.readTextFile(`${directory.path}/nohup.out`), /^out\nerr\n$/m);
});

test("input that a test types into a shell is not in the user's history", async () => {
  await inTerminal(["bash", "--norc", "--noediting", "-i"], [{
    send: "true typed by a test; exit\n",
  }]);
  assert.match(await Deno.readTextFile(`${HOME}/.bash_history`), /typed by a test/);
});
