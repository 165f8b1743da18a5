/** One worker fetches a page and another parses it. The tests crash each worker before and after every write. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { aRequest } from "../../../test/contracts/frontier/makers.ts";
import { createManualClock } from "../../../test/model/manual-clock.ts";
import { submitDirectly } from "../../../test/submit/submit-directly.ts";
import { resolveConfig } from "../../config/resolve.ts";
import { readSitemap } from "../../discover/sitemap/read-sitemap.ts";
import type { Fetcher } from "../../fetch/fetcher.ts";
import { openSqliteFrontier } from "../../frontier/sqlite/open.ts";
import { createLog } from "../../runtime/log.ts";
import type { ExtractedPage } from "../../spider/page-reader.ts";
import { openFileSpool } from "../../store/bodies/file-spool.ts";
import { openNoBodies, openNoRequestBodies } from "../../store/bodies/no-bodies.ts";
import { openSqliteStore } from "../../store/sqlite/open-sqlite-store.ts";
import { resolveJob } from "../../submit/resolve-job.ts";
import { createSettler } from "../loop/settler.ts";
import { createAttemptRecorder } from "../observe/attempt-recorder.ts";
import { createHandlerErrors } from "./handler-errors.ts";
import { createPlanMaker } from "./make-plan.ts";
import { runTask } from "./run-task.ts";

const OPS = ["spool.put", "store.write", "frontier.settle", "spool.remove"] as const;
type Op = (typeof OPS)[number];
/** Where one worker crashes. */
type Crash = { op: Op; nth: number; when: "before" | "after" };

const URLS = ["/1", "/2", "/3"].map((path) => `https://a.test${path}`);
/** The only link on the first page. */
const LINKED = "https://a.test/4";

describe("a page that is parsed on another queue", () => {
  const crashes = OPS.flatMap((op) =>
    [1, 2, 4].flatMap((nth) => (["before", "after"] as const).map((when) => ({ op, nth, when }))),
  );

  it.each(crashes)(
    "survives a crash $when $op number $nth: nothing is lost, nothing is stored twice",
    async (crash) => {
      const fixture = await createFixture();

      const crashed = await workUntilIdle(fixture, crash);

      // The spooled page is removed after the settlement. A failed removal is only logged, so it does not crash the
      // worker.
      expect(crashed).toBe(crash.op === "spool.remove" ? 0 : 1);
      expect((await fixture.recordsOf()).sort()).toEqual([...URLS, LINKED]);
      const job = await fixture.frontier.findJob("job");
      expect(job).toMatchObject({ state: "finished", tally: { pages: 4, records: 4 }, counts: { dead: 0, done: 8 } });
      // If the worker crashes after the settlement, the spooled page may remain. No worker reads it.
      const isLeft = crash.op === "spool.remove" || crash.op === "frontier.settle";
      expect(fixture.spool().length).toBeLessThanOrEqual(isLeft ? 1 : 0);
    },
  );

  it("is fetched once and parsed once without a crash, and leaves nothing in the spool", async () => {
    const fixture = await createFixture();

    expect(await workUntilIdle(fixture, undefined)).toBe(0);

    expect(fixture.fetched).toEqual([...URLS, LINKED]);
    expect((await fixture.recordsOf()).sort()).toEqual([...URLS, LINKED]);
    expect(fixture.spool()).toEqual([]);
  });
});

async function createFixture() {
  const folder = mkdtempSync(join(tmpdir(), "trawl-parse-queue-"));
  const clock = createManualClock(1_750_000_000_000);
  const frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: 100, busyMs: 100, pollMs: 1e9 });
  const store = openSqliteStore(join(folder, "store.db"), { busyMs: 100 });
  onTestFinished(async () => {
    await Promise.all([frontier.close(), store.close()]);
    rmSync(folder, { recursive: true, force: true });
  });
  const input = { parse: "queue", politeness: { rate: "unlimited", robots: false }, follow: {} } as const;
  const context = { id: "job", requestId: "r", queue: undefined, typedHosts: [], out: undefined };
  const spec = resolveJob(input, resolveConfig([]), context);
  await submitDirectly({ frontier, now: clock.now }, spec, URLS);
  const fetched: string[] = [];
  const fetcher: Fetcher = {
    async fetch({ url }) {
      fetched.push(url);
      const body = Buffer.from("<h1>the same on every page</h1>");
      const page = { url, status: 200, headers: {}, contentType: "text/html", bodyBytes: body.length, tookMs: 1 };
      return { kind: "page", page: { ...page, fetchedAt: clock.now() }, body };
    },
    close: async () => {},
  };
  return {
    ...{ frontier, store, clock, spec, fetcher, fetched },
    bodies: openFileSpool(folder),
    recordsOf: async () => (await store.readRecords("job", 0, 100)).map(({ fields }) => String(fields.url)),
    spool: () => readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".gz")),
  };
}

