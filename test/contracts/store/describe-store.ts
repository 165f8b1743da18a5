/**
 * The contract of every store backend. A backend's own test file runs it, and adds what only that backend has. One long
 * function, because all its tests share the store that is opened for each.
 */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isTrawlError } from "../../../src/errors.ts";
import { scanInvalidRecords, scanPages, scanRecords } from "../../../src/store/scan.ts";
import type { Store, StoredRecord } from "../../../src/store/store.ts";
import { aPageWrite } from "./page-write.ts";

/** One empty place to store in, and ways into it. */
export type StoreSite = {
  /** Another connection to the same place, as another process would make it. */
  open(): Promise<Store>;
  /** Makes the place look as if a newer Trawl had written it. */
  raiseSchema(): Promise<void>;
  /** Removes it all; every connection is closed by then. */
  remove(): Promise<void>;
};

export function describeStore(name: string, prepare: () => Promise<StoreSite>): void {
  describe(`store contract on ${name}`, () => {
    let site: StoreSite;
    let store: Store;
    let opened: Store[];

    const open = async (): Promise<Store> => {
      const another = await site.open();
      opened.push(another);
      return another;
    };

    beforeEach(async () => {
      site = await prepare();
      opened = [];
      store = await open();
    });

    afterEach(async () => {
      await Promise.all(opened.map((each) => each.close()));
      await site.remove();
    });

    describe("writing", () => {
      it("gives back a page and its records as they were written", async () => {
        const write = aPageWrite({
          depth: 3,
          bodyRef: "sha256:00",
          screenshotRef: "sha256:01",
          pdfRef: "sha256:02",
          records: [{ title: "Ünïcode \u{1F3A3}", nested: { list: [1, null, true], quote: '"', nul: "a\0b" } }, {}],
          page: {
            url: "https://a.test/from",
            status: 203,
            headers: { "content-type": "text/html", "x-empty": "" },
          },
        });

        expect(await store.write([write])).toEqual(["written"]);

        const { jobId, taskId, token, depth, bodyRef, screenshotRef, pdfRef, page } = write;
        const [found] = await store.readPages("job", 0, 10);
        expect(found).toEqual({
          ...page,
          ...{ jobId, taskId, token, depth, bodyRef, screenshotRef, pdfRef },
          ...{ records: 2, invalid: 0, unchanged: false, id: found?.id },
        });
        const kept = { jobId, taskId, url: page.url, status: 203, fetchedAt: page.fetchedAt, depth };
        const records = await store.readRecords("job", 0, 10);
        expect(records.map(({ id: _, ...rest }) => rest)).toEqual(write.records.map((fields) => ({ ...kept, fields })));
      });

      it("finds a page by its id until a later lease replaces it, whichever job it is of", async () => {
        await store.write([aPageWrite({ jobId: "other" }), aPageWrite({ token: 1 })]);
        const [page] = await store.readPages("job", 0, 10);
        const id = page?.id ?? 0;

        expect(await store.findPage(id)).toEqual(page);
        expect(await store.findPage(id + 1_000_000)).toBeUndefined();
        expect(await store.findPage(Number.MAX_SAFE_INTEGER)).toBeUndefined();
        await store.write([aPageWrite({ token: 2 })]);
        expect(await store.findPage(id)).toBeUndefined();
      });

      it("tells an unknown content type and body from known ones", async () => {
        await store.write([aPageWrite({ page: { url: "https://a.test/", contentType: undefined } })]);

        const [page] = await store.readPages("job", 0, 10);

        expect(page).toMatchObject({ contentType: undefined, bodyRef: undefined, screenshotRef: undefined });
      });

      it("keeps what JSON can hold of any record", async () => {
        let task = 0;
        await fc.assert(
          fc.asyncProperty(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), async (fields) => {
            task += 1;
            await store.write([aPageWrite({ jobId: `job-${task}`, records: [fields] })]);
            const [record] = await store.readRecords(`job-${task}`, 0, 1);
            expect(record?.fields).toEqual(JSON.parse(JSON.stringify(fields)));
          }),
          { numRuns: 50 },
        );
      });

      it("keeps pages without records, and answers an empty batch", async () => {
        expect(await store.write([])).toEqual([]);
        expect(await store.write([aPageWrite({ records: [] })])).toEqual(["written"]);

        expect(await store.readPages("job", 0, 10)).toMatchObject([{ taskId: "task", records: 0 }]);
        expect(await store.countRecords("job")).toBe(0);
      });

      it("keeps records that failed their schema apart, with the reason", async () => {
        const invalid = [
          { fields: { price: null }, reason: "price is required" },
          { fields: {}, reason: "title is required" },
        ];
        await store.write([aPageWrite({ taskId: "t1", records: [{ title: "good" }], invalid })]);

        const kept = await store.readInvalid("job", 0, 10);

        expect(kept.map(({ id: _, ...rest }) => rest)).toEqual(
          invalid.map((record) => ({ ...record, taskId: "t1", url: "https://a.test/t1" })),
        );
        expect(await store.countRecords("job")).toBe(1);
        expect(await store.readInvalid("job", Number(kept[0]?.id), 10)).toEqual(kept.slice(1));
        expect(await store.readInvalid("job", 0, 1)).toEqual(kept.slice(0, 1));
      });

      it("bounds the headers it keeps, and drops none that fit", async () => {
        const fitting = { first: "a".repeat(8000), second: "b".repeat(8000) };
        await store.write([
          aPageWrite({ taskId: "fits", page: { headers: fitting } }),
          aPageWrite({ taskId: "over", page: { headers: { ...fitting, third: "c".repeat(8000) } } }),
        ]);

        const [fits, over] = await store.readPages("job", 0, 10);

        expect(fits?.headers).toEqual(fitting);
        expect(over?.headers).toEqual(fitting);
      });

      it("writes all of a batch or nothing", async () => {
        const circular: Record<string, unknown> = {};
        circular.self = circular;
        const batch = [aPageWrite({ taskId: "good" }), aPageWrite({ taskId: "bad", records: [circular] })];

        await expect(store.write(batch)).rejects.toSatisfy((error) => isTrawlError(error, "INTERNAL"));

        expect(await store.readPages("job", 0, 10)).toEqual([]);
        expect(await store.readRecords("job", 0, 10)).toEqual([]);
      });
    });

    describe("fencing", () => {
      it("takes the same token again without changing anything, ids included", async () => {
        const write = aPageWrite({ records: [{ n: 1 }, { n: 2 }], invalid: [{ fields: {}, reason: "empty" }] });
        await store.write([write]);
        const before = await everything(store);

        const verdicts = await store.write([{ ...write, records: [{ n: "another" }] }]);

        expect(verdicts).toEqual(["written"]);
        expect(await everything(store)).toEqual(before);
      });

      it("refuses a lower token, and changes nothing", async () => {
        await store.write([aPageWrite({ token: 7, invalid: [{ fields: {}, reason: "empty" }] })]);
        const before = await everything(store);

        const late = aPageWrite({ token: 6, records: [{ late: true }], page: { url: "https://a.test/late" } });

        expect(await store.write([late])).toEqual(["stale"]);
        expect(await everything(store)).toEqual(before);
      });

      it("lets a higher token replace the page with its records, under ids past every cursor", async () => {
        const invalid = [{ fields: {}, reason: "empty" }];
        await store.write([
          aPageWrite({ taskId: "other" }),
          aPageWrite({ token: 1, records: [{ n: 1 }, { n: 2 }, { n: 3 }], invalid }),
        ]);
        const before = await everything(store);

        await store.write([aPageWrite({ token: 2, records: [{ n: "new" }], page: { url: "https://a.test/new" } })]);

        const after = await everything(store);
        expect(after.pages).toMatchObject([{ taskId: "other" }, { taskId: "task", records: 1 }]);
        expect(after.records.map(({ fields }) => fields)).toEqual([{ title: "one" }, { n: "new" }]);
        expect(after.invalid).toEqual([]);
        expect(await store.readRecords("job", lastId(before.records), 10)).toEqual(after.records.slice(1));
        expect(await store.readPages("job", lastId(before.pages), 10)).toEqual(after.pages.slice(1));
      });

      it("judges each write of a batch in turn, even for one task", async () => {
        const verdicts = await store.write([
          aPageWrite({ token: 2, records: [{ by: 2 }] }),
          aPageWrite({ token: 1, records: [{ by: 1 }] }),
          aPageWrite({ token: 3, records: [{ by: 3 }] }),
          aPageWrite({ token: 3, records: [{ by: "3 again" }] }),
        ]);

        expect(verdicts).toEqual(["written", "stale", "written", "written"]);
        expect((await store.readRecords("job", 0, 10)).map(({ fields }) => fields)).toEqual([{ by: 3 }]);
      });

      it("does not mix up tasks of the same id in two jobs", async () => {
        await store.write([aPageWrite({ jobId: "a", token: 9 })]);

        expect(await store.write([aPageWrite({ jobId: "b", token: 1 })])).toEqual(["written"]);
        expect(await store.readPages("a", 0, 10)).toHaveLength(1);
        expect(await store.readPages("b", 0, 10)).toHaveLength(1);
      });

      it("holds what a naive map of tasks would, after any writes in any order", async () => {
        const writes = fc.array(
          fc.record({ task: fc.nat(3), token: fc.nat(4), records: fc.nat(3), invalid: fc.nat(2) }),
          { maxLength: 30 },
        );
        let run = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(writes, { maxLength: 4 }), async (batches) => {
            run += 1;
            const jobId = `model-${run}`;
            const model = new Map<string, { token: number; records: unknown[] }>();
            for (const [at, batch] of batches.entries()) {
              const pages = batch.map(({ task, token, records, invalid }, index) =>
                aPageWrite({
                  jobId,
                  taskId: String(task),
                  token,
                  records: Array.from({ length: records }, (_, n) => ({ at, index, n })),
                  invalid: Array.from({ length: invalid }, () => ({ fields: {}, reason: "none" })),
                }),
              );
              const expected = pages.map(({ taskId, token, records }) => {
                const held = model.get(taskId);
                if (held !== undefined && held.token > token) return "stale";
                if (held?.token !== token) model.set(taskId, { token, records: [...records] });
                return "written";
              });
              expect(await store.write(pages)).toEqual(expected);
            }
            const records = await store.readRecords(jobId, 0, 1000);
            for (const [taskId, held] of model) {
              const kept = records.filter((record) => record.taskId === taskId).map(({ fields }) => fields);
              expect(kept).toEqual(held.records);
            }
            expect(await store.readPages(jobId, 0, 1000)).toHaveLength(model.size);
            expect(await store.countRecords(jobId)).toBe(records.length);
          }),
          { numRuns: 60 },
        );
      });
    });

    describe("reading", () => {
      it("walks records and pages by cursor, in order, each once", async () => {
        for (let batch = 0; batch < 5; batch += 1) {
          await store.write(
            ["a", "b", "c"].map((part) =>
              aPageWrite({
                taskId: `${batch}${part}`,
                records: [{ n: `${batch}${part}1` }, { n: `${batch}${part}2` }],
              }),
            ),
          );
        }

        const records = await walk((after) => store.readRecords("job", after, 4));
        const pages = await walk((after) => store.readPages("job", after, 4));

        const names = records.map(({ fields }) => fields.n);
        expect(names).toHaveLength(30);
        expect(names).toEqual([...names].sort());
        expect(pages.map(({ taskId }) => taskId)).toEqual([...pages.map(({ taskId }) => taskId)].sort());
        expect(pages).toHaveLength(15);
      });

      it("reads the records of one page, until a later lease replaces it", async () => {
        const batch = ["0", "1", "2"].map((taskId) =>
          aPageWrite({
            taskId,
            records: [
              { of: taskId, nth: 0 },
              { of: taskId, nth: 1 },
            ],
            invalid: [0, 1, 2].map((nth) => ({ fields: { nth }, reason: "no price" })),
          }),
        );
        await store.write([aPageWrite({ jobId: "other" })]);
        await store.write(batch);
        const pages = await store.readPages("job", 0, 10);
        const all = await store.readRecords("job", 0, 10);

        const found = await Promise.all(pages.map(({ id }) => store.readRecordsOfPage(id, 10)));
        expect(found.flat()).toEqual(all);
        expect(found.map((records) => records.map(({ fields }) => fields.of))).toEqual([
          ...[
            ["0", "0"],
            ["1", "1"],
          ],
          ["2", "2"],
        ]);
        const id = pages[1]?.id ?? 0;
        expect(await store.readRecordsOfPage(id, 1)).toEqual(found[1]?.slice(0, 1));
        await store.write([aPageWrite({ taskId: "1", token: 2 })]);
        expect(await store.readRecordsOfPage(id, 10)).toEqual([]);
      });

      it("finds records and pages by what is in them, so many at a time, and goes on from there", async () => {
        const fieldsOf = (nth: number) => (nth % 2_000 === 7 ? { deep: [{ title: "Ein ÄPFEL-Korb" }] } : { nth });
        const records = Array.from({ length: 6_000 }, (_, nth) => fieldsOf(nth));
        await store.write([
          aPageWrite({ taskId: "1", records, page: { url: "https://a.test/List?x=1", status: 404 } }),
        ]);
        await store.write([aPageWrite({ taskId: "2", invalid: [{ fields: {}, reason: "no Price" }] })]);

        const first = await scanRecords(store, "job", "äpfel", { afterId: 0, limit: 2 });
        const second = await scanRecords(store, "job", "äpfel", { afterId: first.lastId, limit: 2 });
        expect([first.found.length, first.scanned, first.isEnd]).toEqual([2, 2_008, false]);
        expect([second.found.length, second.isEnd]).toEqual([1, true]);
        const none = await scanRecords(store, "job", "nowhere", { afterId: 0, limit: 2 });
        expect(none).toMatchObject({ found: [], scanned: 5_000, isEnd: false });
        expect((await scanRecords(store, "job", "a.TEST/2", { afterId: 0, limit: 9_999 })).found).toHaveLength(0);
        expect(await scanRecords(store, "job", "title", { afterId: none.lastId, limit: 9 })).toMatchObject({
          found: [],
        });
        expect((await scanRecords(store, "job", "a.TEST/2", { afterId: none.lastId, limit: 9 })).found).toHaveLength(1);

        const urls = async (filter: Parameters<typeof scanPages>[2]) =>
          (await scanPages(store, "job", filter, { afterId: 0, limit: 9 })).found.map(({ url }) => url);
        expect(await urls({ text: "list?X" })).toEqual(["https://a.test/List?x=1"]);
        expect(await urls({ status: 4 })).toEqual(["https://a.test/List?x=1"]);
        expect(await urls({ status: 200, text: "a.test" })).toEqual(["https://a.test/2"]);
        expect(await urls({ status: 404, text: "/2" })).toEqual([]);
        expect((await scanInvalidRecords(store, "job", "price", { afterId: 0, limit: 9 })).found).toHaveLength(1);
      });

      it("keeps jobs apart", async () => {
        await store.write([
          aPageWrite({ jobId: "a" }),
          aPageWrite({ jobId: "b" }),
          aPageWrite({ jobId: "a", taskId: "2" }),
        ]);

        expect(await store.countRecords("a")).toBe(2);
        expect(await store.readRecords("b", 0, 10)).toMatchObject([{ jobId: "b" }]);
      });

      it("knows nothing of a job that never wrote", async () => {
        expect(await store.readRecords("none", 0, 10)).toEqual([]);
        expect(await store.readPages("none", 0, 10)).toEqual([]);
        expect(await store.readInvalid("none", 0, 10)).toEqual([]);
        expect(await store.countRecords("none")).toBe(0);
      });
    });

    describe("sharing", () => {
      it("shows what one connection wrote to every other, at once and after all have closed", async () => {
        const other = await open();
        await store.write([aPageWrite({ taskId: "1" })]);
        expect(await other.countRecords("job")).toBe(1);

        await Promise.all(opened.map((each) => each.close()));

        const later = await open();
        expect(await later.countRecords("job")).toBe(1);
        expect(await later.write([aPageWrite({ taskId: "1" }), aPageWrite({ taskId: "2" })])).toEqual([
          "written",
          "written",
        ]);
        expect(await later.countRecords("job")).toBe(2);
      });

      it("lets connections write the same tasks at once, and the highest token keeps each", async () => {
        const others = await Promise.all([open(), open(), open()]);
        const tasks = Array.from({ length: 20 }, (_, n) => String(n));

        await Promise.all(
          [store, ...others].flatMap((each, writer) =>
            tasks.map((taskId, n) => {
              const token = 1 + ((writer + n) % 4);
              return each.write([aPageWrite({ taskId, token, records: [{ token }, { token }] })]);
            }),
          ),
        );

        const records = await store.readRecords("job", 0, 1000);
        expect(records.map(({ fields }) => fields)).toEqual(Array(40).fill({ token: 4 }));
        expect(new Set(records.map(({ id }) => id)).size).toBe(40);
      });

      it("hides nothing from a reader that follows while others write", async () => {
        const other = await open();
        const seen: StoredRecord[] = [];
        const follow = async (): Promise<void> => {
          seen.push(...(await walk((after) => store.readRecords("job", after, 3), lastId(seen))));
        };

        for (let n = 0; n < 20; n += 1) {
          const writing = [store, other].map((each, writer) => each.write([aPageWrite({ taskId: `${n}-${writer}` })]));
          await Promise.all([...writing, follow()]);
        }
        await follow();

        expect(seen.map(({ id }) => id)).toEqual((await store.readRecords("job", 0, 100)).map(({ id }) => id));
        expect(seen).toHaveLength(40);
      });

      it("may be closed twice", async () => {
        await store.close();
        await store.close();
      });

      it("refuses a schema newer than it knows, and leaves it alone", async () => {
        await store.write([aPageWrite({})]);
        await store.close();
        await site.raiseSchema();

        await expect(open()).rejects.toSatisfy((error) => isTrawlError(error, "STORE_SCHEMA"));
        await expect(open()).rejects.toThrow(/upgrade Trawl/);
      });
    });
  });
}

async function everything(store: Store) {
  return {
    pages: await store.readPages("job", 0, 1000),
    records: await store.readRecords("job", 0, 1000),
    invalid: await store.readInvalid("job", 0, 1000),
  };
}

function lastId(rows: readonly { id: number }[]): number {
  return rows.at(-1)?.id ?? 0;
}

async function walk<T extends { id: number }>(
  read: (afterId: number) => Promise<readonly T[]>,
  from = 0,
): Promise<T[]> {
  const all: T[] = [];
  let rows = await read(from);
  while (rows.length > 0) {
    all.push(...rows);
    rows = await read(lastId(rows));
  }
  return all;
}
