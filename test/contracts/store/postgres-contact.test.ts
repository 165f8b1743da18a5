/** What a store on PostgreSQL does when its server is away, is not the one it was, or does not let it in. */
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
import { inDatabase, type PostgresSite, preparePostgres } from "./postgres-site.ts";

const obstacle = findPostgresObstacle();
const clock = systemClock();

/** Opens a store that is closed with the test; what it logs comes to `lines`. */
async function openAt(
  url: string,
  { patienceMs = 20_000, lines = [] as string[], ownClock = clock } = {},
): Promise<Store> {
  const log = createLog("debug", (line) => void lines.push(line));
  const store = await openPostgresStore(url, { clock: ownClock, log }, { patienceMs });
  onTestFinished(() => store.close());
  return store;
}

/** What opening it fails with. */
async function failureAt(url: string, patienceMs = 20_000): Promise<{ code: string; message: string; text: string }> {
  const error = await openAt(url, { patienceMs }).then(
    () => new Error("it could be opened"),
    (cause: unknown) => cause as Error & { code: string },
  );
  const { cause } = error as { cause?: unknown };
  const text = [error.message, error.stack, JSON.stringify(error), String(cause), JSON.stringify(cause)].join("\n");
  return { code: (error as { code?: string }).code ?? "", message: error.message, text };
}

describe.skipIf(obstacle !== undefined)(`contact with PostgreSQL (${obstacle ?? "there is one"})`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  function site(): PostgresSite {
    const made = preparePostgres(server);
    onTestFinished(() => made.remove());
    return made;
  }

  it("waits for a server that crashes and comes back, and has kept all it answered", async () => {
    const lines: string[] = [];
    const store = await openAt(site().url, { lines });
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

  it("writes once what it has to write twice, since the answer got lost", async () => {
    const { url, open } = site();
    await (await open()).close();
    const line = await openLossyProxy(server.port);
    const store = await openAt(url.replace(`:${server.port}/`, `:${new URL(line.url).port}/`));
    await store.write([aPageWrite({ taskId: "first" })]); // the server knows the statement: one message is the whole call

    const lost = line.loseNextAnswer("lose-me");
    const verdicts = store.write([aPageWrite({ taskId: "lose-me", records: [{ n: 1 }, { n: 2 }] })]);
    await lost;

    expect(await verdicts).toEqual(["written"]);
    const records = await store.readRecords("job", 0, 10);
    // A second write that had changed anything would have taken new ids.
    expect(records.map(({ id, fields }) => [id, fields])).toEqual([
      [1, { title: "one" }],
      [2, { n: 1 }],
      [3, { n: 2 }],
    ]);
  });

  it("leaves a connection on which nobody answers, and asks on another", async () => {
    // Half a minute is waited for an answer; here it passes a hundred times faster.
    const hasty = {
      now: () => clock.now(),
      sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms / 100, signal),
    };
    const lines: string[] = [];
    const { url } = site();
    const store = await openAt(url, { lines, ownClock: hasty });
    await store.countRecords("job");
    const pids = await server.talk(
      (sql) => sql`SELECT pid FROM pg_stat_activity WHERE application_name = 'trawl' AND pid <> pg_backend_pid()`,
    );
    for (const { pid } of pids) process.kill(Number(pid), "SIGSTOP");
    onTestFinished(() => {
      for (const { pid } of pids) process.kill(Number(pid), "SIGCONT");
    });

    expect(await store.write([aPageWrite({})])).toEqual(["written"]);

    expect(lines.join("\n")).toContain("accepts connections but does not answer");
  });

  it("gives up after its patience, with the place, the reason and no password", async () => {
    const gone = await startPostgres();
    const store = await openAt(gone.url, { patienceMs: 300 });
    await gone.stop();

    const failure = await store.write([aPageWrite({})]).catch((error: unknown) => error);

    expect(failure).toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(
        /^store postgres:\/\/127\.0\.0\.1:\d+\/trawl has not been reached for \d+ s \(connection refused .*TRAWL_STORE_PATIENCE/,
      ),
    });
    const opening = await failureAt(gone.url, 300);
    expect(opening.code).toBe("STORE_UNREACHABLE");
    expect(opening.text).not.toContain(gone.password);
  });

  it("does not wait where no waiting helps: a wrong password, a database that is not there, rights that are missing", async () => {
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

  it("leaves alone a schema that holds something else, and a database that cannot hold every page", async () => {
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

  it("is made by one of many that come at once", async () => {
    const { open } = site();

    const stores = await Promise.all(Array.from({ length: 8 }, () => open()));

    expect(await stores[0]?.write([aPageWrite({})])).toEqual(["written"]);
    expect(await Promise.all(stores.map((store) => store.countRecords("job")))).toEqual(Array(8).fill(1));
    await Promise.all(stores.map((store) => store.close()));
  });

  it("reads no more to write a page when tables have grown on one connection", async () => {
    const { url, schema } = site();
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
    await store.close(); // a server counts what a connection has read when it ends
    const counted = async () => {
      const [counts] = await server.talk(
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

  it("keeps what no text of PostgreSQL can hold as SQLite does", async () => {
    const store = await openAt(site().url);
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

describe.skipIf(noTls !== undefined)(`TLS to PostgreSQL (${noTls ?? "there is one"})`, () => {
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
    server.talk(
      (sql) => sql`SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
      WHERE application_name = 'trawl' AND ssl`,
    );

  it("is used where the server has it, and looks at the certificate where an authority is named", async () => {
    for (const words of ["", "?sslmode=require", `?ca=${own?.ca}`]) {
      const store = await openAt(`${server.url}${words}`);
      expect(await store.countRecords("job")).toBe(0);
      expect(Number((await encrypted())[0]?.count), words).toBeGreaterThan(0);
      await store.close();
    }
    const other = join(folder, "other");
    spawnSync("mkdir", [other]);
    const { code, message } = await failureAt(`${server.url}?ca=${makeCertificates(other).ca}`, 2_000);
    expect(code).toBe("STORE_UNREACHABLE");
    expect(message).toMatch(/certificate/);
  });

  it("is not passed over in silence", async () => {
    expect((await failureAt(`${server.url}?sslmode=verify-ful`)).message).toMatch(/sslmode must be one of/);
    expect((await failureAt(`${server.url}?sslrootcert=x`)).message).toMatch(/unknown query parameters: sslrootcert/);
    expect((await failureAt(`${server.url}?ca=/nowhere.pem`)).message).toMatch(/ca=\/nowhere\.pem cannot be read/);
  });
});
