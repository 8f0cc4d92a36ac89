/** Secrets leave command lines and log lines; everything else stays. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { redact, redactText } from "./redact.ts";

const R = "[redacted]";

const COMMANDS: [string[], string][] = [
  [["python", "train.py", "--lr", "1e-3"], "python train.py --lr 1e-3"],
  [["a", "b c", "it's", "", "x;y"], `a 'b c' 'it'\\''s' '' 'x;y'`],
  [["x", "--api-key", "k", "--port", "1"], `x --api-key ${R} --port 1`],
  [["x", "--api-key", "k1", "k2", "--port", "1"], `x --api-key ${R} ${R} --port 1`],
  [["x", "--HF_TOKEN=k l", "m"], `x --HF_TOKEN=${R} m`],
  [["x", "-password", "k", "m"], `x -password ${R} m`],
  [["x", "--my-Secret_thing", "-9k", "m"], `x --my-Secret_thing ${R} m`],
  [["x", "--use-token", "--model", "m"], "x --use-token --model m"],
  [["x", "--max-num-batched-tokens", "8192"], "x --max-num-batched-tokens 8192"],
  [["x", "--max-tokens=512", "--token=512"], `x --max-tokens=512 --token=${R}`],
  [["x", "--num-key-value-heads", "8", "--key", "8"], `x --num-key-value-heads 8 --key ${R}`],
  [["x", "--tokens", "abc"], `x --tokens ${R}`],
  [["env", "API_KEY=a b", "cmd"], `env API_KEY=${R} cmd`],
  [["bash", "-c", "API_KEY=x cmd --token y"], `bash -c 'API_KEY=${R} cmd --token ${R}'`],
  [["bash", "-lc", `API_KEY="x y" cmd`], `bash -lc 'API_KEY="${R}" cmd'`],
  [["docker", "run", "-e", "HF_TOKEN=x", "img"], `docker run -e HF_TOKEN=${R} img`],
  [
    ["docker", "run", "--env=A_KEY=q r", "-eB_KEY=x", "img"],
    `docker run --env=A_KEY=${R} -eB_KEY=${R} img`,
  ],
  [["x", '{"api_key": "x", "n": 3}'], `x '{"api_key": "${R}", "n": 3}'`],
  [["x", '{"secrets":{"a":"b"},"n":3}'], `x '{"secrets":${R},"n":3}'`],
  [["curl", "-H", "Authorization: Bearer abc", "u"], `curl -H 'Authorization: ${R}' u`],
  [["curl", "https://u:p@h:80/p?a=1"], `curl 'https://${R}@h:80/p?a=1'`],
  [["curl", "https://tok@h/p", "http://h:8000/a@b"], `curl https://${R}@h/p http://h:8000/a@b`],
  [["x", "DATABASE_URL=postgres://u:p@h/db"], `x DATABASE_URL=postgres://${R}@h/db`],
  [
    ["x", "https://h/?api_key=k&n=1#access_token=k"],
    `x 'https://h/?api_key=${R}&n=1#access_token=${R}'`,
  ],
];

for (const [args, line] of COMMANDS) {
  Deno.test(`the command ${JSON.stringify(args)} is written ${line}`, () => {
    assert.equal(redact(args), line);
  });
}

const TEXTS: [string, string][] = [
  ["KeyError: 'model.norm.weight'", "KeyError: 'model.norm.weight'"],
  ["loss: 0.25, tokens: 812", "loss: 0.25, tokens: 812"],
  ["password: hunter2 for bob", `password: ${R} for bob`],
  ['    api_key = "sk-1"  # old', `    api_key = "${R}"  # old`],
  ["connect(key=abc, n=2)", `connect(key=${R}, n=2)`],
  ["sent 'Authorization: Bearer abc' twice", `sent 'Authorization: Bearer ${R}' twice`],
  ["got Bearer abc back", `got Bearer ${R} back`],
  ["SECRET=https://hooks/x and https://u:p@h/", `SECRET=${R} and https://${R}@h/`],
  ["X-API-Key: abc", `X-API-Key: ${R}`],
  ['{"max_tokens": 512, "token":null}', `{"max_tokens": 512, "token":${R}}`],
  ['"{\\"api_key\\":\\"x y\\"}"', `"{\\"api_key\\":\\"${R}\\"}"`],
];

for (const [text, safe] of TEXTS) {
  Deno.test(`the text ${JSON.stringify(text)} becomes ${JSON.stringify(safe)}`, () => {
    assert.equal(redactText(text), safe);
  });
}

const word = fc.constantFrom("key", "token", "password", "secret");
const names = fc.record({ word, upper: fc.boolean(), joint: fc.constantFrom("-", "_") })
  .map(({ word, upper, joint }) => {
    const name = `my${joint}${word}${joint}file`;
    return upper ? name.toUpperCase() : name;
  });

// Long enough not to be a part of anything else, and not itself an option.
const secret = fc.string({ unit: "grapheme-ascii", minLength: 8, maxLength: 40 })
  .filter((text) => /^[^\s-]/.test(text) && !/^[\d.]+$/.test(text) && !R.includes(text));

Deno.test("a random secret never survives in a command line", () => {
  fc.assert(
    fc.property(names, secret, (name, secret) => {
      const quoted = JSON.stringify(secret);
      const url = encodeURIComponent(secret);
      const commands = [
        ["x", `--${name}`, secret, "y"],
        ["x", `-${name}`, secret],
        ["x", `--${name}=${secret}`],
        ["x", `${name}=${secret}`],
        ["x", "-e", `${name}=${secret}`],
        ["x", `--env=${name}=${secret}`],
        ["x", `{"a": 1, "${name}": ${quoted}, "b": "c"}`],
        ["x", `https://user:${url}@host/path`],
        ["x", `https://host/path?a=b&${name}=${url}&c=d`],
        ["x", "-H", `Authorization: Bearer ${secret}`],
        ["bash", "-c", `${name}=${quoted} y`],
      ];
      for (const args of commands) {
        const line = redact(args);
        for (const form of [secret, url, quoted.slice(1, -1), secret.replaceAll("'", `'\\''`)]) {
          assert.ok(!line.includes(form), `${JSON.stringify(args)} became ${line}`);
        }
      }
    }),
    { numRuns: 1000 },
  );
});

Deno.test("a random secret of one word never survives in a text", () => {
  const plain = fc.string({ unit: fc.constantFrom(..."abcXYZ019+/=_-.~!$%&*?@#^:"), minLength: 8 })
    .filter((text) => /^[a-zA-Z]/.test(text));
  fc.assert(
    fc.property(names, plain, (name, secret) => {
      const texts = [`a ${name}=${secret} b`, `a --${name} ${secret} b`, `Bearer ${secret}`]
        .concat([`{'${name}': '${secret}'}`, `${name}="${secret}"`, `Authorization: ${secret}`]);
      for (const text of texts) assert.ok(!redactText(text).includes(secret), redactText(text));
    }),
    { numRuns: 1000 },
  );
});

Deno.test("redacting again changes nothing", () => {
  for (const [, safe] of TEXTS) assert.equal(redactText(safe), safe);
});

Deno.test("hostile text is read in one pass, not again from each of its characters", () => {
  const parts = [
    "key",
    "a=",
    "token={",
    'x"',
    " ",
    "\\",
    'password=\\"',
    "://@:",
    "https://h/?key",
  ];
  for (const part of parts) {
    const text = part.repeat(60_000 / part.length);
    redactText(text);
    redact([text, `${text}=${text}`]);
  }
});
