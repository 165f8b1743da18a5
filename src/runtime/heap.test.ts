import fc from "fast-check";
import { expect, it } from "vitest";
import { Heap } from "./heap.ts";

it("a heap returns its entries by key, whatever the order of pushes and pops", () => {
  const steps = fc.array(fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (keys) => {
      const heap = new Heap<number>();
      const model: number[] = [];
      for (const key of keys) {
        if (key === undefined) expect(heap.pop()).toBe(model.shift());
        else {
          heap.push(key, key);
          model.push(key);
          model.sort((one, other) => one - other);
        }
        expect([heap.size, heap.first, heap.peek()]).toEqual([model.length, model[0] ?? Infinity, model[0]]);
      }
    }),
  );
});
