/** Holders of ports: real sockets of processes of a run and of others, and the kernel's tables. */

import assert from "node:assert/strict";
import { freePort } from "../../../tests/free_port.ts";
import { inTime, start, type Started } from "../../../tests/command.ts";
import { temporaryDirectory } from "../../../tests/temporary_directory.ts";
import { Listeners } from "./listeners.ts";

const MARKER = "SERVICE_INSTANCE_ID=0123456789ab";

/** Listens at an address and a port, which it may share. */
const PROGRAM = `import os, socket, sys
address, port = sys.argv[1:]
s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
s.bind((address, int(port)))
s.listen()
print("ready", flush=True)
os.read(os.pipe()[0], 1)`;

interface Listening extends AsyncDisposable {
  pid: number;
}

/** A process that listens; one with `marker` is of the run. */
async function listen(
  address: string,
  port: number,
  { marked = false } = {},
): Promise<Listening> {
  const [name = "", value = ""] = MARKER.split("=");
  const words = ["python3", "-c", PROGRAM, address, String(port)];
  const started: Started = start(words, marked ? { [name]: value } : {});
  await inTime(started, started.stdout.match(/(ready)/));
  const { process } = started;
  return {
    pid: process.pid,
    async [Symbol.asyncDispose]() {
      process.kill("SIGKILL");
      await started.ended;
    },
  };
}

const holder = (listeners: Listeners, url: string) => listeners.holder(new URL(url));

for (
  const [address, host] of [
    ["127.0.0.1", "127.0.0.1"],
    ["0.0.0.0", "127.0.0.1"],
    ["::", "127.0.0.1"],
    ["::1", "[::1]"],
    ["::", "[::1]"],
    ["127.0.0.1", "localhost"],
  ]
) {
  Deno.test(`a listener on ${address} is found for ${host}, whose it is too`, async () => {
    const port = freePort();
    const url = `http://${host}:${port}/metrics`;
    const listeners = new Listeners({ root: -1, marker: MARKER });
    assert.deepEqual(await holder(listeners, url), { is: "unknown" });
    {
      await using other = await listen(address!, port);
      assert.deepEqual(await holder(listeners, url), {
        is: "other",
        who: `process ${other.pid} (python3)`,
      });
      const root = new Listeners({ root: other.pid, marker: MARKER });
      assert.equal((await holder(root, url)).is, "run");
      const parent = new Listeners({ root: Deno.pid, marker: MARKER });
      assert.equal((await holder(parent, url)).is, "run", "its parent is of the run");
    }
    assert.deepEqual(await holder(listeners, url), { is: "unknown" });
    await using _ = await listen(address!, port, { marked: true });
    assert.equal((await holder(listeners, url)).is, "run");
  });
}

Deno.test("where a process of the run shares its port with another, either may answer", async () => {
  const port = freePort();
  const listeners = new Listeners({ root: -1, marker: MARKER });
  await using _ = await listen("127.0.0.1", port, { marked: true });
  assert.equal((await holder(listeners, `http://127.0.0.1:${port}`)).is, "run");
  await using _other = await listen("127.0.0.1", port);
  assert.equal((await holder(listeners, `http://127.0.0.1:${port}`)).is, "other");
});

Deno.test("an address hides what listens at all addresses", async () => {
  const port = freePort();
  const listeners = new Listeners({ root: -1, marker: MARKER });
  await using _ = await listen("127.0.0.1", port, { marked: true });
  await using _other = await listen("::1", port);
  assert.equal((await holder(listeners, `http://127.0.0.1:${port}`)).is, "run");
  assert.equal((await holder(listeners, `http://[::1]:${port}`)).is, "other");
  assert.equal((await holder(listeners, `http://localhost:${port}`)).is, "other");
});

/** A machine with one listener on 127.0.0.1:8000, and its processes by pid: parent and, if known, sockets. */
async function machine(
  processes: Record<number, { parent: number; state?: string; sockets?: number[] }>,
) {
  const directory = await temporaryDirectory();
  const { path } = directory;
  await Deno.mkdir(`${path}/net`);
  await Deno.writeTextFile(
    `${path}/net/tcp`,
    `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 77 1 00000000a0974e3a 100 0 0 10 0
   1: 0100007F:1F40 0100007F:8F65 01 00000000:00000000 03:00000EAC 00000000     0        0 78 3 000000004a583cd3
`,
  );
  for (const [pid, { parent, state = "S", sockets }] of Object.entries(processes)) {
    await Deno.mkdir(`${path}/${pid}`);
    const rest = Array(49).fill("0").join(" ");
    await Deno.writeTextFile(`${path}/${pid}/stat`, `${pid} (p) ${state} ${parent} ${rest}\n`);
    if (sockets) await Deno.mkdir(`${path}/${pid}/fd`);
    for (const inode of sockets ?? []) {
      await Deno.symlink(`socket:[${inode}]`, `${path}/${pid}/fd/${inode}`);
    }
  }
  return directory;
}

const MACHINES: [
  what: string,
  is: string,
  processes: Parameters<typeof machine>[0],
][] = [
  ["of a grandchild", "run", {
    5: { parent: 1 },
    6: { parent: 5, sockets: [] },
    7: { parent: 6, sockets: [3, 77] },
  }],
  ["inherited by a process of the run", "run", {
    5: { parent: 1, sockets: [77] },
    4: { parent: 1, sockets: [77] },
  }],
  ["of another process", "other", {
    5: { parent: 1, sockets: [7] },
    9: { parent: 1, sockets: [77] },
  }],
  ["of a process of the run that hides it", "unknown", { 5: { parent: 1 }, 9: { parent: 1 } }],
  ["of another process, while one of the run ends", "other", {
    5: { parent: 1, state: "Z" },
    9: { parent: 1 },
  }],
  ["of another process that hides it", "other", {
    5: { parent: 1, sockets: [] },
    9: { parent: 1 },
  }],
  ["only connected", "other", { 5: { parent: 1, sockets: [78] } }],
];
for (const [what, is, processes] of MACHINES) {
  Deno.test(`a socket ${what}: ${is}`, async () => {
    await using directory = await machine(processes);
    const listeners = new Listeners({ root: 5, marker: MARKER, proc: directory.path });
    assert.equal((await holder(listeners, "http://127.0.0.1:8000/metrics")).is, is);
  });
}
