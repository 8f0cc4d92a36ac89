/** The native supervisor: streams, descriptors, signals, the ring and the watcher. */

import assert from "node:assert/strict";
import { RingReader } from "../../local/sources/console/ring.ts";
import { run, start } from "../command.ts";
import { testUnless } from "../skipping.ts";
import { inTerminal, missing, ROOT, shell, SUPERVISOR, test } from "./supervisor.ts";
import { startRun, until, watcherOf } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

test("hundreds of megabytes pass a pipe unchanged", async () => {
  const generator = "head -c 256M /dev/zero | openssl enc -aes-128-ctr -K 0 -iv 0 2> /dev/null";
  const { stdout } = await shell(`${generator} | md5sum; ${generator} | $S cat | md5sum`);
  const [plain, passed] = stdout.trim().split("\n");
  assert.equal(passed, plain);
});

test("a closed reader ends the writer as without the supervisor", async () => {
  const { stdout } = await shell("$S yes | head -n 1; echo ${PIPESTATUS[@]}");
  assert.equal(stdout, "y\n141 0\n");
});

test("a closed reader is noticed before the next write", async () => {
  const script = "$S bash -c 'echo; sleep 0.5; echo; echo no >&2' | head -n 1";
  assert.equal((await shell(script)).stderr, "");
});

test("stdout and stderr with one destination keep their order", async () => {
  const script = "for i in {1..500}; do echo $i; echo $i >&2; done";
  const { stdout } = await shell(
    `$S bash -c '${script}' 2>&1 | uniq -c | awk '{ print $1 }' | uniq`,
  );
  assert.equal(stdout, "2\n");
});

test("a file is the workload's own, to seek and to append", async () => {
  await using directory = await temporaryDirectory();
  const file = `${directory.path}/out`;
  await shell(`echo one > ${file}; $S echo two >> ${file}; $S python3 -c '
import os
os.write(1, b"12345"); os.lseek(1, 1, 0); os.write(1, b"x")' > ${file}.2`);
  assert.equal(await Deno.readTextFile(file), "one\ntwo\n");
  assert.equal(await Deno.readTextFile(`${file}.2`), "1x345");
});

test("output to a socket is complete, and its closed reader is noticed", async () => {
  const program = `import hashlib, socket, subprocess, sys
for limit, *command in ((1 << 30, "bash", "-c", "seq 1000000; exit 3"), (1000, "yes")):
    ours, theirs = socket.socketpair()
    run = subprocess.Popen(sys.argv[1:] + command, stdout=theirs)
    theirs.close()
    got = b""
    while len(got) < limit and (part := ours.recv(65536)):
        got += part
    ours.close()
    print(run.wait(), hashlib.md5(got).hexdigest() if limit > 1000 else "")`;
  const { stdout } = await shell(`seq 1000000 | md5sum; python3 -c '${program}' $S`);
  const [plain, ...passed] = stdout.split("\n");
  assert.deepEqual(passed, [`3 ${plain!.split(" ")[0]}`, "-13 ", ""]);
});

test("inherited descriptors are passed to the workload, and no others", async () => {
  const list = "ls /proc/self/fd | tr '\\n' ' '";
  const { stdout } = await shell(`bash -c "${list}"; echo; $S bash -c "${list}" 2>&1`);
  const [alone, under] = stdout.trim().split("\n");
  assert.equal(under!.trim(), alone!.trim());
  assert.equal((await shell("$S bash -c 'echo three >&3' 3>&1 | cat")).stdout, "three\n");
});

test("any number of descriptors is passed on, and closed in the supervisor", async () => {
  const program = `import os, resource, select, subprocess, sys
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
if most < 6000: raise SystemExit(print("eof 0"))
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
end, pipe = os.pipe()
passed = list(range(1000, 6000))
for fd in passed: os.dup2(pipe, fd)
close = "import os, sys; os.write(5999, b'x'); os.closerange(3, 6000); sys.stdin.read()"
run = subprocess.Popen([*sys.argv[1:], sys.executable, "-c", close],
                       stdin=subprocess.PIPE, pass_fds=passed)
os.closerange(1000, 6000), os.close(pipe), os.read(end, 1)
ready, _, _ = select.select([end], [], [], 20)
print("eof" if ready and os.read(end, 1) == b"" else "held", end=" ")
run.stdin.close()
print(run.wait())`;
  assert.equal((await shell(`python3 -c "$0" $S`, program)).stdout, "eof 0\n");
});

