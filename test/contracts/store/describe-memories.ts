/** The contract of every store backend, continued: page memories. The clauses are in src/store/page-memory.ts. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MemoryWrite, PageMemory } from "../../../src/store/page-memory.ts";
import type { Store } from "../../../src/store/store.ts";
import type { StoreFixture } from "./describe-store.ts";
import { anAttemptWrite, aPageWrite } from "./page-write.ts";

const URL = "https://a.test/task";

export function aMemory(parts: Partial<MemoryWrite>): MemoryWrite {
  return {
    set: "daily",
    url: URL,
    jobId: "job",
    taskId: "task",
    token: 1,
    reads: "rules-1",
    etag: 'W/"1"',
    lastModified: "Mon, 16 Nov 2026 10:00:00 GMT",
    fingerprint: "f1",
    content: '{"records":[{"title":"ü \\u0000 \u{1F3A3}"}]}',
    fetchedAt: 1_700_000_000_000.5,
    ...parts,
  };
}

function asRecalled({ set: _, url: __, taskId: ___, token: ____, ...memory }: MemoryWrite): PageMemory {
  return memory;
}

export function describeMemories(name: string, prepare: () => Promise<StoreFixture>): void {
  describe(`page memories on ${name}`, () => {
    let fixture: StoreFixture;
    let store: Store;
    beforeEach(async () => {
      fixture = await prepare();
      store = await fixture.open();
    });
    afterEach(async () => {
      await store.close();
      await fixture.remove();
    });

    const recalled = async (jobId: string, set = "daily", url = URL) =>
      (await store.recall([{ set, url, jobId }])).map((memory) => memory?.fingerprint);
    const write = (...memories: MemoryWrite[]) => store.write([], [], memories);

    it("returns a memory as it was written, only to other jobs of its set and only for its page", async () => {
      const memory = aMemory({});
      const bare = aMemory({
        url: `https://a.test/${"long".repeat(3000)}`,
        ...{ etag: undefined, lastModified: undefined, fingerprint: undefined, content: undefined },
      });

      expect(await store.write([aPageWrite({})], [], [memory, bare])).toEqual(["written"]);

      const queries = [bare.url, URL, "https://a.test/other"].map((url) => ({ set: "daily", url, jobId: "later" }));
      expect(await store.recall(queries)).toEqual([asRecalled(bare), asRecalled(memory), undefined]);
      expect(await recalled("later", "weekly")).toEqual([undefined]);
      expect(await store.recall([])).toEqual([]);
    });

    it("M1 ignores a memory of a lease after a page, attempt or memory of a later lease was written", async () => {
      await store.write(
        [aPageWrite({ taskId: "paged", token: 2 })],
        [anAttemptWrite({ taskId: "tried", token: 2 })],
        [aMemory({ url: "https://a.test/c", taskId: "remembered", token: 2, fingerprint: "late" })],
      );

      await write(
        aMemory({ url: "https://a.test/a", taskId: "paged", token: 1 }),
        aMemory({ url: "https://a.test/b", taskId: "tried", token: 1 }),
        aMemory({ url: "https://a.test/c", taskId: "remembered", token: 1 }),
        aMemory({ url: "https://a.test/c", taskId: "remembered", token: 2, fingerprint: "again" }),
        aMemory({ url: "https://a.test/d", taskId: "paged", token: 2, fingerprint: "own" }),
      );

      const found = await Promise.all(
        ["a", "b", "c", "d"].map((path) => recalled("later", "daily", `https://a.test/${path}`)),
      );
      expect(found.flat()).toEqual([undefined, undefined, "late", "own"]);
    });

    it("M1 writes nothing of a batch that fails", async () => {
      const loop: Record<string, unknown> = {};
      loop.loop = loop;

      await expect(store.write([aPageWrite({ records: [loop] })], [], [aMemory({})])).rejects.toThrow("JSON");

      expect(await recalled("later")).toEqual([undefined]);
    });

    it("M2 returns to a job the last memory of an earlier job, however often it writes its own", async () => {
      await write(aMemory({ jobId: "first", fingerprint: "f1" }));
      expect(await recalled("second")).toEqual(["f1"]);

      await write(aMemory({ jobId: "second", token: 1, fingerprint: "f2" }));
      expect(await recalled("second")).toEqual(["f1"]);
      await write(aMemory({ jobId: "second", token: 2, fingerprint: "f3" }));
      expect(await recalled("second")).toEqual(["f1"]);

      expect(await recalled("third")).toEqual(["f3"]);
      await write(aMemory({ jobId: "third", fingerprint: "f4" }));
      // A job gets no memory that is newer than its own: that memory may result from a comparison with its own.
      expect(await recalled("second")).toEqual([undefined]);
      expect(await recalled("third")).toEqual(["f3"]);
    });

    it("M2 returns nothing to the first job of a set, even after it has written", async () => {
      await write(aMemory({ jobId: "first" }));

      expect(await recalled("first")).toEqual([undefined]);
    });

    it("M3 keeps the last memory of a page and the one before it, however many jobs write", async () => {
      for (let run = 1; run <= 20; run += 1) await write(aMemory({ jobId: `job${run}`, fingerprint: `f${run}` }));

      expect(await recalled("job20")).toEqual(["f19"]);
      expect(await recalled("job19")).toEqual([undefined]);
      expect(await recalled("later")).toEqual(["f20"]);
    });

    it("M2 keeps the memory of one concurrent job for comparison by the other", async () => {
      const other = await fixture.open();
      await write(aMemory({ jobId: "first", fingerprint: "f1" }));
      const urls = Array.from({ length: 20 }, (_, n) => `https://a.test/${n}`);
      const batch = (jobId: string, round: number) =>
        urls.map((url, n) => aMemory({ jobId, url, taskId: `t${n}`, token: round, fingerprint: `${jobId}-${round}` }));

      await Promise.all(
        [1, 2, 3, 4, 5].flatMap((round) => [
          store.write([], [], batch("left", round)),
          other.write([], [], batch("right", round).reverse()),
        ]),
      );

      for (const url of urls) {
        const [latest] = await recalled("later", "daily", url);
        expect(["left-5", "right-5"]).toContain(latest);
        const seen = [await recalled("left", "daily", url), await recalled("right", "daily", url)].flat();
        expect(seen.filter((one) => one === undefined)).toHaveLength(1);
      }
      await other.close();
    });

    it("forgets the given set and no other", async () => {
      await write(aMemory({ set: "daily" }), aMemory({ set: "weekly", fingerprint: "kept" }));

      await store.forgetSet("daily");
      await store.forgetSet("unknown");

      expect(await recalled("later", "daily")).toEqual([undefined]);
      expect(await recalled("later", "weekly")).toEqual(["kept"]);
    });

    it("returns which pages of a job were unchanged, and their number", async () => {
      await store.write([
        aPageWrite({ taskId: "same", unchanged: true, records: [] }),
        aPageWrite({ taskId: "new" }),
        aPageWrite({ taskId: "back", unchanged: true }),
        aPageWrite({ jobId: "other", taskId: "same", unchanged: true }),
      ]);
      await store.write([aPageWrite({ taskId: "back", token: 2 }), aPageWrite({ taskId: "same", token: 0 })]);

      const pages = await store.readPages("job", 0, 10);
      expect(Object.fromEntries(pages.map(({ taskId, unchanged }) => [taskId, unchanged]))).toEqual({
        ...{ same: true, new: false, back: false },
      });
      expect(await store.countUnchanged("job")).toBe(1);
      expect(await store.countUnchanged("unknown")).toBe(0);
    });
  });
}
