/** The contract of the archive of jobs; what it promises is in src/store/job-archive.ts. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ArchivedJob, JobArchive } from "../../../src/store/job-archive.ts";
import type { ControlStores, Store } from "../../../src/store/store.ts";
import { aMemory } from "./describe-memories.ts";
import { anAttemptWrite, aPageWrite } from "./page-write.ts";

type Whole = Store & ControlStores;
export type ArchiveSite = { open(): Promise<Whole>; remove(): Promise<void> };

const T0 = 1_800_000_000_000;

function anArchivedJob(parts: Partial<ArchivedJob> = {}): ArchivedJob {
  const view = { state: "finished", counts: { done: 1 }, spec: { tenant: "acme", urls: ["https://a.test/ü"] } };
  return { id: "job", createdAt: T0 + 0.25, finishedAt: T0 + 1000.5, view, ...parts };
}

export function describeArchive(name: string, prepare: () => Promise<ArchiveSite>): void {
  describe(`the archive of jobs on ${name}`, () => {
    let site: ArchiveSite;
    let stores: Whole[];
    let store: Whole;
    let archive: JobArchive;

    async function open(): Promise<Whole> {
      const way = await site.open();
      stores.push(way);
      return way;
    }
    beforeEach(async () => {
      site = await prepare();
      stores = [];
      store = await open();
      archive = store.archive;
    });
    afterEach(async () => {
      for (const way of stores) await way.close();
      await site.remove();
    });

    /** A page of a job with a body of that reference. */
    const page = (jobId: string, taskId: string, bodyRef?: string) => aPageWrite({ jobId, taskId, bodyRef });
    const idsOf = (jobs: readonly ArchivedJob[]) => jobs.map(({ id }) => id);
    const eraseAll = async (jobId: string, max: number) => {
      let steps = 1;
      while (await archive.erase(jobId, max, T0)) steps++;
      return steps;
    };

    it("gives back a job as it was kept, to whoever opens the store", async () => {
      await archive.keep(anArchivedJob());

      expect(await (await open()).archive.find("job")).toEqual(anArchivedJob());
      expect(await archive.find("another")).toBeUndefined();
    });

    it("keeps a job once, as it was at its later end", async () => {
      const later = anArchivedJob({ finishedAt: T0 + 2000, view: { state: "failed" } });
      await archive.keep(anArchivedJob());
      await archive.keep(later);
      await archive.keep(anArchivedJob());

      expect(await archive.find("job")).toEqual(later);
      expect(await archive.list(10)).toEqual([later]);
    });

    it("lists jobs newest first, page by page", async () => {
      for (const [id, at] of [
        ["two", 2.5],
        ["three", 3],
        ["one", 1],
      ] as const) {
        await archive.keep(anArchivedJob({ id, createdAt: T0 + at }));
      }

      expect(idsOf(await archive.list(2))).toEqual(["three", "two"]);
      expect(idsOf(await archive.list(2, { createdAt: T0 + 2.5 }))).toEqual(["one"]);
    });

    it("hides a deleted job at once and for good, whatever is kept of it later, and whoever's it was", async () => {
      await archive.keep(anArchivedJob());
      await store.owners.add("t:acme", "job", T0, undefined);

      await archive.markDeleted("job", T0 + 5);
      await archive.markDeleted("job", T0 + 9);
      await archive.keep(anArchivedJob({ finishedAt: T0 + 9000 }));

      expect(await archive.find("job")).toBe("deleted");
      expect(await archive.list(10)).toEqual([]);
      expect(await archive.filterDeleted(["one", "job", "two"])).toEqual(["job"]);
      expect(await archive.filterDeleted([])).toEqual([]);
      expect(await store.owners.list("t:acme", 10)).toEqual([]);
      expect(await archive.listUncleaned(10)).toEqual([{ jobId: "job", deletedAt: T0 + 5 }]);
    });

    it("tells of deleted jobs until they are clean, the longest deleted first", async () => {
      for (const [id, at] of [
        ["b", 2],
        ["a", 1],
        ["c", 3],
      ] as const)
        await archive.markDeleted(id, T0 + at);

      await archive.setClean("b");

      expect((await archive.listUncleaned(10)).map(({ jobId }) => jobId)).toEqual(["a", "c"]);
      expect(await archive.listUncleaned(1)).toHaveLength(1);
      expect((await archive.listUncleaned(10, T0 + 3)).map(({ jobId }) => jobId)).toEqual(["c"]);
      expect(await archive.find("b")).toBe("deleted");
    });

    it("erases all that the store has of a job, in bounded steps, and nothing of another's", async () => {
      const both = ["gone", "stays"].flatMap((jobId) => Array.from({ length: 7 }, (_, nth) => page(jobId, `${nth}`)));
      const invalid = [{ fields: { title: 3 }, reason: "no title" }];
      await store.write(
        both.map((write) => ({ ...write, invalid })),
        ["gone", "stays"].map((jobId) => anAttemptWrite({ jobId, taskId: "t" })),
      );

      expect(await eraseAll("gone", 3)).toBe(3);

      expect(await store.readPages("gone", 0, 10)).toEqual([]);
      expect(await store.readRecords("gone", 0, 10)).toEqual([]);
      expect(await store.readInvalid("gone", 0, 10)).toEqual([]);
      expect(await store.countRecords("gone")).toBe(0);
      expect(await store.groupAttempts("gone", 10)).toEqual([]);
      expect(await store.readPages("stays", 0, 10)).toHaveLength(7);
      expect(await store.readRecords("stays", 0, 10)).toHaveLength(7);
      expect(await store.readInvalid("stays", 0, 10)).toHaveLength(7);
      expect(await store.countRecords("stays")).toBe(7);
      expect(await store.groupAttempts("stays", 10)).toHaveLength(1);
      expect(await archive.erase("never there", 3, T0)).toBe(false);
    });

    it("erases what a recrawl set remembers of its pages, but for what tells whether they have changed", async () => {
      const memory = (jobId: string) => ({ ...aMemory({ set: "daily", url: "https://a.test/" }), jobId });
      const recall = () => store.recall([{ set: "daily", url: "https://a.test/", jobId: "next" }]);
      await store.write([], [], [memory("gone")]);
      const [before] = await recall();

      await eraseAll("gone", 10);

      const [after] = await recall();
      expect(after).toEqual({ ...before, content: undefined, etag: undefined, lastModified: undefined });
      expect(after?.fingerprint).toBeDefined();
    });

    it("erases what a late worker has written after all", async () => {
      await store.write([page("job", "1")]);
      await eraseAll("job", 10);
      await store.write([page("job", "1"), page("job", "2")]);
      await eraseAll("job", 10);

      expect(await store.readPages("job", 0, 10)).toEqual([]);
      expect(await store.readRecords("job", 0, 10)).toEqual([]);
    });

    it("notes the bodies of erased pages as loose, and knows which of them another page refers to", async () => {
      await store.write([
        { ...page("gone", "1", "sha256:own"), screenshotRef: "sha256:shot", pdfRef: "sha256:print" },
        page("gone", "2", "sha256:shared"),
        page("gone", "3"),
        { ...page("stays", "1"), pdfRef: "sha256:shared" },
      ]);

      await eraseAll("gone", 10);

      expect(await archive.listOrphanBodies(T0, 10)).toEqual([]); // not before they have been loose for a while
      const loose = await archive.listOrphanBodies(T0 + 1, 10);
      expect(Object.fromEntries(loose.map(({ ref, isReferenced }) => [ref, isReferenced]))).toEqual({
        "sha256:own": false,
        "sha256:shot": false,
        "sha256:print": false,
        "sha256:shared": true,
      });
      await archive.dropOrphanBodies(["sha256:own", "sha256:shared"], T0 + 1);
      expect((await archive.listOrphanBodies(T0 + 1, 10)).map(({ ref }) => ref).sort()).toEqual([
        "sha256:print",
        "sha256:shot",
      ]);
    });

    it("keeps the note of a body that was loosened again after it was listed", async () => {
      await store.write([page("gone", "1", "sha256:own"), page("another", "1", "sha256:own")]);
      await eraseAll("gone", 10);
      const listed = await archive.listOrphanBodies(T0 + 1, 10);
      await archive.erase("another", 10, T0 + 5);

      await archive.dropOrphanBodies(
        listed.map(({ ref }) => ref),
        T0 + 1,
      );

      expect(await archive.listOrphanBodies(T0 + 6, 10)).toEqual([{ ref: "sha256:own", isReferenced: false }]);
    });

    it("erases also what was kept of a job in the instant in which it was marked", async () => {
      await archive.keep(anArchivedJob());
      await archive.keep(anArchivedJob({ id: "another" }));

      await eraseAll("job", 10);

      expect(await archive.find("job")).toBeUndefined();
      expect(idsOf(await archive.list(10))).toEqual(["another"]);
    });

    it("knows the tasks whose pages were passed on, page by page", async () => {
      const passed = (taskId: string) => anAttemptWrite({ taskId, fate: "passed", because: "parse" });
      await store.write([], [passed("1"), passed("3"), passed("2"), anAttemptWrite({ taskId: "4" })]);

      expect(await archive.readPassed("job", "", 2)).toEqual(["1", "2"]);
      expect(await archive.readPassed("job", "2", 2)).toEqual(["3"]);
      expect(await archive.readPassed("another", "", 2)).toEqual([]);
    });
  });
}