test("the watcher gets no other descriptor, also if close_range() is not allowed", async () => {
  // A seccomp filter as in old container runtimes, then the supervisor with a high descriptor.
  const program = `import ctypes, os, resource, struct, sys
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
load, equal, refuse, allow = 0x20, 0x15, 0x06, 0x06
code = b"".join(struct.pack("HBBI", *step) for step in (
    (load, 0, 0, 0), (equal, 0, 1, 436), (refuse, 0, 0, 0x50000 | 1), (allow, 0, 0, 0x7fff0000)))
kept = ctypes.create_string_buffer(code)
rules = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(kept)))
libc = ctypes.CDLL(None)
zero = ctypes.c_ulong(0)
if libc.prctl(38, ctypes.c_ulong(1), zero, zero, zero) or libc.prctl(22, ctypes.c_ulong(2), rules, zero, zero):
    raise SystemExit(print("0 1 2 3 filtered: no"))
os.dup2(1, min(most, 6000) - 1)
os.execv(sys.argv[1], sys.argv[1:])`;
  await using directory = await temporaryDirectory();
  const file = `${directory.path}/open`;
  const watch = `ls /proc/self/fd > ${file}.part; mv ${file}.part ${file}; cat > /dev/null`;
  const words = `--watch 3 bash -c "${watch}" -- bash -c "until [ -e ${file} ]; do :; done"`;
  const { stdout } = await shell(`python3 -c "$0" ${SUPERVISOR} ${words}`, program);
  if (stdout.includes("filtered: no")) return;
  // The last one belongs to the listing itself.
  const open = (await Deno.readTextFile(file)).trim().split("\n");
  assert.deepEqual(open, ["0", "1", "2", "3", "4", "5", "6"]);
});

test("standard streams that are closed stay closed, and the others still pass", async () => {
  const program = `import os
def is_open(fd):
    try: return bool(os.fstat(fd))
    except OSError: return False
os.write(2, str([is_open(fd) for fd in range(3)]).encode())`;
  const script = `{ $S python3 -c "$0" <&- >&-; echo " $?" >&2; } 2>&1 | cat`;
  assert.equal((await shell(script, program)).stdout, "[False, False, True] 0\n");
});

test("any number of variables is set for the workload only", async () => {
  const names = Array.from({ length: 500 }, (_, i) => `VARIABLE_${i}`);
  const sets = names.map((name, i) => `--set ${name}=${i}`).join(" ");
  const count = "bash -c 'env | grep -c ^VARIABLE_'";
  const watch = `--watch 3 bash -c 'env | grep ^VARIABLE_ >&2; cat > /dev/null'`;
  const { stdout, stderr } = await shell(`${SUPERVISOR} ${sets} ${watch} -- ${count}`);
  assert.equal(stdout, "500\n");
  assert.equal(stderr, "");
});

test("the message about a command that cannot be started is never cut", async () => {
  const name = "x".repeat(3_000);
  const { stderr, code } = await shell(`$S ./${name}`);
  assert.equal(code, 126);
  assert.match(stderr, /^service-run: \.\/x{3000}: .+\n$/);
});

test("output of a grandchild after the end is delivered, and the exit does not wait for it", async () => {
  await using directory = await temporaryDirectory();
  const left = `${directory.path}/left`;
  const late = `(until [ -e ${left} ]; do sleep 0.01; done; echo late) & echo early`;
  const { stdout } = await shell(`{ $S bash -c '${late}'; echo left; : > ${left}; } | cat`);
  assert.equal(stdout, "early\nleft\nlate\n");
});

test("signals that the shell ignored stay ignored, and no others", async () => {
  const look = "grep -E 'SigIgn|SigBlk' /proc/self/status";
  const { stdout } = await shell(`trap '' HUP; (${look}); echo; $S ${look}`);
  const [alone, under] = stdout.split("\n\n");
  assert.equal(under!.trim(), alone);
  assert.match(under!, /SigIgn:.*[13579bdf]\n/);
});

