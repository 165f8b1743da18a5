/** The contract of everything that keeps bodies. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Bodies } from "../../../src/store/bodies/bodies.ts";

/** One empty place to keep bodies in, and ways into it. */
export type BodiesSite = {
  /** Another way in to the same place, as another process would have it. */
  open(): Promise<Bodies>;
  remove(): Promise<void>;
};

export function describeBodies(name: string, prepare: () => Promise<BodiesSite>): void {
  describe(`bodies contract on ${name}`, () => {
    let site: BodiesSite;
    let bodies: Bodies;

    beforeEach(async () => {
      site = await prepare();
      bodies = await site.open();
    });
    afterEach(() => site.remove());

    it("gives back any body, byte for byte", async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 5000 }), async (bytes) => {
          const ref = await bodies.put(Buffer.from(bytes));
          expect(await bodies.get(String(ref))).toEqual(Buffer.from(bytes));
        }),
        { numRuns: 25 },
      );
    });

    it("keeps a large body", async () => {
      const body = Buffer.from(Array.from({ length: 300_000 }, (_, n) => `line ${n}`).join("\n"));

      expect(body.equals((await bodies.get(String(await bodies.put(body)))) ?? Buffer.alloc(0))).toBe(true);
    });

    it("names a body by what is in it", async () => {
      const ref = await bodies.put(Buffer.from("page"));

      expect(ref).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(await bodies.put(Buffer.from("page"))).toBe(ref);
      expect(await bodies.put(Buffer.from("another page"))).not.toBe(ref);
    });

    it("lets many put the same body at once", async () => {
      const ways = [bodies, await site.open(), await site.open()];
      const body = Buffer.from("the same page ".repeat(5000));

      const refs = await Promise.all(ways.flatMap((way) => Array.from({ length: 5 }, () => way.put(body))));

      expect(new Set(refs).size).toBe(1);
      expect(await bodies.get(String(refs[0]))).toEqual(body);
    });

    it("shows a body to whoever opens the place later", async () => {
      const ref = await bodies.put(Buffer.from("page"));

      expect(await (await site.open()).get(String(ref))).toEqual(Buffer.from("page"));
    });

    it("finds nothing under references it never gave", async () => {
      await bodies.put(Buffer.from("page"));

      for (const ref of [`sha256:${"0".repeat(64)}`, "sha256:../../secret", "", "md5:00", "../../../etc/passwd"]) {
        expect(await bodies.get(ref)).toBeUndefined();
      }
    });
  });
}
