/** Flags and variables become options; mistakes are explained in one line. */

import assert from "node:assert/strict";
import { helpText, LISTED, type Options, readOptions, UsageError } from "./options.ts";

function options(args: string[], env: Record<string, string> = {}): Options {
  const request = readOptions(args, env);
  assert("run" in request);
  return request.run;
}

Deno.test("the command starts at the first word that is no flag, and passes byte for byte", () => {
  const command = ["python", "-u", "train.py", "--tag", "x", "--", "", " a b", "0.10"];
  assert.deepEqual(options(command).command, command);
  assert.deepEqual(options(["--", ...command]).command, command);
  assert.deepEqual(options(["--tag", "a=b", "--listen-port=0", ...command]).command, command);
  assert.deepEqual(options(["--", "--version"]).command, ["--version"]);
});

Deno.test("without flags the endpoint is on loopback, no port is named, and the graph mode is graph", () => {
  const { listenHost, listenPort, metricsPort, metricsUrl, cudaGraphTrace, tags } = options([
    "true",
  ]);
  assert.deepEqual([listenHost, cudaGraphTrace, tags], ["127.0.0.1", "graph", {}]);
  assert.deepEqual([listenPort, metricsPort, metricsUrl], [undefined, undefined, undefined]);
});

Deno.test("every flag has a twin in the environment, and the flag wins", () => {
  const env = {
    SERVICE_LISTEN_HOST: "0.0.0.0",
    SERVICE_LISTEN_PORT: "1234",
    SERVICE_METRICS_PORT: "8000",
    SERVICE_METRICS_URL: "http://localhost:8000/metrics",
    SERVICE_CUDA_GRAPH_TRACE: "node",
  };
  const { listenHost, listenPort, metricsPort, metricsUrl, cudaGraphTrace } = options(
    ["true"],
    env,
  );
  assert.deepEqual(
    [listenHost, listenPort, metricsPort, metricsUrl, cudaGraphTrace],
    ["0.0.0.0", 1234, 8000, "http://localhost:8000/metrics", "node"],
  );
  assert.equal(options(["--listen-port", "99", "true"], env).listenPort, 99);
});

Deno.test("an empty variable counts as not set", () => {
  assert.equal(options(["true"], { SERVICE_LISTEN_PORT: "" }).listenPort, undefined);
});

Deno.test("tags may have equals signs, and are repeatable", () => {
  assert.deepEqual(options(["--tag", "a=b=c", "--tag=d=", "true"]).tags, { a: "b=c", d: "" });
});

Deno.test("--help and --version win over all other valid flags", () => {
  assert.deepEqual(readOptions(["--help"], {}), { print: "help" });
  assert.deepEqual(readOptions(["--version", "true"], {}), { print: "version" });
});

Deno.test("--help lists each flag and each variable once", () => {
  const lines = helpText().split("\n");
  for (const { flag, variable, help } of LISTED) {
    const matching = lines.filter((line) =>
      [flag, variable, help].every((part) => line.includes(part ?? ""))
    );
    assert.equal(matching.length, 1, help);
  }
});

Deno.test("of a flag given twice the last counts, and SERVICE_TAG is no twin of --tag", () => {
  assert.equal(options(["--listen-host", "a", "--listen-host", "b", "true"]).listenHost, "b");
  assert.deepEqual(options(["true"], { SERVICE_TAG: "a=b" }).tags, {});
});

const MISTAKES: [args: string[], says: RegExp, env?: Record<string, string>][] = [
  [[], /no command/],
  [["--"], /no command/],
  [["--listen-port", "99999", "true"], /--listen-port must be a port from 0 to 65535: got "99999"/],
  [["--listen-port", "abc", "true"], /--listen-port must be a port/],
  [["--listen-port", "-1", "true"], /listen-port/],
  [["true"], /SERVICE_LISTEN_PORT must be a port/, { SERVICE_LISTEN_PORT: "1e3" }],
  [["--metrics-port", "0", "true"], /--metrics-port must be a port from 1/],
  [["--metrics-url", "localhost:8000", "true"], /--metrics-url must be an http:/],
  [["--cuda-graph-trace", "kernel", "true"], /--cuda-graph-trace must be graph or node/],
  [["true"], /SERVICE_CUDA_GRAPH_TRACE must be graph or node/, { SERVICE_CUDA_GRAPH_TRACE: "1" }],
  [["--tag", "novalue", "true"], /--tag must be key=value/],
  [["--tag", "=v", "true"], /--tag must be key=value/],
  [["--tag", "instance.id=x", "true"], /--tag cannot name instance.id/],
  [["--nonsense", "true"], /--nonsense.*flags are --listen-host/],
  [["-x", "true"], /-x.*flags are --listen-host/],
  [["--tag"], /--tag/],
  [["--version=1", "true"], /--version/],
];

for (const [args, says, env = {}] of MISTAKES) {
  const given = [...Object.entries(env).map((pair) => pair.join("=")), ...args].join(" ");
  Deno.test(`"${given}" is refused with a line that says what is allowed`, () => {
    assert.throws(() => readOptions(args, env), (error) => {
      assert(error instanceof UsageError);
      assert.match(error.message, says);
      assert(!error.message.includes("\n"));
      return true;
    });
  });
}
