/** Demangling, compared with `c++filt`, and with names that no compiler writes. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { command } from "../../../tests/command.ts";
import { testUnless } from "../../../tests/skipping.ts";
import { demangle, demangleStart } from "./demangle.ts";

const MANGLED = [
  ...await lines("mangled_symbols.txt"),
  ...(await lines("kernel_symbols.tsv")).map((line) => line.split("\t").at(-1)!),
].filter((symbol) => symbol.startsWith("_Z"));

async function lines(file: string): Promise<string[]> {
  const text = await Deno.readTextFile(new URL(`../testdata/${file}`, import.meta.url));
  return text.split("\n").filter((line) => line && !line.startsWith("#"));
}

const testBesideFilter = testUnless(await hasFilter() ? null : "no c++filt");

async function hasFilter(): Promise<boolean> {
  const { success } = await command(["sh", "-c", "command -v c++filt"]).output();
  return success;
}

async function filtered(symbols: readonly string[]): Promise<string[]> {
  const process = command(["c++filt"], { stdin: "piped", stdout: "piped" }).spawn();
  const [{ stdout }] = await Promise.all([
    process.output(),
    new Blob([symbols.map((symbol) => `${symbol}\n`).join("")]).stream().pipeTo(process.stdin),
  ]);
  return new TextDecoder().decode(stdout).trimEnd().split("\n");
}

testBesideFilter("names are demangled as c++filt does it", async () => {
  const expected = await filtered(MANGLED);
  MANGLED.forEach((symbol, at) => {
    // It gives up on some long ones, and older releases do not know all types.
    const isKnown = expected[at] !== symbol;
    if (isKnown) assert.equal(demangle(symbol), expected[at], symbol);
    else assert.ok(demangle(symbol), symbol);
  });
});

Deno.test("parts of the grammar are written as C++ has them", () => {
  const names: Record<string, string> = {
    _Z6kernelv: "kernel()",
    _Z6kernelPKfPfi: "kernel(float const*, float*, int)",
    _ZN12_GLOBAL__N_16kernelIfLi4ELb1ELj7ELln1EEEvPT_:
      "void (anonymous namespace)::kernel<float, 4, true, 7u, -1l>(float*)",
    _Z1fIJifdEEvDpT_: "void f<int, float, double>(int, float, double)",
    _Z1fIJEEvDpT_: "void f<>()",
    _Z1fPFvPA3_iE: "f(void (*)(int (*) [3]))",
    _Z1fPFPFvfEiE: "f(void (*(*)(int))(float))",
    _Z1fMN1A1BEKFviE: "f(void (A::B::*)(int) const)",
    _ZZ1fvENKUlT_E_clIiEEDaS_: "auto f()::{lambda(auto:1)#1}::operator()<int>(int) const",
    _ZSt4swapIcEvRT_S1_: "void std::swap<char>(char&, char&)",
    _Z1fIRiEvOT_: "void f<int&>(int&)",
    _Z1fISaIcEEvv: "void f<std::allocator<char> >()",
    _Z1fILN1A1EE2EEvv: "void f<(A::E)2>()",
    _Z1fIJiEENSt9enable_ifIXgtsZT_Li0EEvE4typeEv: "std::enable_if<((1)>(0)), void>::type f<int>()",
    "_Z1fv.kd": "f() [clone .kd]",
  };
  for (const [symbol, expected] of Object.entries(names)) assert.equal(demangle(symbol), expected);
});

Deno.test("a name that is not mangled, or not to its end, is none", () => {
  for (
    const text of ["", "kernel", "_Z", "_Z6kern", "_Z1fT_", "_Z1fS_", "_Z1fS5_", "_Z1fvE", "_Z1f!"]
  ) {
    assert.equal(demangle(text), null, text);
  }
});

Deno.test("of a name that is cut off the start is written", () => {
  const starts: Record<string, string> = {
    _ZN2at6native13reduce_kernelILi512ELi1EN: "at::native::reduce_kernel<512, 1, …>",
    _ZN2at6native13reduce_ker: "at::native::reduce_ker",
    _Z6kernelIfEvPT_iP: "void kernel<float>(float*, int, …*)",
    _Z1fILi12: "f<12>",
  };
  for (const [symbol, expected] of Object.entries(starts)) {
    assert.equal(demangleStart(symbol), expected);
    assert.equal(demangle(symbol), null);
  }
});

/** Limits that the documentation of `demangle` states. */
const MAX_LENGTH = 65_536;

Deno.test("names that would grow without bound have an end", () => {
  const doubled = Array.from({ length: 60 }, (_, at) => {
    const last = at === 0 ? "S_" : `S${(at - 1).toString(36).toUpperCase()}_`;
    return `St4pairI${last}${last}E`;
  });
  const hostile = [
    `_Z1f${doubled.join("")}`,
    `_Z1fIiE${"vPT_".repeat(1_000)}`,
    `_Z1f${"P".repeat(8_000)}i`,
    `_Z1f${"PF".repeat(300)}i${"vE".repeat(300)}`,
    `_Z${"Z".repeat(4_000)}1fvE1gvE`,
    `_Z1fIX${"ng".repeat(2_000)}Li1EEEvv`,
    `_Z1fI${"J".repeat(2_000)}`,
    `_Z1f${"Dp".repeat(500)}T_`,
    `_Z1fIJ${"i".repeat(50)}EEv${"DpSt4pairIT_".repeat(30)}T_${"E".repeat(30)}`,
    `_Z999999999999f`,
    `_Z1fS${"Z".repeat(5_000)}_`,
    `_Z${"1f".repeat(8_000)}`,
  ];
  for (const symbol of hostile) {
    const found = demangle(symbol);
    assert.ok(found === null || found.length <= MAX_LENGTH, symbol.slice(0, 40));
  }
});

Deno.test("changed and cut names are answered with a name or none", () => {
  const alphabet = "0123456789_EIJLNSTXZPRKDFUaitvlfspcd";
  fc.assert(
    fc.property(
      fc.constantFrom(...MANGLED),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(...alphabet)), { maxLength: 4 }),
      fc.nat(),
      (symbol, changes, end) => {
        const letters = [...symbol];
        for (const [at, letter] of changes) letters[2 + at % (letters.length - 2)] = letter;
        const found = demangle(letters.slice(0, 2 + end % letters.length).join(""));
        assert.ok(found === null || found.length <= MAX_LENGTH);
        const start = demangleStart(symbol.slice(0, end % symbol.length));
        assert.ok(start === null || start.length <= MAX_LENGTH);
      },
    ),
    { numRuns: 3_000 },
  );
});