test("the workload dies when the supervisor is killed", async () => {
  const supervisor = start([SUPERVISOR, "--", "bash", "-c", "echo $$; exec sleep 100"]);
  const pid = await supervisor.stdout.match(/(\d+)\n/);
  supervisor.process.kill("SIGKILL");
  await supervisor.ended;
  const state = () => Deno.readTextFile(`/proc/${pid}/stat`).catch(() => "");
  await until(async () => /^$|\) Z /.test(await state()));
});

const UNSHARE = "unshare --user --map-root-user --pid --fork --mount-proc";
const missingNamespaces = (await shell(`${UNSHARE} true`)).code === 0 ? null : "no user namespaces";

testUnless(missing ?? missingNamespaces)(
  "orphans are reaped if the supervisor is process 1",
  async () => {
    // An orphan that was not reaped still accepts signals.
    const orphans = "pids=$(for i in 1 2 3; do (sleep 0.1 > /dev/null & echo $!); done); " +
      "for pid in $pids; do while kill -0 $pid 2> /dev/null; do :; done; done; echo $pids";
    const { stdout } = await shell(`${UNSHARE} $S bash -c '${orphans}' | cat`);
    assert.match(stdout, /^\d+ \d+ \d+\n$/);
  },
);

/** A program that works for a number of seconds of processor time. */
const works = (seconds: number) =>
  `python3 -c 'import time\nwhile time.process_time() < ${seconds}: pass'`;

for (const terminal of [false, true]) {
  test(`the end tells the time of the workload and its orphans: ${terminal ? "in a terminal" : "with pipes"}`, async () => {
    await using directory = await temporaryDirectory();
    const file = `${directory.path}/messages`;
    const orphan = `(${works(0.2)} > /dev/null; : > ${directory.path}/over) &`;
    const wait = `until [ -e ${directory.path}/over ]; do sleep 0.01; done; sleep 0.1`;
    await Deno.writeTextFile(`${directory.path}/work`, `(${orphan})\n${works(0.3)}\n${wait}\n`);
    // What this shell has waited for before it becomes the supervisor is not the workload's.
    const watcher = `--watch 3 sh -c 'cat > ${file}'`;
    const script = `${works(0.7)}; exec ${SUPERVISOR} ${watcher} -- sh ${directory.path}/work`;
    if (terminal) await inTerminal(["bash", "-c", script]);
    else await run(["bash", "-c", script]);
    const [, user = NaN, system = NaN] =
      /^exit 0 \d+ (\d+) (\d+)$/m.exec(await Deno.readTextFile(file))?.map(Number) ?? [];
    const seconds = (user + system) / 1e6;
    assert(seconds > 0.5 && seconds < 0.7, `${seconds} s`);
  });
}

testUnless(missing ?? missingNamespaces)(
  "a run that is process 1 of a container leaves no watcher behind, which would die with it",
  async () => {
    await using directory = await temporaryDirectory();
    const { path } = directory;
    const words = `${Deno.execPath()} run -A --quiet ${ROOT}mod.ts --listen-port 0 -- true`;
    await shell(`CI= XDG_STATE_HOME=${path} ${UNSHARE} ${words}`);
    const names = await Array.fromAsync(Deno.readDir(`${path}/service`), ({ name }) => name);
    assert(names.some((name) => name.endsWith(".json")), names.join());
  },
);

for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
  test(`${signal} of the watcher changes neither output nor exit code`, async () => {
    await using directory = await temporaryDirectory();
    const go = `${directory.path}/go`;
    const script =
      `until [ -e ${go} ]; do sleep 0.01; done; head -c 50M /dev/zero | tr '\\0' x; exit 9`;
    await using work = startRun(["bash", "-c", script], { directory: directory.path });
    await work.url;
    const watcher = await watcherOf(work);
    assert.notEqual(watcher, work.process.pid);
    Deno.kill(watcher, signal);
    await Deno.writeTextFile(go, "");
    const { status, stdout } = await work.ended;
    if (signal === "SIGSTOP") Deno.kill(watcher, "SIGKILL");
    assert.equal(status.code, 9);
    assert.equal(stdout.length, 50 << 20);
    assert.match(stdout, /^x*$/);
  });
}

