/** A store on PostgreSQL whose server crashes, does not reply, or refuses the connection. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { createLog } from "../../../src/runtime/log.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { openLossyProxy } from "../../redis/lossy-proxy.ts";
import { findCertificatesObstacle, makeCertificates } from "../../services/certificates.ts";
import { findPostgresObstacle, type PostgresServer, startPostgres } from "../../services/postgres.ts";
import { waitUntil } from "../../services/wait-until.ts";
import { anAttemptWrite, aPageWrite } from "./page-write.ts";
import { inDatabase, type PostgresFixture, preparePostgres } from "./postgres-fixture.ts";

const obstacle = findPostgresObstacle();
const clock = systemClock();

/** Opens a store that is closed after the test. Its log lines are added to `lines`. */
async function openAt(
  url: string,
  { retryForMs = 20_000, lines = [] as string[], ownClock = clock } = {},
): Promise<Store> {
  const log = createLog("debug", (line) => void lines.push(line));
  const store = await openPostgresStore(url, { clock: ownClock, log }, { retryForMs });
  onTestFinished(() => store.close());
  return store;
}

/** The error with which opening the store fails. */
async function failureAt(url: string, retryForMs = 20_000): Promise<{ code: string; message: string; text: string }> {
  const error = await openAt(url, { retryForMs }).then(
    () => new Error("the store was opened"),
    (cause: unknown) => cause as Error & { code: string },
  );
  const { cause } = error as { cause?: unknown };
  const text = [error.message, error.stack, JSON.stringify(error), String(cause), JSON.stringify(cause)].join("\n");
  return { code: (error as { code?: string }).code ?? "", message: error.message, text };
}

