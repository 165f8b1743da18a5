import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Fields } from "../../domain/page.ts";
import { isTrawlError } from "../../errors.ts";
import type { StoredRecord } from "../store.ts";
import { createRecordWriter } from "./create-record-writer.ts";
import type { TextFormat } from "./format.ts";
import { recordJson, recordLine } from "./record-line.ts";

const NONE = { columns: undefined };

describe("a record's line", () => {
  it("has the user's fields first, then Trawl's own", () => {
    expect(Object.entries(recordLine(aRecord({ title: "one", price: 2 })))).toEqual([
      ["title", "one"],
      ["price", 2],
      ["_url", "https://a.test/"],
      ["_status", 200],
      ["_fetchedAt", "2023-11-14T22:13:20.000Z"],
      ["_job", "job"],
      ["_depth", 1],
    ]);
  });

  it("contains the URL of its page, even if a field is named _url", () => {
    expect(recordLine(aRecord({ _url: "https://fake.test/" }))._url).toBe("https://a.test/");
  });
});

describe("a record as JSON", () => {
  it("is the same from the stored text and from the fields, for any record", () => {
    const names = fc.oneof(fc.string(), fc.constantFrom("_url", "_status", "_job", "__proto__"));
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue()), (fields) => {
        const record = aRecord(fields);
        const stored = { ...record, fieldsText: JSON.stringify(fields) };
        expect(recordJson(stored)).toBe(JSON.stringify(recordLine(record)));
      }),
    );
  });
});

describe("JSON Lines", () => {
  it("has one object per line for any record", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.dictionary(fc.string(), fc.jsonValue())), async (all) => {
        const records = all.map((fields) => aRecord(fields));
        const text = await textOf("jsonl", records);
        const lines = text.split("\n");
        expect(lines.pop()).toBe("");
        expect(lines.map((line) => JSON.parse(line))).toEqual(
          records.map((record) => JSON.parse(JSON.stringify(recordLine(record)))),
        );
      }),
    );
  });
});

describe("JSON", () => {
  it.each([0, 1, 3])("is one array of %i records", async (count) => {
    const records = Array.from({ length: count }, (_, n) => aRecord({ n }));

    expect(JSON.parse(await textOf("json", records))).toEqual(records.map(recordLine));
  });
});

describe("CSV", () => {
  it("has a header, and a cell for every column of records that differ", async () => {
    const text = await textOf("csv", [aRecord({ title: "one" }), aRecord({ price: 2, tags: ["a", "b"] })], {
      found: ["title", "price", "tags"],
    });

    expect(text.split("\r\n")).toEqual([
      "title,price,tags,_url,_status,_fetchedAt,_job,_depth",
      "one,,,https://a.test/,200,2023-11-14T22:13:20.000Z,job,1",
      ',2,"[""a"",""b""]",https://a.test/,200,2023-11-14T22:13:20.000Z,job,1',
      "",
    ]);
  });

  it("uses the given columns without searching the records for them", async () => {
    const text = await textOf("csv", [aRecord({ b: 1, a: 2 })], { columns: ["a", "b"] });

    expect(text).toMatch(/^a,b,_url,.*\r\n2,1,/);
  });

  it("writes each of Trawl's columns once if a field has the same name, and neutralises column names too", async () => {
    const text = await textOf("csv", [aRecord({ _url: "x", "=name": 1 })], { found: ["_url", "=name"] });

    expect(text).toMatch(/^'=name,_url,_status,_fetchedAt,_job,_depth\r\n1,https:/);
  });

  it("leaves a cell empty if only the prototype of the object has that property", async () => {
    const text = await textOf("csv", [aRecord({})], { columns: ["toString", "__proto__"] });

    expect(text.split("\r\n")[1]).toMatch(/^,,https:/);
  });

  it("has its header even without records", async () => {
    expect(await textOf("csv", [], { columns: ["a"] })).toBe("a,_url,_status,_fetchedAt,_job,_depth\r\n");
    const sink = collector();
    await createRecordWriter("csv", sink, NONE).end();
    expect(sink.text()).toBe("_url,_status,_fetchedAt,_job,_depth\r\n");
  });

  it("rejects a field that is not in the header instead of losing it", async () => {
    const writing = textOf("csv", [aRecord({ a: 1, late: 2 })], { columns: ["a"] });

    await expect(writing).rejects.toThrow(/record 1 of https:\/\/a\.test\/ has the field "late"/);
    await expect(writing).rejects.toSatisfy((error) => isTrawlError(error, "BAD_OUTPUT"));
  });
});

describe("every format", () => {
  it.each(["jsonl", "json", "csv"] as const)(
    "waits until the sink has accepted %s before it produces more",
    async (format) => {
      const records = Array.from({ length: 200 }, (_, n) => aRecord({ n, text: "x".repeat(5000) }));
      let waiting = 0;
      let max = 0;
      let longest = 0;
      const writer = createRecordWriter(
        format,
        {
          write: async (text) => {
            waiting += 1;
            max = Math.max(max, waiting);
            longest = Math.max(longest, text.length);
            await new Promise((resolve) => setImmediate(resolve));
            waiting -= 1;
          },
        },
        { columns: ["n", "text"] },
      );

      await writer.begin(async () => new Map());
      await writer.write(records);
      await writer.end();

      expect(max).toBe(1);
      expect(longest).toBeLessThan(100_000);
    },
  );
});

function aRecord(fields: Fields): StoredRecord {
  const page = { url: "https://a.test/", status: 200, fetchedAt: 1_700_000_000_000.25, depth: 1 };
  return { id: 1, jobId: "job", taskId: "task", ...page, fields };
}

async function textOf(
  format: TextFormat,
  records: readonly StoredRecord[],
  { columns, found = [] }: { columns?: readonly string[]; found?: readonly string[] } = {},
): Promise<string> {
  const sink = collector();
  const writer = createRecordWriter(format, sink, { columns });
  await writer.begin(async () => new Map(found.map((name) => [name, "text"])));
  const half = Math.ceil(records.length / 2);
  await writer.write(records.slice(0, half));
  await writer.write(records.slice(half));
  await writer.end();
  return sink.text();
}

function collector() {
  const texts: string[] = [];
  return {
    write: async (text: string) => {
      texts.push(text);
    },
    text: () => texts.join(""),
  };
}