type Fixture = Awaited<ReturnType<typeof createFixture>>;

/** Runs workers one after the other, each with one task at a time, until no task is left. Returns how many crashed. */
async function workUntilIdle(fixture: Fixture, crash: Crash | undefined): Promise<number> {
  const runStep = crashingAt(crash);
  let crashed = 0;
  for (let worker = 0; worker < 100; worker++) {
    const request = aRequest({ worker: `w${worker}`, queues: ["fetch", "parse"], max: 1 });
    const [grant] = (await fixture.frontier.lease(request)).grants;
    if (grant === undefined) return crashed;
    try {
      await work(fixture, grant, runStep);
    } catch (error) {
      expect((error as Error).message).toBe("crashed");
      crashed += 1;
      await fixture.frontier.abandon(request.worker);
    }
  }
  throw new Error("tasks are left after 100 workers");
}

type RunStep = <T>(op: Op, work: () => Promise<T>) => Promise<T>;

function crashingAt(crash: Crash | undefined): RunStep {
  let count = 0;
  return async (op, work) => {
    const isDue = op === crash?.op && ++count === crash.nth;
    if (isDue && crash.when === "before") throw new Error("crashed");
    const answer = await work();
    if (isDue) throw new Error("crashed");
    return answer;
  };
}

async function work(fixture: Fixture, grant: Parameters<typeof runTask>[0]["grant"], runStep: RunStep): Promise<void> {
  const { frontier, store, bodies: spool, spec, fetcher } = fixture;
  const makePlan = createPlanMaker({
    makeExtractor:
      () =>
      ({ page }): Omit<ExtractedPage, "wanted"> => ({
        records: [{ url: page.url }],
        invalid: [],
        links: page.url === URLS[0] ? [LINKED] : [],
      }),
    resolveSecret: (text) => text,
    hashSpider: () => "",
    requestBodyBytes: 65_536,
    version: "1",
    loadSpider: () => Promise.reject(new Error("the job has no spider")),
    makeSpiderReader: () => () => Promise.reject(new Error("the job has no spider")),
  });
  const robots = {
    rulesAt: () => Promise.reject(new Error("robots.txt must not be requested")),
    knownAt: async () => () => true,
  };
  const scriptedSites = { has: async () => false, mark: async () => {} };
  const deliver = () => Promise.reject(new Error("no event must be delivered"));
  const browsing = { renderer: fetcher, needsBrowser: () => false, scriptedSites };
  const { clock } = fixture;
  const log = createLog("error", (line) => {
    throw new Error(line);
  });
  const handlerErrors = createHandlerErrors({ log });
  const readBatcher = { turn: () => undefined };
  const marks = { findValue: async () => undefined, keepValue: async () => 1 };
  const noSessions = {
    sessions: { open: async () => expect.fail(), flush: async () => {} },
    logIn: async () => ({ kind: "ready" as const }),
    readFields: () => ({}),
  };
  const requestBodies = openNoRequestBodies({ bodies: "none", requestBodyBytes: 65_536 });
  const rest = {
    requestBodies,
    ...noSessions,
    marks,
    decode: String,
    deliver,
    recall: async () => undefined,
    clock,
    handlerErrors,
    readBatcher,
  };
  const attempts = createAttemptRecorder({ clock }, { worker: "w" });
  const attempt = attempts.begin(grant, false);
  const result = await runTask({
    deps: { fetcher, ...browsing, robots, spool, frontier, readSitemap, ...rest },
    observe: {},
    attempt,
    options: { limits: { totalMs: 1, idleMs: 1 }, maxLinks: 10, maxRedirects: 10, recrawlBytes: 1000 },
    grant,
    plan: await makePlan(spec),
    signal: new AbortController().signal,
  });
  const settler = createSettler(
    {
      store: { write: (pages, tries) => runStep("store.write", () => store.write(pages, tries)) },
      bodies: openNoBodies(),
      spool: {
        put: (name, spooled) => runStep("spool.put", () => spool.put(name, spooled)),
        remove: (name) => runStep("spool.remove", () => spool.remove(name)),
      },
      frontier: { settle: (settlements) => runStep("frontier.settle", () => frontier.settle(settlements)) },
      onFinished: () => {},
      observe: {},
      isBusy: () => false,
      clock: { now: Date.now },
      log,
    },
    { flushMs: 0, maxBatch: 1 },
  );
  await settler.settle({ ...result, attempt, run: undefined, entry: undefined });
}
