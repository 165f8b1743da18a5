import fc from "fast-check";
import { expect, it } from "vitest";
import { formatCount } from "./format-number.ts";

it("groups digits as the locale en-US does", () => {
  const numbers = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -2000, max: 2000 }), fc.double({ noNaN: true }));
  fc.assert(
    fc.property(numbers, (count) => {
      expect(formatCount(count)).toBe((count + 0).toLocaleString("en-US"));
    }),
  );
});
