/**
 * Comparison of `ffi/devices/nvml.h` with all real headers of NVML on this machine, and with the constants
 * of the Python bindings (`$NVML_PYTHON`: a file `pynvml.py`).
 */
import assert from "node:assert/strict";
import { missingCompiler, testUnless } from "../../skipping.ts";
import { compiler } from "../cuda/build.ts";
import { evaluate, findHeaders, readDeclarations } from "./headers.ts";

const OURS = new URL("../../../ffi/devices/nvml.h", import.meta.url).pathname;

/** NVIDIA's names for what has another name in our header. */
const OTHER_NAMES: Record<string, string> = {
  NVML_UUID_SIZE: "NVML_DEVICE_UUID_V2_BUFFER_SIZE",
  NVML_NAME_SIZE: "NVML_DEVICE_NAME_V2_BUFFER_SIZE",
  NVML_VERSION_SIZE: "NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE",
  NVML_MEMORY_V2: "nvmlMemory_v2",
  NVML_TEMPERATURE_V1: "nvmlTemperature_v1",
  NVML_GPM_VERSION: "NVML_GPM_METRICS_GET_VERSION",
};

/** Without a name in NVIDIA's header: its text has the value. */
const NAMELESS = ["NVML_ALL_LINKS", "NVML_NO_INSTANCE", "NVML_GPM_METRICS", "NVML_FUNCTIONS"];

/** Longer than NVIDIA's on purpose: for drivers that know more metrics. */
const LONGER = ["nvmlGpmMetricsGet_t", "nvmlGpmMetricsGet_t.metrics: size"];

/** Fields under other numbers in drivers of CUDA 12, which are not asked for them. */
const SINCE_13 = /^NVML_FI_DEV_CLOCKS_EVENT_REASON_/;

const ours = readDeclarations(await Deno.readTextFile(OURS));
for (const name of NAMELESS) ours.constants.delete(name);
for (const name of ours.constants) if (name.startsWith("SERVICE_")) ours.constants.delete(name);

const headers = await findHeaders();
const test = testUnless(missingCompiler(compiler) ?? (headers.length > 0 ? null : "no nvml.h"));

for (const header of headers.length > 0 ? headers : ["none"]) {
  test(`our NVML agrees with ${header}`, async () => {
    const text = await Deno.readTextFile(header);
    const theirs = readDeclarations(text);
    const version = Number(/#define NVML_API_VERSION +(\d+)/.exec(text)?.[1]);
    const constants = [...ours.constants].filter((name) =>
      theirs.constants.has(OTHER_NAMES[name] ?? name) && (version >= 13 || !SINCE_13.test(name))
    );
    const structures = [...ours.structures].flatMap(([name, fields]) => {
      const known = theirs.structures.get(name);
      return known ? [[name, fields.filter((field) => known.includes(field))] as const] : [];
    });
    const mine = await evaluate(OURS, {
      constants: new Set(constants),
      structures: new Map(structures),
    });
    const real = await evaluate(header, {
      constants: new Set(constants.map((name) => OTHER_NAMES[name] ?? name)),
      structures: new Map(structures),
    });
    for (const [name, value] of mine) {
      const expected = real.get(OTHER_NAMES[name] ?? name);
      if (LONGER.includes(name)) assert(Number(value) >= Number(expected), name);
      else assert.equal(value, expected, name);
    }
    for (const [name, parameters] of ours.functions) {
      const expected = theirs.functions.get(name);
      if (expected !== undefined) assert.equal(parameters, expected, name);
    }
  });
}

test("all that we declare is in one of NVIDIA's headers", async () => {
  const all = await Promise.all(
    headers.map(async (header) => readDeclarations(await Deno.readTextFile(header))),
  );
  const unknown = [
    ...[...ours.constants].filter((name) =>
      !all.some(({ constants }) => constants.has(OTHER_NAMES[name] ?? name))
    ),
    ...[...ours.structures].flatMap(([name, fields]) =>
      fields.filter((field) => !all.some(({ structures }) => structures.get(name)?.includes(field)))
        .map((field) => `${name}.${field}`)
    ),
    ...[...ours.functions.keys()].filter((name) =>
      !all.some(({ functions }) => functions.has(name))
    ),
  ];
  assert.deepEqual(unknown, []);
  assert(ours.functions.size > 20 && ours.structures.size > 5 && ours.constants.size > 50);
});

const bindings = Deno.env.get("NVML_PYTHON");
testUnless(missingCompiler(compiler) ?? (bindings ? null : "no pynvml.py"))(
  "our constants agree with those of the Python bindings",
  async () => {
    const text = await Deno.readTextFile(bindings!);
    const theirs = new Map(
      Array.from(
        text.matchAll(/^((?:NVML|nvml)\w+)\s*=\s*(0x[0-9a-fA-F]+|\d+)\b/gm),
        ([, name, value]) => [name!, String(BigInt(value!))],
      ),
    );
    const mine = await evaluate(OURS, { constants: ours.constants, structures: new Map() });
    const shared = [...mine].filter(([name]) => theirs.has(name));
    assert(shared.length > 50);
    for (const [name, value] of shared) assert.equal(value, theirs.get(name), name);
  },
);
