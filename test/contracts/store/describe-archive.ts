/** The contract of the job archive. src/store/job-archive.ts states its guarantees. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ArchivedJob, JobArchive } from "../../../src/store/job-archive.ts";
import type { ControlStores, Store } from "../../../src/store/store.ts";
import { aMemory } from "./describe-memories.ts";
import { anAttemptWrite, aPageWrite } from "./page-write.ts";

type FullStore = Store & ControlStores;
export type ArchiveFixture = { open(): Promise<FullStore>; remove(): Promise<void> };

const T0 = 1_800_000_000_000;

function anArchivedJob(parts: Partial<ArchivedJob> = {}): ArchivedJob {
  const view = { state: "finished", counts: { done: 1 }, spec: { tenant: "acme", urls: ["https://a.test/ü"] } };
  return { id: "job", createdAt: T0 + 0.25, finishedAt: T0 + 1000.5, view, ...parts };
}

export function describeArchive(name: string, prepare: () => Promise<ArchiveFixture>): void {
  describe(`job archive contract on ${name}`, () => {
    let fixture: ArchiveFixture;
    let stores: FullStore[];
    let store: FullStore;
    let archive: JobArchive;

    async function open(): Promise<FullStore> {
      const handle = await fixture.open();
      stores.push(handle);
      return handle;
    }
    beforeEach(async () => {
      fixture = await prepare();
      stores = [];
      store = await open();
      archive = store.archive;
    });
    afterEach(async () => {
      for (const handle of stores) await handle.close();
      await fixture.remove();
    });

    /** A page of the job, with the given body reference. */
    const page = (jobId: string, taskId: string, bodyRef?: string) => aPageWrite({ jobId, taskId, bodyRef });
    const idsOf = (jobs: readonly ArchivedJob[]) => jobs.map(({ id }) => id);
    const eraseAll = async (jobId: string, max: number) => {
      let steps = 1;
      while (await archive.erase(jobId, max, T0)) steps++;
      return steps;
    };

    it("returns a job as it was stored, in every process", async () => {
      await archive.keep(anArchivedJob());

      expect(await (await open()).archive.find("job")).toEqual(anArchivedJob());
      expect(await archive.find("another")).toBeUndefined();
    });

    it("stores a job once, in the state of its latest end", async () => {
      const later = anArchivedJob({ finishedAt: T0 + 2000, view: { state: "failed" } });
      await archive.keep(anArchivedJob());
      await archive.keep(later);
      await archive.keep(anArchivedJob());

      expect(await archive.find("job")).toEqual(later);
      expect(await archive.list(10)).toEqual([later]);
    });

    it("finds several jobs at once, without unknown and deleted ones", async () => {
      const jobs = ["one", "two", "three"].map((id) => anArchivedJob({ id }));
      for (const job of jobs) await archive.keep(job);
      await archive.markDeleted("two", T0);

      const found = await archive.findAll(["three", "nope", "two", 'a "quoted" id', "one"]);

      expect([...found].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([jobs[0], jobs[2]]);
      expect(await archive.findAll([])).toEqual([]);
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

    it("hides a deleted job at once and permanently, also from its owner and after a later write", async () => {
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

    it("lists deleted jobs until they are cleaned up, in the order of their deletion", async () => {
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

    it("erases all rows of a job, in bounded steps, and none of another job", async () => {
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
      expect(await archive.erase("unknown", 3, T0)).toBe(false);
    });

    it("erases the content and validators in page memories of the job, but not the fingerprint", async () => {
      const memory = (jobId: string) => ({ ...aMemory({ set: "daily", url: "https://a.test/" }), jobId });
      const recall = () => store.recall([{ set: "daily", url: "https://a.test/", jobId: "next" }]);
      await store.write([], [], [memory("gone")]);
      const [before] = await recall();

      await eraseAll("gone", 10);

      const [after] = await recall();
      expect(after).toEqual({ ...before, content: undefined, etag: undefined, lastModified: undefined });
      expect(after?.fingerprint).toBeDefined();
    });

    it("erases rows that a late worker wrote after the first erasure", async () => {
      await store.write([page("job", "1")]);
      await eraseAll("job", 10);
      await store.write([page("job", "1"), page("job", "2")]);
      await eraseAll("job", 10);

      expect(await store.readPages("job", 0, 10)).toEqual([]);
      expect(await store.readRecords("job", 0, 10)).toEqual([]);
    });

    it("records the bodies of erased pages as orphans, and returns which of them another page refers to", async () => {
      await store.write([
        { ...page("gone", "1", "sha256:own"), screenshotRef: "sha256:shot", pdfRef: "sha256:print" },
        page("gone", "2", "sha256:shared"),
        page("gone", "3"),
        { ...page("stays", "1"), pdfRef: "sha256:shared" },
      ]);

      await eraseAll("gone", 10);

      // `listOrphanBodies` lists only bodies that became orphans before the given time.
      expect(await archive.listOrphanBodies(T0, 10)).toEqual([]);
      const orphans = await archive.listOrphanBodies(T0 + 1, 10);
      expect(Object.fromEntries(orphans.map(({ ref, isReferenced }) => [ref, isReferenced]))).toEqual({
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

    it("keeps the entry of a body that became an orphan again after it was listed", async () => {
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

    it("erases an archived job that was stored while it was marked as deleted", async () => {
      await archive.keep(anArchivedJob());
      await archive.keep(anArchivedJob({ id: "another" }));

      await eraseAll("job", 10);

      expect(await archive.find("job")).toBeUndefined();
      expect(idsOf(await archive.list(10))).toEqual(["another"]);
    });

    it("lists the tasks whose pages were passed to another queue, page by page", async () => {
      const passed = (taskId: string) => anAttemptWrite({ taskId, outcome: "passed", because: "parse" });
      await store.write([], [passed("1"), passed("3"), passed("2"), anAttemptWrite({ taskId: "4" })]);

      expect(await archive.readPassed("job", "", 2)).toEqual(["1", "2"]);
      expect(await archive.readPassed("job", "2", 2)).toEqual(["3"]);
      expect(await archive.readPassed("another", "", 2)).toEqual([]);
    });
  });
}
