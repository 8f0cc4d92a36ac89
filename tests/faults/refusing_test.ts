/** Database servers that refuse, delay, cut or never send answers. */

import assert from "node:assert/strict";
import { freePort } from "../free_port.ts";
import { missingServer, testOnServer } from "../../edge/testing/each_storage.ts";
import { faultyDisk, fillAtEachChange } from "./disk.ts";
import { Ledger, range } from "./ledger.ts";
import { type Stack, startStack } from "./stack.ts";
import { isWhole } from "./table.ts";
import { missingCompiler, testUnless } from "../skipping.ts";
import { compiler } from "../doubles/cuda/build.ts";

const START = Math.floor(Date.now() / 1_000) - 1_003;
const WINDOWS = 8;
const WRITE = "insert the window";

async function newLedger(stack: Stack): Promise<Ledger> {
  return new Ledger({ key: await stack.newKey(), start: START, windows: WINDOWS });
}

testOnServer(
  "while a server refuses writes reads are answered, and uploads are stored afterwards",
  async () => {
    const admin = `127.0.0.1:${freePort()}`;
    await using stack = await startStack({ args: ["--admin-listen-addr", admin] });
    const ledger = await newLedger(stack);
    const refuseWrites = async (block_writes: boolean) => {
      const response = await fetch(`http://${admin}/v1/namespaces/default/config`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ block_reads: false, block_writes, block_reason: "quota" }),
      });
      assert.equal(response.status, 200, await response.text());
    };
    await ledger.deliver(stack, 0, stack.revive);
    await refuseWrites(true);
    assert.equal(await ledger.send(stack.url, 1), "again");
    await ledger.expectPrefix(stack.url);
    await refuseWrites(false);
    for (const i of range(1, WINDOWS)) await ledger.deliver(stack, i, stack.revive);
    await ledger.expectWhole(stack.url);
  },
);

testUnless(missingServer ?? missingCompiler(compiler))(
  "while a server's disk is full reads are answered, and uploads are stored afterwards",
  async () => {
    await using disk = await faultyDisk("/dbs/default/data");
    await using stack = await startStack({ env: disk.env });
    await fillAtEachChange(stack, disk, () => newLedger(stack));
  },
);

testOnServer("with a slow server uploads and reads wait, and none fails", async () => {
  await using stack = await startStack();
  const ledger = await newLedger(stack);
  const strike = () => new Promise((resolve) => setTimeout(resolve, 50));
  stack.proxy.arm({ when: "answered", strike, verdict: "pass", lasts: true });
  for (const i of range(0, WINDOWS)) {
    await ledger.deliver(stack, i, () => assert.fail("it answers"));
    await ledger.expectPrefix(stack.url);
  }
  stack.proxy.disarm();
  await ledger.expectWhole(stack.url);
});

testOnServer("a request is repeated if its answer is cut anywhere", async () => {
  await using stack = await startStack();
  const parts = isWhole ? range(0, 20).map((i) => i / 20) : [0.1, 0.5, 0.99];
  for (const part of parts) {
    const ledger = await newLedger(stack);
    for (const i of range(0, WINDOWS)) {
      stack.proxy.arm({ step: i % 2 ? WRITE : "read the newest errors", when: "answered", part });
      await ledger.deliver(stack, i, stack.revive);
      await ledger.expectPrefix(stack.url);
    }
    stack.proxy.disarm();
    await ledger.expectWhole(stack.url);
  }
});

for (const part of [0, 0.9]) {
  // The API waits 20 s for each answer.
  testUnless(missingServer ?? (isWhole ? null : "deno task faults has it"))(
    `a request is repeated if the server stalls after ${part * 100} % of the answer`,
    async () => {
      await using stack = await startStack();
      const ledger = await newLedger(stack);
      const stalled = Promise.withResolvers<void>();
      stack.proxy.arm({ step: WRITE, when: "answered", part, strike: () => stalled.promise });
      for (const i of range(0, WINDOWS)) await ledger.deliver(stack, i, stack.revive);
      await ledger.expectWhole(stack.url);
      stalled.resolve();
    },
  );
}