test("a supervisor killed at any moment leaves a ring of complete records", async () => {
  await using directory = await temporaryDirectory();
  // All output to a socket is copied to the ring: the supervisor spends much time in writing it.
  const program = `import os, random, socket, subprocess, sys, time
supervisor, directory = sys.argv[1:]
for i in range(1, 61):
    copy = f"{directory}/{i}"
    watch = f": > {copy}.up; cat > /dev/null; cat /proc/self/fd/3 > {copy}.part; mv {copy}.part {copy}"
    ours, theirs = socket.socketpair()
    reader = subprocess.Popen(["cat"], stdin=ours, stdout=subprocess.DEVNULL)
    run = subprocess.Popen([supervisor, "--watch", "3", "bash", "-c", watch, "--", "yes", "012345"],
                           stdout=theirs)
    ours.close(), theirs.close()
    while not os.path.exists(copy + ".up"): time.sleep(0.001)
    time.sleep(random.random() / 20)
    run.kill(), run.wait(), reader.wait()
    while not os.path.exists(copy): time.sleep(0.01)`;
  await shell(`python3 -c '${program}' ${SUPERVISOR} ${directory.path}`);
  const line = "012345\n";
  for (let i = 1; i <= 60; i++) {
    using file = await Deno.open(`${directory.path}/${i}`);
    const reader = new RingReader(file);
    const texts = reader.read().map(({ bytes }) => new TextDecoder().decode(bytes));
    const size = texts.reduce((sum, { length }) => sum + length, 0);
    const end = reader.lost_bytes + size;
    // Only a flood may lose bytes, so each byte must be at its position in a line.
    for (const text of texts) {
      const first = line.indexOf(text[0]!);
      assert.equal(text, line.repeat(text.length / 7 + 2).slice(first, first + text.length));
    }
    if (size > 0) assert.equal(texts.at(-1)!.at(-1), line[(end - 1) % 7]);
  }
});

test("a reader gets all records that it reads in time, and the ring counts the lost bytes", async () => {
  await using directory = await temporaryDirectory();
  const read = async (command: string) => {
    const copy = `${directory.path}/${crypto.randomUUID()}`;
    const copies = `cat /proc/self/fd/3 > ${copy}.part; mv ${copy}.part ${copy}`;
    const watcher = `--watch 3 bash -c "cat > /dev/null; ${copies}"`;
    await shell(`${SUPERVISOR} ${watcher} -- ${command} | cat > /dev/null`);
    // The command's end does not wait for the watcher's.
    using file = await until(() => Deno.open(copy).catch(() => undefined));
    const reader = new RingReader(file);
    const chunks = reader.read();
    assert.equal(reader.read().length, 0);
    return {
      chunks,
      lost: reader.lost_bytes,
      size: chunks.reduce((n, { bytes }) => n + bytes.length, 0),
    };
  };
  const few = await read("bash -c 'printf out; printf err >&2'");
  assert.equal(few.lost, 0);
  const texts = few.chunks.map(({ bytes }) => new TextDecoder().decode(bytes));
  assert.deepEqual(texts.sort(), ["err", "out"]);
  const many = await read("seq 1000000");
  assert.equal(many.lost + many.size, 6_888_896);
  assert(many.size > 500_000 && many.size <= 1 << 20);
  const last = new TextDecoder().decode(many.chunks.at(-1)!.bytes);
  assert(last.endsWith("999999\n1000000\n"));
});

const corePattern = await Deno.readTextFile("/proc/sys/kernel/core_pattern").catch(() => "/");
const missingCores = /[|/@]/.test(corePattern) ? "cores are not files beside the workload" : null;

testUnless(missing ?? missingCores)(
  "a core dump is in the wait status, and the workload's core file stays",
  async () => {
    await using directory = await temporaryDirectory();
    const program = `import os, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
pid = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
print(os.WCOREDUMP(os.waitpid(pid, 0)[1]))`;
    const { stdout } = await shell(
      `cd ${directory.path} && ulimit -c unlimited 2> /dev/null && python3 -c '${program}' $S bash -c 'kill -SEGV $$'`,
    );
    if (stdout === "") return;
    assert.equal(stdout, "True\n");
    const [core] = Array.from(Deno.readDirSync(directory.path));
    assert((await Deno.stat(`${directory.path}/${core!.name}`)).size > 4_096);
  },
);

