import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Fields } from "../../../src/domain/page.ts";
import type { Columns } from "../../../src/store/export/column-kind.ts";
import { exportRecords } from "../../../src/store/export/export-records.ts";
import { openOutput } from "../../../src/store/export/open-output.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { aPageWrite } from "./page-write.ts";

describe("an export", () => {
  let folder: string;
  let store: Store;
  let pages = 0;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "trawl-export-"));
    store = openSqliteStore(join(folder, "store.db"), { busyMs: 10_000 });
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  it("writes every record of its job, in order, over many batches", async () => {
    await keep(
      "job",
      Array.from({ length: 1234 }, (_, n) => ({ n })),
    );
    await keep("other", [{ n: "not mine" }]);
    const path = join(folder, "out.jsonl");
    const output = await openOutput(path, "jsonl", { columns: undefined });

    const { count, lastId } = await exportRecords(store, "job", output, { afterId: 0 });
    await output.close();

    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 1234 }, (_, n) => n));
    expect(count).toBe(1234);
    expect(await store.readRecords("job", lastId, 1)).toEqual([]);
  });

  it("continues after the last record of the previous export", async () => {
    const path = join(folder, "out.jsonl");
    const output = await openOutput(path, "jsonl", { columns: undefined });
    await keep("job", [{ n: 1 }, { n: 2 }]);
    const first = await exportRecords(store, "job", output, { afterId: 0 });
    const nothing = await exportRecords(store, "job", output, { afterId: first.lastId });
    await keep("job", [{ n: 3 }]);
    const second = await exportRecords(store, "job", output, { afterId: nothing.lastId });
    await output.close();

    expect([first.count, nothing.count, second.count]).toEqual([2, 0, 1]);
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).n)).toEqual([1, 2, 3]);
  });

  it("writes a CSV header with the fields of all records, even if only the last record has a field", async () => {
    await keep("job", [...Array.from({ length: 700 }, (_, n) => ({ n })), { rare: "=1" }]);
    const path = join(folder, "out.csv");
    const output = await openOutput(path, "csv", { columns: undefined });

    await exportRecords(store, "job", output, { afterId: 0 });
    await output.close();

    const lines = (await readFile(path, "utf8")).split("\r\n");
    expect(lines[0]).toBe("n,rare,_url,_status,_fetchedAt,_job,_depth");
    expect(lines[701]).toMatch(/^,'=1,https:/);
    expect(lines).toHaveLength(703);
  });

  it("exports to CSV only the records that existed when the header was written", async () => {
    await keep("job", [{ a: 1 }]);
    const path = join(folder, "out.csv");
    const output = await openOutput(path, "csv", { columns: undefined });
    const racing = {
      begin: async (findColumns: () => Promise<Columns>) => {
        await output.begin(findColumns);
        await keep("job", [{ late: 2 }]);
      },
      write: output.write,
    };

    const { count } = await exportRecords(store, "job", racing, { afterId: 0 });
    await output.close();

    expect(count).toBe(1);
    expect(await readFile(path, "utf8")).toMatch(/^a,_url,.*\r\n1,.*\r\n$/);
  });

  async function keep(jobId: string, records: readonly Fields[]): Promise<void> {
    pages += 1;
    await store.write([aPageWrite({ jobId, taskId: String(pages), records })]);
  }
});
