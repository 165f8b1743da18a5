/** Tests the command line with a real PostgreSQL as store, also when the server crashes or does not answer. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { preparePostgres } from "../contracts/store/postgres-fixture.ts";
import { findPostgresObstacle, type PostgresServer, startPostgres } from "../services/postgres.ts";
import { duplicates, missing } from "../site/loss-checker.ts";
import { jsonLines, lastJson, startTrawl, trawl } from "./cli.ts";
import type { Diagnosis } from "./fleet/fleet.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linkedSite } from "./sites.ts";

const obstacle = findPostgresObstacle();
if (obstacle !== undefined) console.warn(`SKIPPED: the command line on PostgreSQL: ${obstacle}`);

const FAST = ["--rate", "unlimited", "--per-site", "8"];

describe.skipIf(obstacle !== undefined)("the command line on PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  const storeOf = () => preparePostgres(server).url;
  const expectNoSecret = (...output: string[]) => {
    for (const secret of [server.password, encodeURIComponent(server.password)]) {
      expect(output.join("\n")).not.toContain(secret);
    }
  };

  it("crawls, reads records and traces a page", async () => {
    const [cwd, site, store] = [newFolder(), await linkedSite({ pages: 60 }), storeOf()];

    const end = await trawl(["crawl", `${site.url}/`, "--store", store, "--out", "all.jsonl", ...FAST], { cwd });

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(end.stderr).toMatch(/pages .*60 .* in postgres:\/\/\*\*\*@127\.0\.0\.1:\d+\/trawl/);
    const written = jsonLines<{ _url: string; _job: string }>(readFileSync(join(cwd, "all.jsonl"), "utf8"));
    expect(written.map(({ _url }) => _url).sort()).toEqual(site.expectedPages().sort());
    const job = written[0]?._job ?? "";
    const again = await trawl(["records", job, "--store", store], { cwd });
    expect(
      jsonLines<{ _url: string }>(again.stdout)
        .map(({ _url }) => _url)
        .sort(),
    ).toEqual(site.expectedPages().sort());
    const traced = await trawl(["trace", `${site.url}/page/7`, "--store", store], { cwd });
    expect(traced, traced.stderr).toMatchObject({ code: 0 });
    expect(traced.stdout).toContain("/page/7");
    expectNoSecret(end.stderr, end.stdout, again.stderr, traced.stdout, traced.stderr);
  });

  it("continues a crawl after a crash and restart of the server, and loses and duplicates nothing", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 120 })];
    const env = { TRAWL_STORE: storeOf() };
    const crawl = startTrawl(["crawl", `${site.url}/`, "--json", "--rate", "100/s", "--per-site", "8"], { cwd, env });
    await site.waitForRequests(30);

    await server.restart();

    const end = await crawl.ended;
    expect(end, end.stderr).toMatchObject({ code: 0 });
    const summary = lastJson<Summary & { id: string }>(end);
    expect(summary).toMatchObject({ state: "finished", pages: 120, records: 120 });
    expectBalanced(summary.counts);
    const records = jsonLines<{ _url: string }>((await trawl(["records", summary.id], { cwd, env })).stdout);
    const urls = records.map(({ _url }) => _url);
    expect(missing(site.expectedPages(), urls)).toEqual([]);
    expect(duplicates(urls)).toEqual(new Map());
    expectNoSecret(end.stderr, end.stdout);
  });

  it("is checked by doctor, which reports problems and fixes", async () => {
    const diagnose = async (TRAWL_STORE: string) => {
      const end = await trawl(["doctor", "--json"], {
        cwd: newFolder(),
        env: { TRAWL_STORE, TRAWL_STORE_RETRY_FOR: "500ms" },
      });
      expectNoSecret(end.stdout, end.stderr);
      const findings = lastJson<Diagnosis>(end).findings.filter(({ check }) => check === "store");
      return { code: end.code, findings };
    };

    expect(await diagnose(storeOf())).toMatchObject({
      code: 0,
      findings: [
        { verdict: "ok", message: expect.stringMatching(/\(PostgreSQL \d+.*\) can be read and written/) },
        {
          verdict: "warning",
          message: expect.stringContaining("fsync is off"),
          fix: expect.stringContaining("fsync = on"),
        },
      ],
    });
    expect(await diagnose(server.url.replace(/:\d+\//, ":1/"))).toMatchObject({
      code: 1,
      findings: [{ verdict: "problem", message: expect.stringContaining("connection refused") }],
    });
    expect(await diagnose("postgres://127.0.0.1")).toMatchObject({
      code: 1,
      findings: [{ verdict: "problem", message: expect.stringContaining("no database name") }],
    });
  });

  it("is set up and queried with the SQL of docs/operations.md", async () => {
    const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
    const [setUp = "", query = ""] = [...page.matchAll(/^```sql\n([\s\S]*?)^```/gm)].map(([, block]) => block);
    // One by one: a database cannot be created inside a transaction.
    for (const statement of setUp.split(";\n").filter((text) => text !== "")) {
      await server.query((sql) => sql.unsafe(statement));
    }
    const url = `postgres://crawler:choose-one@127.0.0.1:${server.port}/crawls`;
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 5, disallowedEvery: 0 })];
    const end = await trawl(["crawl", `${site.url}/`, "--json", "--store", url, ...FAST], { cwd });
    expect(end, end.stderr).toMatchObject({ code: 0 });

    const { id } = lastJson<{ id: string }>(end);
    const sql = postgres(url, { max: 1 });
    const rows = await sql.unsafe(query.replace("'j1'", `'${id}'`)).finally(() => sql.end());

    expect(rows.map(({ url: pageUrl }) => pageUrl).sort()).toEqual(site.expectedPages().sort());
    expect(rows.every(({ title }) => typeof title === "string")).toBe(true);
  });

  it("exits with 3 and the reason if the server does not answer", async () => {
    const url = server.url.replace(/:\d+\//, ":1/");
    const end = await trawl(["crawl", "http://127.0.0.1:1/", "--store", url], {
      cwd: newFolder(),
      env: { TRAWL_STORE_RETRY_FOR: "200ms" },
    });

    expect(end.code).toBe(3);
    expect(end.stderr).toMatch(/STORE_UNREACHABLE[\s\S]*has not been reached[\s\S]*TRAWL_STORE_RETRY_FOR/);
    expectNoSecret(end.stderr, end.stdout);
  });
});