/** Runs the supervisor with a watcher, and returns what it has written when the supervisor has ended. */
async function withWatcher(watch: string, { leave, command }: { leave: boolean; command: string }) {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  const words = ["--watch 3 bash -c", `'${watch}'`, `-- bash -c '${command}'`];
  const script = `cd ${path} && ${SUPERVISOR} ${leave ? "--leave" : ""} ${words.join(" ")}`;
  const read = () => Deno.readTextFile(`${path}/read`).catch(() => null);
  const { code } = await shell(script);
  const atEnd = await read();
  await Deno.writeTextFile(`${path}/go`, "");
  return { code, atEnd, later: await until(read) };
}

const MESSAGES = /^pid \d+\nexit 7 \d{19} \d+ \d+\n$/;

test("--leave: a watcher that is still starting is not waited for, and reads everything", async () => {
  const watch = "until [ -e go ]; do sleep 0.01; done; cat > part; mv part read";
  const { code, atEnd, later } = await withWatcher(watch, { leave: true, command: "exit 7" });
  assert.equal(code, 7);
  assert.equal(atEnd, null);
  assert.match(later ?? "", MESSAGES);
});

for (const leave of [false, true]) {
  test(`a watcher that has begun is waited for, ${leave ? "also with" : "without"} --leave`, async () => {
    const watch =
      "read line; : > begun; { echo $line; cat; } > part; for i in {1..9}; do sleep 0.01; done; mv part read";
    const command = "until [ -e begun ]; do :; done; exit 7";
    const { code, atEnd } = await withWatcher(watch, { leave, command });
    assert.equal(code, 7);
    assert.match(atEnd ?? "", MESSAGES);
  });
}

test("a watcher is told of the signals that may end the workload, and of no others", async () => {
  const watch = "read line; : > begun; { echo $line; cat; } > part; mv part read";
  const { code, atEnd } = await withWatcher(watch, {
    leave: false,
    command: `trap ": > usr" USR1; trap "exit 7" TERM; until [ -e begun ]; do :; done
      kill -USR1 $PPID; until [ -e usr ]; do :; done; kill -TERM $PPID; while :; do :; done`,
  });
  assert.equal(code, 7);
  assert.match(atEnd ?? "", /^pid \d+\nsent 15\nexit 7 \d{19} \d+ \d+\n$/);
});

test("without --leave a watcher that is still starting is waited for", async () => {
  const watch = "sleep 0.1; cat > part; mv part read";
  const { atEnd } = await withWatcher(watch, { leave: false, command: "exit 7" });
  assert.match(atEnd ?? "", MESSAGES);
});

test("a watcher that does not start is reported in one line, and the workload runs", async () => {
  const { stdout, stderr, code } = await shell(
    `${SUPERVISOR} --watch 1 /no/such/watcher -- bash -c 'echo out; exit 7'`,
  );
  assert.equal(code, 7);
  assert.equal(stdout, "out\n");
  assert.match(stderr, /^service-run: no profile, the workload runs without one: .*\n$/);
});

Deno.test("without the native part the workload runs, and the payload has the reason", async () => {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  await Deno.mkdir(`${path}/edge`);
  await run(["cp", "-r", `${ROOT}core`, `${ROOT}local`, path]);
  for (const file of ["mod.ts", "deno.json", "edge/deno.json"]) {
    await Deno.copyFile(ROOT + file, `${path}/${file}`);
  }
  const args = ["--listen-port", "0", "--", "bash", "-c", "echo out; exit 7"];
  const words = [Deno.execPath(), "run", "-A", "--quiet", "--no-lock", `${path}/mod.ts`, ...args];
  const env = { SERVICE_SNAPSHOT_FILE: `${path}/last.json`, SERVICE_STATE_DIR: `${path}/state` };
  const { status, stdout } = await run(words, env);
  assert.equal(status.code, 7);
  assert.equal(stdout, "out\n");
  assert.match(await Deno.readTextFile(`${path}/last.json`), /native supervisor is not built/);
  const [runFile] = await Array.fromAsync(Deno.readDir(`${path}/state/runs`));
  assert((await Deno.stat(`${path}/state/runs/${runFile!.name}`)).size > 0);
});
