/** The LRU cache: it evicts the least recently used entries, by number or by weight. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { Lru } from "./lru.ts";

Deno.test("a new entry evicts the least recently used", () => {
  const evicted: number[] = [];
  const cache = new Lru<string, number>({ max: 2, onEvict: (value) => evicted.push(value) });
  cache.set("a", 1);
  cache.set("b", 2);
  assert.equal(cache.get("a"), 1);
  cache.set("c", 3);
  assert.deepEqual(["a", "b", "c"].map((key) => cache.get(key)), [1, undefined, 3]);
  assert.deepEqual(evicted, [2]);
});

Deno.test("a heavy entry evicts several, and stays even if it alone is too heavy", () => {
  const cache = new Lru<string, string>({ max: 5, weigh: ({ length }) => length });
  cache.set("a", "aa");
  cache.set("b", "bb");
  cache.set("c", "ccccc");
  assert.deepEqual([cache.size, cache.weight], [1, 5]);
  cache.set("d", "dddddddd");
  assert.deepEqual([cache.size, cache.get("d")], [1, "dddddddd"]);
  cache.set("d", "d");
  assert.equal(cache.weight, 1);
});

const actions = fc.array(fc.tuple(fc.constantFrom("get", "set", "delete"), fc.nat(5), fc.nat(4)));

Deno.test("the cache holds the most recently used entries that fit together", () => {
  fc.assert(
    fc.property(actions, fc.integer({ min: 4, max: 10 }), (steps, max) => {
      const cache = new Lru<number, number>({ max, weigh: (value) => value });
      let model: [key: number, value: number][] = [];
      const without = (key: number) => model.filter(([other]) => other !== key);
      for (const [action, key, value] of steps) {
        const found = model.find(([other]) => other === key);
        if (action === "get") {
          assert.equal(cache.get(key), found?.[1]);
          if (found) model = [...without(key), found];
        } else if (action === "delete") {
          cache.delete(key);
          model = without(key);
        } else {
          cache.set(key, value);
          model = [...without(key), [key, value]];
          const weight = () => model.reduce((total, [, one]) => total + one, 0);
          while (weight() > max) model.shift();
        }
        assert.equal(cache.size, model.length);
        assert.deepEqual([...cache.values()], model.map(([, one]) => one));
        assert.equal(cache.weight, model.reduce((total, [, one]) => total + one, 0));
      }
      for (const [key, value] of model) assert.equal(cache.get(key), value);
      cache.clear();
      assert.deepEqual([cache.size, cache.weight], [0, 0]);
    }),
  );
});
