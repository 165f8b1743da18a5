import fc from "fast-check";
import { parquetMetadataAsync, parquetRead } from "hyparquet";
import { describe, expect, it } from "vitest";
import type { Fields } from "../../domain/page.ts";
import { isTrawlError } from "../../errors.ts";
import type { StoredRecord } from "../store.ts";
import { exportRecords } from "./export-records.ts";
import { createParquetWriter } from "./parquet-writer.ts";

const FETCHED_AT = 1_700_000_000_000;
const OURS = { _url: "https://a.test/", _status: 200, _fetchedAt: new Date(FETCHED_AT), _job: "job", _depth: 1 };

describe("Parquet", () => {
  it("has a typed column for every field, followed by Trawl's own columns", async () => {
    const { types, rows } = await written([
      { title: "one", price: 4.5, isNew: true, tags: ["a", "b"], mixed: 1, none: null },
      { title: "two", price: 5, isNew: false, tags: [], mixed: "1", none: null },
    ]);

    expect(types).toEqual({
      title: "BYTE_ARRAY UTF8",
      price: "DOUBLE",
      isNew: "BOOLEAN",
      tags: "BYTE_ARRAY JSON",
      mixed: "BYTE_ARRAY JSON",
      none: "BYTE_ARRAY UTF8",
      _url: "BYTE_ARRAY UTF8",
      _status: "INT32",
      _fetchedAt: "INT64 TIMESTAMP_MILLIS",
      _job: "BYTE_ARRAY UTF8",
      _depth: "INT32",
    });
    expect(rows).toEqual([
      { title: "one", price: 4.5, isNew: true, tags: ["a", "b"], mixed: 1, none: null, ...OURS },
      { title: "two", price: 5, isNew: false, tags: [], mixed: "1", none: null, ...OURS },
    ]);
  });

  it("has a column for a field that only the last of many records has", async () => {
    const all: Fields[] = Array.from({ length: 2_000 }, (_, n) => ({ n }));

    const { rows } = await written([...all, { late: "yes" }]);

    expect(rows).toHaveLength(2_001);
    expect(rows[0]).toEqual({ n: 0, late: null, ...OURS });
    expect(rows.at(-1)).toEqual({ n: null, late: "yes", ...OURS });
  });

  it("preserves every value of any records", async () => {
    // The Parquet library drops a key of this name inside a value. As the name of a field it is kept.
    const value = fc.jsonValue().filter((any) => !JSON.stringify(any).includes('"__proto__":'));
    const fields = fc.dictionary(fc.string(), value, { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(fc.array(fields, { maxLength: 20 }), async (all) => {
        const plain = all.map((each) => JSON.parse(JSON.stringify(each)) as Fields);
        const { rows } = await written(plain);
        const names = [...new Set(plain.flatMap((each) => Object.keys(each)))];
        const whole = plain.map((each) => ({
          ...Object.fromEntries(names.map((name) => [name, Object.hasOwn(each, name) ? each[name] : null])),
          ...OURS,
        }));
        expect(rows.map(normal)).toEqual(whole.map(normal));
      }),
      { numRuns: 100, examples: [[[JSON.parse('{ "__proto__": {}, "constructor": 1 }')]]] },
    );
  });

  it("is a valid file without records, with the given columns", async () => {
    const { types, rows } = await written([], ["title", "price"]);

    expect(rows).toEqual([]);
    expect(Object.keys(types)).toEqual(["title", "price", ...Object.keys(OURS)]);
  });

  it("writes each row group before it starts the next", async () => {
    const text = "x".repeat(1_000_000);
    const all = Array.from({ length: 60 }, (_, n) => ({ n, text: `${n} ${text}` }));

    const { groups, rows, parts } = await written(all);

    expect(groups).toBeGreaterThan(2);
    expect(parts).toBe(groups + 1);
    expect(rows.map(({ n }) => n)).toEqual(all.map(({ n }) => n));
  });

  it("keeps row groups small if there are very many columns", async () => {
    const all = Array.from({ length: 2_500 }, (_, n) => Object.fromEntries([[`c${n % 1_500}`, n]]));

    const { groups, rows } = await written(all);

    expect(groups).toBe(2);
    expect(rows[2_499]?.c999).toBe(2_499);
  });

  it("rejects a field that appeared after the columns were collected, so that no field is lost silently", async () => {
    const writer = createParquetWriter({ write: async () => {} }, { columns: ["a"] });
    await writer.begin(async () => new Map());

    await expect(writer.write([aRecord(1, { a: 1, late: 2 })])).rejects.toSatisfy((error) =>
      isTrawlError(error, "BAD_OUTPUT"),
    );
  });
});

async function written(all: readonly Fields[], columns?: readonly string[]) {
  const parts: Buffer[] = [];
  // Copied at once: the writer reuses its buffer.
  const sink = { write: async (bytes: Uint8Array) => void parts.push(Buffer.from(bytes)) };
  const records = all.map((fields, index) => aRecord(index + 1, fields));
  const store = {
    readRecords: async (_: string, after: number, max: number) => records.slice(after, after + max),
  };
  const writer = createParquetWriter(sink, { columns });
  await exportRecords(store, "job", writer, { afterId: 0 });
  await writer.end();
  const bytes = Buffer.concat(parts);
  const file = new Uint8Array(bytes).buffer;
  const { schema, row_groups } = await parquetMetadataAsync(file);
  const names = schema.slice(1).map(({ name }) => name);
  const rows = (await rowsIn(file)).map(
    (row) => Object.fromEntries(names.map((name, at) => [name, row[at]])) as Fields,
  );
  const types = schema.slice(1).map(({ name, type, converted_type }) => {
    return [name, [type, converted_type].filter((part) => part !== undefined).join(" ")];
  });
  return {
    types: Object.fromEntries(types) as Record<string, string>,
    rows,
    groups: row_groups.length,
    parts: parts.length,
  };
}

/** Reads rows as arrays: the reader's objects drop a column named `__proto__`. */
function rowsIn(file: ArrayBuffer): Promise<unknown[][]> {
  return new Promise((resolve, reject) => {
    parquetRead({ file, rowFormat: "array", onComplete: resolve }).catch(reject);
  });
}

/** Entries sorted by name: `__proto__` is a normal field here, and objects order integer keys in their own way. */
function normal(row: Fields): [string, unknown][] {
  return Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1));
}

function aRecord(id: number, fields: Fields): StoredRecord {
  const page = { url: OURS._url, status: OURS._status, fetchedAt: FETCHED_AT, depth: OURS._depth };
  return { id, jobId: OURS._job, taskId: "task", ...page, fields };
}
