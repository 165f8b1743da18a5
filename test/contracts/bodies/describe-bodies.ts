/** The contract of body storages and their page spools. */
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bodyRefOf } from "../../../src/domain/request.ts";
import type { Bodies, PageSpool, RequestBodies } from "../../../src/store/bodies/bodies.ts";

/** A body storage that is empty when a test starts. */
export type BodyStorage = {
  /** Opens the same storage again, like another process. */
  open(): Promise<{ bodies: Bodies; spool: PageSpool; requestBodies: RequestBodies }>;
  /** The names of all stored objects, read without the code under test. */
  list(): Promise<string[]>;
  read(name: string): Promise<Buffer>;
  overwrite(name: string, bytes: Buffer): Promise<void>;
  remove(): Promise<void>;
};

export function describeBodies(name: string, prepare: () => Promise<BodyStorage>): void {
  describe(`bodies contract on ${name}`, () => {
    let storage: BodyStorage;
    let bodies: Bodies;

    beforeEach(async () => {
      storage = await prepare();
      bodies = (await storage.open()).bodies;
    });
    afterEach(() => storage.remove());

    it("returns any body byte for byte", async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 5000 }), async (bytes) => {
          const ref = await bodies.put(Buffer.from(bytes));
          expect(await bodies.get(String(ref))).toEqual(Buffer.from(bytes));
        }),
        { numRuns: 25 },
      );
    });

    it("stores a large body", async () => {
      const body = Buffer.from(Array.from({ length: 300_000 }, (_, n) => `line ${n}`).join("\n"));

      expect(body.equals((await bodies.get(String(await bodies.put(body)))) ?? Buffer.alloc(0))).toBe(true);
    });

    it("stores equal request bodies of a job once, under their hash, and finds them in every process", async () => {
      const [{ requestBodies }, { requestBodies: others }] = [await storage.open(), await storage.open()];
      const body = "é".repeat(100_000);

      const refs = await Promise.all([
        requestBodies.put("j.1", body),
        requestBodies.put("j.1", body),
        others.put("j.1", body),
      ]);
      await others.put("j.1", body);

      expect(new Set(refs)).toEqual(new Set([bodyRefOf(body)]));
      expect(await storage.list()).toEqual([`requests/j%2E1/${bodyRefOf(body).slice("sha256:".length)}.gz`]);
      expect(await others.find("j.1", bodyRefOf(body))).toBe(body);
      expect(await others.find("j2", bodyRefOf(body))).toBeUndefined();
      expect(await others.find("j.1", bodyRefOf("another"))).toBeUndefined();
      expect(await others.find("j.1", "sha256:../../x")).toBeUndefined();
    });

    it("removes all request bodies of a job, and no others", async () => {
      const { requestBodies } = await storage.open();
      const ref = await requestBodies.put("j1", "one");
      await requestBodies.put("j1", "two");
      await requestBodies.put("j10", "one");
      const page = String(await bodies.put(Buffer.from("one")));

      await requestBodies.removeAll("j1");
      await requestBodies.removeAll("j1");
      await requestBodies.removeAll("unknown");

      expect(await requestBodies.find("j1", ref)).toBeUndefined();
      expect(await requestBodies.find("j10", ref)).toBe("one");
      expect(await bodies.get(page)).toEqual(Buffer.from("one"));
      expect(await requestBodies.put("j1", "one")).toBe(ref);
      expect(await requestBodies.find("j1", ref)).toBe("one");
    });

    it("derives the reference of a body from its content", async () => {
      const ref = await bodies.put(Buffer.from("page"));

      expect(ref).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(await bodies.put(Buffer.from("page"))).toBe(ref);
      expect(await bodies.put(Buffer.from("another page"))).not.toBe(ref);
    });

    it("accepts concurrent puts of the same body", async () => {
      const handles = [bodies, (await storage.open()).bodies, (await storage.open()).bodies];
      const body = Buffer.from("the same page ".repeat(5000));

      const refs = await Promise.all(handles.flatMap((handle) => Array.from({ length: 5 }, () => handle.put(body))));

      expect(new Set(refs).size).toBe(1);
      expect(await bodies.get(String(refs[0]))).toEqual(body);
    });

    it("stores equal bodies once, compressed, below two folders named by the hash, and no other files", async () => {
      const body = Buffer.from("<p>page</p>".repeat(1000));
      const { bodies: others } = await storage.open();

      const [ref] = await Promise.all([bodies.put(body), bodies.put(body), others.put(body)]);
      await others.put(body);

      const hex = String(ref).slice("sha256:".length);
      const key = `${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex}.gz`;
      expect(await storage.list()).toEqual([key]);
      const bytes = await storage.read(key);
      expect(gunzipSync(bytes)).toEqual(body);
      expect(bytes.length).toBeLessThan(body.length / 10);
    });

    it("returns a body after the storage was opened again", async () => {
      const ref = await bodies.put(Buffer.from("page"));

      expect(await (await storage.open()).bodies.get(String(ref))).toEqual(Buffer.from("page"));
    });

    it("removes a body that was not put since the given time, and no other body", async () => {
      const HOUR_MS = 3_600_000;
      const [ref, other] = [String(await bodies.put(Buffer.from("page"))), String(await bodies.put(Buffer.from("b")))];

      expect(await bodies.remove(ref, Date.now() - HOUR_MS)).toBe(false);
      expect(await bodies.get(ref)).toEqual(Buffer.from("page"));
      expect(await bodies.remove(ref, Date.now() + HOUR_MS)).toBe(true);
      expect(await bodies.get(ref)).toBeUndefined();
      expect(await storage.list()).toHaveLength(1);
      expect(await bodies.get(other)).toEqual(Buffer.from("b"));
      expect(await bodies.remove(ref, Date.now() + HOUR_MS)).toBe(true);
      expect(await bodies.remove("../../secret", Date.now() + HOUR_MS)).toBe(true);
      expect(await bodies.put(Buffer.from("page"))).toBe(ref);
      expect(await bodies.get(ref)).toEqual(Buffer.from("page"));
    });

    it("returns undefined for unknown and invalid references", async () => {
      await bodies.put(Buffer.from("page"));

      for (const ref of [`sha256:${"0".repeat(64)}`, "sha256:../../secret", "", "md5:00", "../../../etc/passwd"]) {
        expect(await bodies.get(ref)).toBeUndefined();
      }
    });

    it("throws an error that names a damaged object, instead of returning a part of the body", async () => {
      const ref = String(await bodies.put(Buffer.from("page".repeat(1000))));
      const [key = ""] = await storage.list();
      const bytes = await storage.read(key);

      for (const damaged of [bytes.subarray(0, bytes.length - 10), Buffer.from("not gzip")]) {
        await storage.overwrite(key, damaged);
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
    let storage: BodyStorage;
    let spool: PageSpool;

    beforeEach(async () => {
      storage = await prepare();
      spool = (await storage.open()).spool;
    });
    afterEach(() => storage.remove());

    it("returns a page with its body until it is removed, also in another process", async () => {
      await spool.put(NAME, SPOOLED);

      expect(await (await storage.open()).spool.get(NAME)).toEqual(SPOOLED);
      await spool.remove(NAME);
      await spool.remove(NAME);
      expect(await spool.get(NAME)).toBe("missing");
      expect(await storage.list()).toEqual([]);
    });

    it("replaces the page of a task that ran again", async () => {
      await spool.put(NAME, SPOOLED);

      await spool.put(NAME, { ...SPOOLED, body: Buffer.from("later") });

      expect(await spool.get(NAME)).toMatchObject({ body: Buffer.from("later") });
    });

    it("keeps pages apart even if their ids contain special characters", async () => {
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
      ["that is truncated", gzipSync("{}\n".repeat(100)).subarray(0, 20)],
      ["of zero bytes", Buffer.alloc(0)],
      ["without a body", gzipSync("{}")],
      ["whose metadata is not JSON", gzipSync('{"url":"https://a\nbody')],
      ["whose metadata is null", gzipSync("null\nbody")],
    ])("reports a page %s as damaged, not as missing", async (_, bytes) => {
      await spool.put(NAME, SPOOLED);
      const [key = ""] = await storage.list();
      await storage.overwrite(key, bytes);

      expect(await spool.get(NAME)).toBe("damaged");
    });
  });
}
