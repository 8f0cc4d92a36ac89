/** Ids of findings: docs/findings.md lists all of them, and no others. */

import assert from "node:assert/strict";

const RULES = new URL(".", import.meta.url);
const PAGE = new URL("../../docs/findings.md", import.meta.url);

Deno.test("docs/findings.md lists the findings that rules make, and no others", async () => {
  const listed = [...(await Deno.readTextFile(PAGE)).matchAll(/^\| (`[^|]*`) +\|/gm)]
    .flatMap(([, cell]) => [...cell!.matchAll(/`([a-z_]+(?:\/[a-z_]+)?)`/g)].map(([, id]) => id!));
  assert.equal(new Set(listed).size, listed.length);
  const files = await Array.fromAsync(Deno.readDir(RULES), ({ name }) => name);
  const texts = await Promise.all(
    files.filter((name) => name.endsWith(".ts") && !name.endsWith("_test.ts"))
      .map((name) => Deno.readTextFile(new URL(name, RULES))),
  );
  const made = texts.flatMap((text) =>
    [...text.matchAll(/\bid: ([^,;]*"[a-z_]+\/[a-z_]+"[^,;]*)/g)].flatMap(([, ids]) =>
      [...ids!.matchAll(/"([a-z_]+\/[a-z_]+)"/g)].map(([, id]) => id!)
    )
  );
  for (const id of new Set(made)) assert(listed.includes(id), `${id} is not listed`);
  for (const id of listed) {
    const [rule, kind = rule] = id.split("/") as [string, string?];
    // Some rules put an id together from its rule and a kind.
    const isMade = made.includes(id) || texts.some((text) => text.includes(`"${id}"`)) ||
      texts.some((text) =>
        text.includes(`\`${rule}/\${`) && new RegExp(`\\b${kind}\\b`).test(text)
      );
    assert(isMade, `${id} is made by no rule`);
  }
});
