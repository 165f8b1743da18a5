/** The contract of everything that keeps bodies and passes spool on. */
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Bodies, PageSpool } from "../../../src/store/bodies/bodies.ts";

/** One empty place to keep bodies in, and ways into it. */
export type BodiesSite = {
  /** Another way in to the same place, as another process would have it. */
  open(): Promise<{ bodies: Bodies; spool: PageSpool }>;
  /** What is kept there, by name, past everything that is tested. */
  list(): Promise<string[]>;
  read(name: string): Promise<Buffer>;
  overwrite(name: string, bytes: Buffer): Promise<void>;
  remove(): Promise<void>;
};

export function describeBodies(name: string, prepare: () => Promise<BodiesSite>): void {
  describe(`bodies contract on ${name}`, () => {
    let site: BodiesSite;
    let bodies: Bodies;

    beforeEach(async () => {
      site = await prepare();
      bodies = (await site.open()).bodies;
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
      const ways = [bodies, (await site.open()).bodies, (await site.open()).bodies];
      const body = Buffer.from("the same page ".repeat(5000));

      const refs = await Promise.all(ways.flatMap((way) => Array.from({ length: 5 }, () => way.put(body))));

      expect(new Set(refs).size).toBe(1);
      expect(await bodies.get(String(refs[0]))).toEqual(body);
    });

    it("keeps equal bodies once, compressed, under two folders of their hash, with nothing left over", async () => {
      const body = Buffer.from("<p>page</p>".repeat(1000));
      const { bodies: others } = await site.open();

      const [ref] = await Promise.all([bodies.put(body), bodies.put(body), others.put(body)]);
      await others.put(body);

      const hex = String(ref).slice("sha256:".length);
      const key = `${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex}.gz`;
      expect(await site.list()).toEqual([key]);
      const bytes = await site.read(key);
      expect(gunzipSync(bytes)).toEqual(body);
      expect(bytes.length).toBeLessThan(body.length / 10);
    });

    it("shows a body to whoever opens the place later", async () => {
      const ref = await bodies.put(Buffer.from("page"));

      expect(await (await site.open()).bodies.get(String(ref))).toEqual(Buffer.from("page"));
    });

    it("removes a body that nobody has put for a while, and no other", async () => {
      const HOUR_MS = 3_600_000;
      const [ref, other] = [String(await bodies.put(Buffer.from("page"))), String(await bodies.put(Buffer.from("b")))];

      expect(await bodies.remove(ref, Date.now() - HOUR_MS)).toBe(false);
      expect(await bodies.get(ref)).toEqual(Buffer.from("page"));
      expect(await bodies.remove(ref, Date.now() + HOUR_MS)).toBe(true);
      expect(await bodies.get(ref)).toBeUndefined();
      expect(await site.list()).toHaveLength(1);
      expect(await bodies.get(other)).toEqual(Buffer.from("b"));
      expect(await bodies.remove(ref, Date.now() + HOUR_MS)).toBe(true);
      expect(await bodies.remove("../../secret", Date.now() + HOUR_MS)).toBe(true);
      expect(await bodies.put(Buffer.from("page"))).toBe(ref);
      expect(await bodies.get(ref)).toEqual(Buffer.from("page"));
    });

    it("finds nothing under references it never gave", async () => {
      await bodies.put(Buffer.from("page"));

      for (const ref of [`sha256:${"0".repeat(64)}`, "sha256:../../secret", "", "md5:00", "../../../etc/passwd"]) {
        expect(await bodies.get(ref)).toBeUndefined();
      }
    });

    it("names what is damaged instead of giving back half a body", async () => {
      const ref = String(await bodies.put(Buffer.from("page".repeat(1000))));
      const [key = ""] = await site.list();
      const bytes = await site.read(key);

      for (const damaged of [bytes.subarray(0, bytes.length - 10), Buffer.from("not gzip")]) {
        await site.overwrite(key, damaged);
        await expect(bodies.get(ref)).rejects.toMatchObject({
          code: "STORE_UNREACHABLE",
          op: "bodies.get",
          message: expect.stringMatching(/\.gz.*damaged/),
        });
      }
    });
  });

  describe(`page spool contract on ${name}`, () => {
    const NAME = { jobId: "job", taskId: "7" };
    const PAGE = { url: "https://a.test/", status: 200, headers: {}, contentType: undefined, bodyBytes: 4 };
    const SPOOLED = { page: { ...PAGE, tookMs: 1, fetchedAt: 2 }, body: Buffer.from("a\nb\n") };
    let site: BodiesSite;
    let spool: PageSpool;

    beforeEach(async () => {
      site = await prepare();
      spool = (await site.open()).spool;
    });
    afterEach(() => site.remove());

    it("gives back a page with its body until it is removed, also to another process", async () => {
      await spool.put(NAME, SPOOLED);

      expect(await (await site.open()).spool.get(NAME)).toEqual(SPOOLED);
      await spool.remove(NAME);
      await spool.remove(NAME);
      expect(await spool.get(NAME)).toBe("missing");
      expect(await site.list()).toEqual([]);
    });

    it("replaces the page of a task that ran again", async () => {
      await spool.put(NAME, SPOOLED);

      await spool.put(NAME, { ...SPOOLED, body: Buffer.from("later") });

      expect(await spool.get(NAME)).toMatchObject({ body: Buffer.from("later") });
    });

    it("tells names apart, whatever is in them", async () => {
      const names = ["a/b", "a.b", "a%2Fb", "a b", "a+b", "ä", "..", "a'(b)*!"].flatMap((id) => [
        { jobId: id, taskId: "c" },
        { jobId: "c", taskId: id },
      ]);
      for (const [n, each] of names.entries()) await spool.put(each, { ...SPOOLED, body: Buffer.from(String(n)) });

      const read = await Promise.all(names.map((each) => spool.get(each)));

      expect(read).toEqual(names.map((_, n) => ({ ...SPOOLED, body: Buffer.from(String(n)) })));
    });

    it.each([
      ["that is not compressed", Buffer.from("page")],
      ["that was cut short", gzipSync("{}\n".repeat(100)).subarray(0, 20)],
      ["without anything", Buffer.alloc(0)],
      ["without a body", gzipSync("{}")],
      ["whose page is not JSON", gzipSync('{"url":"https://a\nbody')],
      ["whose page is none", gzipSync("null\nbody")],
    ])("calls one %s damaged, not missing", async (_, bytes) => {
      await spool.put(NAME, SPOOLED);
      const [key = ""] = await site.list();
      await site.overwrite(key, bytes);

      expect(await spool.get(NAME)).toBe("damaged");
    });
  });
}
