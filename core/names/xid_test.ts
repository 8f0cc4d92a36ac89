/** Meanings of XID numbers. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { describeXid } from "./xid.ts";

/** In use on Ampere and later, by NVIDIA's catalogue: those that it does not call unused. */
const IN_USE = (
  "8 11 13 14 25 31 32 37 38 39 40 41 43 44 45 46 48 54 60 62 63 64 66 67 68 69 70 71 " +
  "72 74 75 76 77 78 79 80 82 83 84 85 86 88 89 92 93 94 95 96 97 98 99 100 101 102 103 " +
  "104 105 106 107 109 110 119 120 121 126 127 128 129 130 131 132 133 134 135 136 137 " +
  "139 140 141 142 143 144 145 146 147 148 149 150 151 152 153 154 155 156 157 158 159 " +
  "160 161 162 163 164 165 166 167 168 169 170 171 172"
).split(" ").map(Number);

Deno.test("every XID in use has a meaning and an action", () => {
  const unknown = describeXid(-1).meaning;
  assert.deepEqual(IN_USE.filter((xid) => describeXid(xid).meaning === unknown), []);
});

Deno.test("XIDs are told by what they ask for", () => {
  assert.match(describeXid(79).meaning, /fallen off the bus/);
  assert.match(describeXid(79).act, /Reboot/);
  assert.match(describeXid(31).meaning, /page fault/);
  assert.equal(describeXid(63).level, "warning");
  assert.equal(describeXid(64).level, "error");
});

Deno.test("a number that no catalogue has is an error to look up", () => {
  fc.assert(fc.property(fc.integer({ min: 1000 }), (xid) => {
    const { meaning, act, level } = describeXid(xid);
    assert.match(meaning, /not in the catalogue/);
    assert.match(act, /dmesg/);
    assert.equal(level, "error");
  }));
  assert.match(describeXid(999).meaning, /without a number/);
});

Deno.test("meanings end a sentence, actions are sentences", () => {
  fc.assert(fc.property(fc.constantFrom(...IN_USE, 999, 1_000), (xid) => {
    const { meaning, act } = describeXid(xid);
    assert.match(meaning, /^(a|an|the|bad|many|power|rotating|corrected|unencrypted) .*[^.]$/);
    assert.match(act, /^[A-Z].*\.$/);
  }));
});
