/** The contract of every store backend, continued: what recrawl sets remember. Clauses are in src/store/page-memory.ts. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MemoryWrite, PageMemory } from "../../../src/store/page-memory.ts";
import type { Store } from "../../../src/store/store.ts";
import type { StoreSite } from "./describe-store.ts";
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

export function describeMemories(name: string, prepare: () => Promise<StoreSite>): void {
  describe(`memories on ${name}`, () => {
    let site: StoreSite;
    let store: Store;
    beforeEach(async () => {
      site = await prepare();
      store = await site.open();
    });
    afterEach(async () => {
      await store.close();
      await site.remove();
    });

    const recalled = async (jobId: string, set = "daily", url = URL) =>
      (await store.recall([{ set, url, jobId }])).map((memory) => memory?.fingerprint);
    const write = (...memories: MemoryWrite[]) => store.write([], [], memories);

    it("gives back a memory as it was written, to other jobs of its set and for its page only", async () => {
      const memory = aMemory({});
      const bare = aMemory({
        url: `https://a.test/${"long".repeat(3000)}`,
        ...{ etag: undefined, lastModified: undefined, fingerprint: undefined, content: undefined },
      });

      expect(await store.write([aPageWrite({})], [], [memory, bare])).toEqual(["written"]);

      const asked = [bare.url, URL, "https://a.test/other"].map((url) => ({ set: "daily", url, jobId: "later" }));
      expect(await store.recall(asked)).toEqual([asRecalled(bare), asRecalled(memory), undefined]);
      expect(await recalled("later", "weekly")).toEqual([undefined]);
      expect(await store.recall([])).toEqual([]);
    });

    it("M1 takes no memory of a lease after a later one has told of itself, by page, try or memory", async () => {
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

    it("M2 lets a job recall what was there before its own, however often it writes", async () => {
      await write(aMemory({ jobId: "first", fingerprint: "f1" }));
      expect(await recalled("second")).toEqual(["f1"]);

      await write(aMemory({ jobId: "second", token: 1, fingerprint: "f2" }));
      expect(await recalled("second")).toEqual(["f1"]);
      await write(aMemory({ jobId: "second", token: 2, fingerprint: "f3" }));
      expect(await recalled("second")).toEqual(["f1"]);

      expect(await recalled("third")).toEqual(["f3"]);
      await write(aMemory({ jobId: "third", fingerprint: "f4" }));
      // What came after its own is no answer: it may have been compared with that.
      expect(await recalled("second")).toEqual([undefined]);
      expect(await recalled("third")).toEqual(["f3"]);
    });

    it("M2 has nothing for the first job of a set, though that has written", async () => {
      await write(aMemory({ jobId: "first" }));

      expect(await recalled("first")).toEqual([undefined]);
    });

    it("M3 keeps a page's own memory and the one before it, of any number of jobs", async () => {
      for (let run = 1; run <= 20; run += 1) await write(aMemory({ jobId: `job${run}`, fingerprint: `f${run}` }));

      expect(await recalled("job20")).toEqual(["f19"]);
      expect(await recalled("job19")).toEqual([undefined]);
      expect(await recalled("later")).toEqual(["f20"]);
    });

    it("M2 keeps jobs that write side by side from losing what each compares with", async () => {
      const other = await site.open();
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

    it("forgets a set, and no other", async () => {
      await write(aMemory({ set: "daily" }), aMemory({ set: "weekly", fingerprint: "kept" }));

      await store.forgetSet("daily");
      await store.forgetSet("never-was");

      expect(await recalled("later", "daily")).toEqual([undefined]);
      expect(await recalled("later", "weekly")).toEqual(["kept"]);
    });

    it("knows which pages of a job were unchanged, and how many", async () => {
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
      expect(await store.countUnchanged("nobody")).toBe(0);
    });
  });
}
