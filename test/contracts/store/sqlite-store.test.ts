import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isTrawlError, type TrawlError } from "../../../src/errors.ts";
import { openDatabase } from "../../../src/runtime/sqlite.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-sqlite-store.ts";
import { createTraceReader } from "../../../src/store/sqlite/trace-reader.ts";
import { describeAttempts } from "./describe-attempts.ts";
import { describeMemories } from "./describe-memories.ts";
import { describeStore, type StoreFixture } from "./describe-store.ts";
import { anAttemptWrite, aPageWrite } from "./page-write.ts";

const OPTIONS = { busyMs: 10_000 };

async function prepareSqlite(): Promise<StoreFixture> {
  const folder = await mkdtemp(join(tmpdir(), "trawl-store-"));
  const path = join(folder, "made", "on-the-way", "store.db");
  return {
    open: async () => openSqliteStore(path, OPTIONS),
    raiseSchema: async () => {
      const db = openDatabase(path, { durability: "normal", busyMs: 1000, pageBytes: 4096 });
      db.exec("PRAGMA user_version = 999");
      db.close();
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

describeStore("sqlite", prepareSqlite);
describeAttempts("sqlite", prepareSqlite);
describeMemories("sqlite", prepareSqlite);

describe("a store's file", () => {
  it("contains everything after the last process has closed it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "trawl-store-"));
    const [path, copy] = [join(folder, "store.db"), join(folder, "copy.db")];
    const [store, other] = [openSqliteStore(path, OPTIONS), openSqliteStore(path, OPTIONS)];
    await store.write([aPageWrite({ taskId: "1" })]);
    await store.close();
    await other.write([aPageWrite({ taskId: "2" })]);
    await other.close();

    await copyFile(path, copy);

    const copied = openSqliteStore(copy, OPTIONS);
    expect(await copied.countRecords("job")).toBe(2);
    await copied.close();
    await rm(folder, { recursive: true });
  });

  it("is migrated from the version before steps were recorded, with its contents", async () => {
    const folder = await mkdtemp(join(tmpdir(), "trawl-store-"));
    const path = join(folder, "store.db");
    const db = openDatabase(path, { durability: "normal", busyMs: 1000, pageBytes: 4096 });
    const migrations = new URL("../../../src/store/sqlite/migrations/", import.meta.url);
    const steps = ["001-initial.sql", "002-tries.sql", "003-pictures.sql"];
    for (const name of steps) db.exec(await readFile(new URL(name, migrations), "utf8"));
    db.exec(`INSERT INTO jobs VALUES (1, 'job'); INSERT INTO workers VALUES (1, 'host/1');
      INSERT INTO pages (id, job, task, token, depth, url, status, headers, body_bytes, fetched_at, took_ms, records, invalid)
        VALUES (1, 1, 'old', 1, 0, 'https://a.test/old', 200, '{}', 1, 1, 1, 0, 0);
      INSERT INTO tries VALUES (1, 'task', 1, 'https://a.test/task', 1, 1, 1000, 1020, 'retry', 'timeout', NULL, NULL);
      PRAGMA application_id = ${0x5472776c}; PRAGMA user_version = ${steps.length}`);
    db.close();

    const store = openSqliteStore(path, OPTIONS);
    await store.write([], [anAttemptWrite({ token: 2, outcome: "passed" })]);

    const tries = await store.traceAttempts({ taskId: "task" });
    expect(tries).toMatchObject([
      { token: 1, because: "timeout", run: { worker: "host/1", step: "fetch", leasedAt: 1000, endedAt: 1020 } },
      { token: 2, outcome: "passed" },
    ]);
    expect(await store.tracePages({ taskId: "old" })).toMatchObject([{ status: 200, run: undefined }]);
    await store.close();
    await rm(folder, { recursive: true });
  });

  it("is searched for a URL in batches, and yields to the event loop between them", async () => {
    const folder = await mkdtemp(join(tmpdir(), "trawl-store-"));
    const path = join(folder, "store.db");
    const store = openSqliteStore(path, OPTIONS);
    const nths = Array.from({ length: 9 }, (_, nth) => nth);
    const urlOf = (nth: number) => `https://a.test/${nth % 8}`;
    await store.write(
      nths.map((nth) => aPageWrite({ taskId: String(nth), page: { url: urlOf(nth) } })),
      nths.flatMap((nth) => [1, 2].map((token) => anAttemptWrite({ taskId: `t${nth}`, token, url: urlOf(nth) }))),
    );
    const db = openDatabase(path, { durability: "normal", busyMs: 1000, pageBytes: 4096 });
    const trace = createTraceReader(db, { batchRows: 3 });
    const order: string[] = [];
    setImmediate(() => order.push("another"));

    const target = { jobId: "job", url: urlOf(0) };
    const pages = await trace.pages(target, (work) => work());
    order.push("pages");

    expect(pages.map(({ taskId }) => taskId)).toEqual(["0", "8"]);
    expect(order).toEqual(["another", "pages"]);
    const attempts = await trace.attempts(target, (work) => work());
    expect(attempts.map(({ taskId, token }) => [taskId, token])).toEqual([
      ["t0", 1],
      ["t0", 2],
      ["t8", 1],
      ["t8", 2],
    ]);
    db.close();
    await store.close();
    await rm(folder, { recursive: true });
  });

  it("closes without waiting while another process reads it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "trawl-store-"));
    const path = join(folder, "store.db");
    const store = openSqliteStore(path, OPTIONS);
    const reader = openDatabase(path, { durability: "normal", busyMs: 1000, pageBytes: 4096 });
    reader.exec("BEGIN; SELECT * FROM pages");
    await store.write([aPageWrite({})]);

    await store.close();

    reader.exec("COMMIT");
    reader.close();
    await rm(folder, { recursive: true });
  });
});

describe("a store's file that cannot be used", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "trawl-store-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("is reported with the fix if it is a folder", async () => {
    const path = join(folder, "folder.db");
    await mkdir(path);

    expect(failureOf(path)).toMatchObject({ code: "STORE_UNREACHABLE", detail: { path } });
    expect(failureOf(path).message).toMatch(/folder\.db.*check that the path is not a folder/);
  });

  it("is reported with the fix if its folder is a file", async () => {
    await writeFile(join(folder, "file"), "");

    expect(failureOf(join(folder, "file", "store.db")).message).toMatch(/store\.db.*not a folder/);
  });

  it("is not changed if it is not a SQLite file", async () => {
    const path = join(folder, "letter.db");
    await writeFile(path, "Dear Sir or Madam, ".repeat(500));

    expect(failureOf(path).message).toMatch(/letter\.db.*not a SQLite file/);
    expect(await readFile(path, "utf8")).toMatch(/^Dear Sir/);
  });

  it("is refused if it is a SQLite file of another application", () => {
    const path = join(folder, "theirs.db");
    const db = openDatabase(path, { durability: "normal", busyMs: 1000, pageBytes: 4096 });
    db.exec("CREATE TABLE pages (theirs TEXT); PRAGMA user_version = 1");
    db.close();

    expect(failureOf(path).message).toMatch(/theirs\.db.*belongs to another application.*TRAWL_STORE/);
  });

  it("is reported if damage is found later", async () => {
    const path = join(folder, "store.db");
    const store = openSqliteStore(path, OPTIONS);
    await store.write(Array.from({ length: 200 }, (_, n) => aPageWrite({ taskId: String(n) })));
    await store.close();
    const bytes = await readFile(path);
    await writeFile(path, bytes.fill(0xaa, 16384)); // all but the schema

    const damaged = openSqliteStore(path, OPTIONS);
    await expect(damaged.readRecords("job", 0, 1000)).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(/corrupt.*restore a backup/),
    });
    await damaged.close();
  });

  it("is reported if another process keeps it locked", async () => {
    const path = join(folder, "store.db");
    const store = openSqliteStore(path, { busyMs: 1 });
    await store.write([aPageWrite({})]);
    const locking = openDatabase(path, { durability: "normal", busyMs: 1, pageBytes: 4096 });
    locking.exec("BEGIN IMMEDIATE");

    await expect(store.write([aPageWrite({ token: 2 })])).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(/another process/),
    });

    locking.exec("ROLLBACK");
    expect(await store.write([aPageWrite({ token: 2 })])).toEqual(["written"]);
    locking.close();
    await store.close();
  });
});

function failureOf(path: string): TrawlError {
  try {
    openSqliteStore(path, OPTIONS);
  } catch (error) {
    if (isTrawlError(error)) return error;
    throw error;
  }
  throw new Error(`${path} could be opened`);
}