describe.skipIf(obstacle !== undefined)(`connection to PostgreSQL (${obstacle ?? "available"})`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  function newSchema(): PostgresFixture {
    const made = preparePostgres(server);
    onTestFinished(() => made.remove());
    return made;
  }

  it("waits for a server that crashes and restarts, and keeps every confirmed write", async () => {
    const lines: string[] = [];
    const store = await openAt(newSchema().url, { lines });
    await store.write([aPageWrite({ taskId: "1" })]);

    await server.kill();
    const late = store.write([aPageWrite({ taskId: "2" })]);
    expect(await waitUntil(() => lines.some((line) => line.includes("store.lost")), 10_000)).toBe(true);
    await server.restart();

    expect(await late).toEqual(["written"]);
    expect(await store.countRecords("job")).toBe(2);
    const events = lines.map((line) => (JSON.parse(line) as { event?: string; msg?: string }).event);
    expect(events).toEqual(["store.lost", "store.back"]);
  });

  it("stores a write once if the reply is lost and the call is repeated", async () => {
    const { url, open } = newSchema();
    await (await open()).close();
    const line = await openLossyProxy(server.port);
    const store = await openAt(url.replace(`:${server.port}/`, `:${new URL(line.url).port}/`));
    // Prepares the statement, so that the next call is one message.
    await store.write([aPageWrite({ taskId: "first" })]);

    const lost = line.loseNextReply("lose-me");
    const verdicts = store.write([aPageWrite({ taskId: "lose-me", records: [{ n: 1 }, { n: 2 }] })]);
    await lost;

    expect(await verdicts).toEqual(["written"]);
    const records = await store.readRecords("job", 0, 10);
    // If the repeated write had changed anything, it would have used new ids.
    expect(records.map(({ id, fields }) => [id, fields])).toEqual([
      [1, { title: "one" }],
      [2, { n: 1 }],
      [3, { n: 2 }],
    ]);
  });

  it("closes a connection on which no reply arrives, and repeats the call on another", async () => {
    // The store waits 30 seconds for a reply. With this clock, waits are a hundred times shorter.
    const fastClock = {
      now: () => clock.now(),
      sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms / 100, signal),
    };
    const lines: string[] = [];
    const { url } = newSchema();
    const store = await openAt(url, { lines, ownClock: fastClock });
    await store.countRecords("job");
    const pids = await server.query(
      (sql) => sql`SELECT pid FROM pg_stat_activity WHERE application_name = 'trawl' AND pid <> pg_backend_pid()`,
    );
    for (const { pid } of pids) process.kill(Number(pid), "SIGSTOP");
    onTestFinished(() => {
      for (const { pid } of pids) process.kill(Number(pid), "SIGCONT");
    });

    expect(await store.write([aPageWrite({})])).toEqual(["written"]);

    expect(lines.join("\n")).toContain("accepts connections but does not answer");
  });

  it("throws an error after the configured time, with address and reason but no password", async () => {
    const gone = await startPostgres();
    const store = await openAt(gone.url, { retryForMs: 300 });
    await gone.stop();

    const failure = await store.write([aPageWrite({})]).catch((error: unknown) => error);

    expect(failure).toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(
        /^store postgres:\/\/127\.0\.0\.1:\d+\/trawl has not been reached for \d+ s \(connection refused .*TRAWL_STORE_RETRY_FOR/,
      ),
    });
    const opening = await failureAt(gone.url, 300);
    expect(opening.code).toBe("STORE_UNREACHABLE");
    expect(opening.text).not.toContain(gone.password);
  });

  it("does not wait if the password is wrong, the database does not exist or permissions are missing", async () => {
    const wrong = await failureAt(server.url.replace("s3cret", "gue55ed"));
    expect(wrong).toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(/check the user and the password/),
    });
    expect(wrong.text).not.toMatch(/gue55ed/);

    expect(await failureAt(server.url.replace(/trawl$/, "nowhere"))).toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(/"nowhere" does not exist; create the database/),
    });

    await inDatabase(server, "CREATE ROLE guest LOGIN PASSWORD 'guest'");
    expect(await failureAt(`postgres://guest:guest@127.0.0.1:${server.port}/trawl?schema=theirs`)).toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(/permission denied.*GRANT/),
    });
  });

  it("refuses a schema with tables of another application, and a database whose encoding is not UTF-8", async () => {
    await inDatabase(server, "CREATE SCHEMA shop; CREATE TABLE shop.pages (theirs text)");
    expect(await failureAt(`${server.url}?schema=shop`)).toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(/contains tables of another application.*\?schema=NAME/),
    });

    await inDatabase(server, "CREATE DATABASE narrow ENCODING 'LATIN1' TEMPLATE template0");
    expect(await failureAt(server.url.replace(/trawl$/, "narrow"))).toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(/encoded in LATIN1.*UTF8/),
    });
  });

  it("creates the schema once if many stores are opened concurrently", async () => {
    const { open } = newSchema();

    const stores = await Promise.all(Array.from({ length: 8 }, () => open()));

    expect(await stores[0]?.write([aPageWrite({})])).toEqual(["written"]);
    expect(await Promise.all(stores.map((store) => store.countRecords("job")))).toEqual(Array(8).fill(1));
    await Promise.all(stores.map((store) => store.close()));
  });

  it("does not read more rows to write a page after the tables have grown", async () => {
    const { url, schema } = newSchema();
    const store = await openAt(url);
    const page = (batch: number, n: number, token: number) =>
      aPageWrite({ taskId: `${batch}-${n}`, token, invalid: [{ fields: {}, reason: "none" }] });
    const read = (afterId: number) =>
      Promise.all([
        store.readRecords("job", afterId, 10),
        store.readPages("job", afterId, 10),
        store.readInvalid("job", afterId, 10),
      ]);
    for (let batch = 0; batch < 20; batch++) {
      const tries = Array.from({ length: 20 }, (_, n) => anAttemptWrite({ taskId: `${batch}-${n}-failed` }));
      await store.write(
        Array.from({ length: 100 }, (_, n) => page(batch, n, 1)),
        tries,
      );
      await read(batch * 100);
    }
    await store.write(Array.from({ length: 100 }, (_, n) => page(3, n, 2)));
    await store.close(); // the server updates its statistics when a connection ends
    const counted = async () => {
      const [counts] = await server.query(
        (sql) => sql`SELECT coalesce(sum(seq_tup_read), 0) AS read_through, coalesce(sum(idx_scan), 0) AS looked_up,
          coalesce(sum(idx_tup_fetch), 0) AS fetched
          FROM pg_stat_user_tables
          WHERE schemaname = ${schema} AND relname IN ('pages', 'records', 'invalid_records', 'tries')`,
      );
      return {
        readThrough: Number(counts?.read_through),
        lookedUp: Number(counts?.looked_up),
        fetched: Number(counts?.fetched),
      };
    };
    expect(await waitUntil(async () => (await counted()).lookedUp >= 2000, 20_000, 50)).toBe(true);

    const { readThrough, fetched } = await counted();
    expect(readThrough).toBe(0);
    expect(fetched).toBeLessThan(2000 * 5);
  });

  it("stores characters that PostgreSQL text cannot represent, like SQLite", async () => {
    const store = await openAt(newSchema().url);
    const write = aPageWrite({
      taskId: "nul\0task",
      records: [{ nul: "a\0b", lone: "\ud83c!", key: { "\0": '\\ " {}, NULL' } }],
      invalid: [{ fields: {}, reason: "NUL \0 and \ud83c" }],
      page: { contentType: "text/\0html", headers: { "x-nul": "\0" } },
    });

    await store.write([write]);

    expect((await store.readRecords("job", 0, 10))[0]?.fields).toEqual(write.records[0]);
    expect((await store.readInvalid("job", 0, 10))[0]?.reason).toBe("NUL \ufffd and \ufffd");
    expect((await store.readPages("job", 0, 10))[0]).toMatchObject({
      contentType: "text/\ufffdhtml",
      headers: { "x-nul": "\0" },
    });
    expect(await store.tracePages({ taskId: "nul\0task" })).toHaveLength(1);
  });
});

