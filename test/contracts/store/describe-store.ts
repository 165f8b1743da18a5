/**
 * The contract of every store backend. The test file of each backend runs it. It is one long function, because its
 * tests share the variables of the store that is opened for each test.
 */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isTrawlError } from "../../../src/errors.ts";
import { scanInvalidRecords, scanPages, scanRecords } from "../../../src/store/scan.ts";
import type { Store, StoredRecord } from "../../../src/store/store.ts";
import { aPageWrite } from "./page-write.ts";

/** A store that is empty when a test starts. */
export type StoreFixture = {
  /** Opens another connection to the same store, like another process. */
  open(): Promise<Store>;
  /** Raises the schema version of the store, as if a newer Trawl had written it. */
  raiseSchema(): Promise<void>;
  /** Removes the store. All connections are closed before. */
  remove(): Promise<void>;
};

export function describeStore(name: string, prepare: () => Promise<StoreFixture>): void {
  describe(`store contract on ${name}`, () => {
    let fixture: StoreFixture;
    let store: Store;
    let opened: Store[];

    const open = async (): Promise<Store> => {
      const another = await fixture.open();
      opened.push(another);
      return another;
    };

    beforeEach(async () => {
      fixture = await prepare();
      opened = [];
      store = await open();
    });

    afterEach(async () => {
      await Promise.all(opened.map((each) => each.close()));
      await fixture.remove();
    });

    describe("writing", () => {
      it("returns a page and its records as they were written", async () => {
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
        expect(records.map(({ id: _, ...rest }) => rest)).toEqual(
          write.records.map((fields) => ({ ...kept, fields, fieldsText: JSON.stringify(fields) })),
        );
      });

      it("finds a page of any job by its id, until a later lease replaces it", async () => {
        await store.write([aPageWrite({ jobId: "other" }), aPageWrite({ token: 1 })]);
        const [page] = await store.readPages("job", 0, 10);
        const id = page?.id ?? 0;

        expect(await store.findPage(id)).toEqual(page);
        expect(await store.findPage(id + 1_000_000)).toBeUndefined();
        expect(await store.findPage(Number.MAX_SAFE_INTEGER)).toBeUndefined();
        await store.write([aPageWrite({ token: 2 })]);
        expect(await store.findPage(id)).toBeUndefined();
      });

      it("returns undefined for an unknown content type, body and screenshot", async () => {
        await store.write([aPageWrite({ page: { url: "https://a.test/", contentType: undefined } })]);

        const [page] = await store.readPages("job", 0, 10);

        expect(page).toMatchObject({ contentType: undefined, bodyRef: undefined, screenshotRef: undefined });
      });

      it("stores any record that JSON can represent", async () => {
        let task = 0;
        await fc.assert(
          fc.asyncProperty(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), async (fields) => {
            task += 1;
            await store.write([aPageWrite({ jobId: `job-${task}`, records: [fields] })]);
            const [record] = await store.readRecords(`job-${task}`, 0, 1);
            expect(record?.fields).toEqual(JSON.parse(JSON.stringify(fields)));
            expect(record?.fieldsText).toBe(JSON.stringify(fields));
          }),
          { numRuns: 50 },
        );
      });

      it("stores pages without records, and accepts an empty batch", async () => {
        expect(await store.write([])).toEqual([]);
        expect(await store.write([aPageWrite({ records: [] })])).toEqual(["written"]);

        expect(await store.readPages("job", 0, 10)).toMatchObject([{ taskId: "task", records: 0 }]);
        expect(await store.countRecords("job")).toBe(0);
      });

      it("stores invalid records separately, with the reason", async () => {
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

      it("limits the size of the stored headers, and drops none that fit", async () => {
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
      it("accepts the same token again and changes nothing, not even ids", async () => {
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

      it("replaces a page and its records if the token is higher, with ids after every cursor", async () => {
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

      it("checks the token of each write of a batch in order, even for one task", async () => {
        const verdicts = await store.write([
          aPageWrite({ token: 2, records: [{ by: 2 }] }),
          aPageWrite({ token: 1, records: [{ by: 1 }] }),
          aPageWrite({ token: 3, records: [{ by: 3 }] }),
          aPageWrite({ token: 3, records: [{ by: "3 again" }] }),
        ]);

        expect(verdicts).toEqual(["written", "stale", "written", "written"]);
        expect((await store.readRecords("job", 0, 10)).map(({ fields }) => fields)).toEqual([{ by: 3 }]);
      });

      it("keeps tasks with the same id in two jobs separate", async () => {
        await store.write([aPageWrite({ jobId: "a", token: 9 })]);

        expect(await store.write([aPageWrite({ jobId: "b", token: 1 })])).toEqual(["written"]);
        expect(await store.readPages("a", 0, 10)).toHaveLength(1);
        expect(await store.readPages("b", 0, 10)).toHaveLength(1);
      });

      it("contains the same as a simple map of tasks after random writes", async () => {
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
      it("reads records and pages by cursor, in order, each once", async () => {
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

      it("searches records and pages by text and status in bounded steps, and continues from a cursor", async () => {
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

      it("keeps the records of different jobs separate", async () => {
        await store.write([
          aPageWrite({ jobId: "a" }),
          aPageWrite({ jobId: "b" }),
          aPageWrite({ jobId: "a", taskId: "2" }),
        ]);

        expect(await store.countRecords("a")).toBe(2);
        expect(await store.readRecords("b", 0, 10)).toMatchObject([{ jobId: "b" }]);
      });

      it("returns nothing for an unknown job", async () => {
        expect(await store.readRecords("none", 0, 10)).toEqual([]);
        expect(await store.readPages("none", 0, 10)).toEqual([]);
        expect(await store.readInvalid("none", 0, 10)).toEqual([]);
        expect(await store.countRecords("none")).toBe(0);
      });
    });

    describe("sharing", () => {
      it("returns the writes of one connection on every other, at once and after all were closed", async () => {
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

      it("accepts concurrent writes of the same tasks, and keeps the highest token of each", async () => {
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

      it("returns every record to a reader that follows while others write", async () => {
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

      it("refuses a newer schema and says to upgrade Trawl", async () => {
        await store.write([aPageWrite({})]);
        await store.close();
        await fixture.raiseSchema();

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