const noTls = obstacle ?? findCertificatesObstacle();

describe.skipIf(noTls !== undefined)(`TLS to PostgreSQL (${noTls ?? "available"})`, () => {
  let server: PostgresServer;
  const folder = mkdtempSync(join(tmpdir(), "trawl-certificates-"));
  const own = noTls === undefined ? makeCertificates(folder) : undefined;
  beforeAll(async () => {
    if (own !== undefined) server = await startPostgres({ tls: own.server });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const encrypted = () =>
    server.query(
      (sql) => sql`SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
      WHERE application_name = 'trawl' AND ssl`,
    );

  it("is used if the server supports it, and the certificate is verified if `ca` is given", async () => {
    for (const query of ["", "?sslmode=require", `?ca=${own?.ca}`]) {
      const store = await openAt(`${server.url}${query}`);
      expect(await store.countRecords("job")).toBe(0);
      expect(Number((await encrypted())[0]?.count), query).toBeGreaterThan(0);
      await store.close();
    }
    const other = join(folder, "other");
    spawnSync("mkdir", [other]);
    const { code, message } = await failureAt(`${server.url}?ca=${makeCertificates(other).ca}`, 2_000);
    expect(code).toBe("STORE_UNREACHABLE");
    expect(message).toMatch(/certificate/);
  });

  it("is not silently disabled by an invalid parameter", async () => {
    expect((await failureAt(`${server.url}?sslmode=verify-ful`)).message).toMatch(/sslmode must be one of/);
    expect((await failureAt(`${server.url}?sslrootcert=x`)).message).toMatch(/unknown query parameters: sslrootcert/);
    expect((await failureAt(`${server.url}?ca=/nowhere.pem`)).message).toMatch(/ca=\/nowhere\.pem cannot be read/);
  });
});
