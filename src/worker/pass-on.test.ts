/** A page that is fetched by one worker and parsed by another, with a crash before and after every step of both. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../test/model/manual-clock.ts";
import { resolveConfig } from "../config/resolve.ts";
import type { Fetcher } from "../fetch/fetcher.ts";
import { openSqliteFrontier } from "../frontier/sqlite/open.ts";
import { createLog } from "../runtime/log.ts";
import { openFileParcels } from "../store/bodies/file-parcels.ts";
import { openNoBodies } from "../store/bodies/no-bodies.ts";
import { openSqliteStore } from "../store/sqlite/open-sqlite-store.ts";
import { resolveJob } from "../submit/resolve-job.ts";
import { submitJob } from "../submit/submit-job.ts";
import { createPlanMaker } from "./make-plan.ts";
import type { Reading } from "./plan.ts";
import { runTask } from "./run-task.ts";
import { createSettler } from "./settler.ts";

const OPS = ["parcels.put", "store.write", "frontier.settle", "parcels.remove"] as const;
type Op = (typeof OPS)[number];
/** Where a worker dies, once. */
type Crash = { op: Op; nth: number; when: "before" | "after" };

const URLS = ["/1", "/2", "/3"].map((path) => `https://a.test${path}`);
/** Linked from the first. */
const LINKED = "https://a.test/4";

describe("a page that is passed on", () => {
  const crashes = OPS.flatMap((op) =>
    [1, 2, 4].flatMap((nth) => (["before", "after"] as const).map((when) => ({ op, nth, when }))),
  );

  it.each(crashes)("survives a death $when $op number $nth: nothing lost, nothing twice", async (crash) => {
    const ground = await newGround();

    const deaths = await workUntilIdle(ground, crash);

    // A removal comes when all is settled: that it failed is forgiven, and a death then changes nothing.
    expect(deaths).toBe(crash.op === "parcels.remove" ? 0 : 1);
    expect((await ground.recordsOf()).sort()).toEqual([...URLS, LINKED]);
    const job = await ground.frontier.findJob("job");
    expect(job).toMatchObject({ state: "finished", tally: { pages: 4, records: 4 }, counts: { dead: 0, done: 8 } });
    // One whose page was settled just before the death may stay behind; nothing reads it.
    const isLeft = crash.op === "parcels.remove" || crash.op === "frontier.settle";
    expect(ground.parcels().length).toBeLessThanOrEqual(isLeft ? 1 : 0);
  });

  it("is fetched once and parsed once where nobody dies, and nothing is left behind", async () => {
    const ground = await newGround();

    expect(await workUntilIdle(ground, undefined)).toBe(0);

    expect(ground.asked).toEqual([...URLS, LINKED]);
    expect((await ground.recordsOf()).sort()).toEqual([...URLS, LINKED]);
    expect(ground.parcels()).toEqual([]);
  });
});

async function newGround() {
  const folder = mkdtempSync(join(tmpdir(), "trawl-pass-on-"));
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
  await submitJob({ frontier, now: clock.now }, spec, URLS);
  const asked: string[] = [];
  const fetcher: Fetcher = {
    async fetch({ url }) {
      asked.push(url);
      const body = Buffer.from("<h1>the same on every page</h1>");
      const page = { url, status: 200, headers: {}, contentType: "text/html", bodyBytes: body.length, tookMs: 1 };
      return { kind: "page", page: { ...page, fetchedAt: clock.now() }, body };
    },
    close: async () => {},
  };
  return {
    ...{ frontier, store, clock, spec, fetcher, asked },
    bodies: openFileParcels(folder),
    recordsOf: async () => (await store.readRecords("job", 0, 100)).map(({ fields }) => String(fields.url)),
    parcels: () => readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".gz")),
  };
}

type Ground = Awaited<ReturnType<typeof newGround>>;

/** Workers one after the other, each with one task at a time, until there is nothing left. Answers how many died. */
async function workUntilIdle(ground: Ground, crash: Crash | undefined): Promise<number> {
  const mortal = dyingAt(crash);
  let deaths = 0;
  for (let worker = 0; worker < 100; worker++) {
    const request = { worker: `w${worker}`, queues: ["fetch", "parse"], max: 1, leaseMs: 60_000 };
    const [grant] = (await ground.frontier.lease(request)).grants;
    if (grant === undefined) return deaths;
    try {
      await work(ground, grant, mortal);
    } catch (error) {
      expect((error as Error).message).toBe("died");
      deaths += 1;
      await ground.frontier.abandon(request.worker);
    }
  }
  throw new Error("no end to it");
}

type Mortal = <T>(op: Op, work: () => Promise<T>) => Promise<T>;

function dyingAt(crash: Crash | undefined): Mortal {
  let count = 0;
  return async (op, work) => {
    const isDue = op === crash?.op && ++count === crash.nth;
    if (isDue && crash.when === "before") throw new Error("died");
    const answer = await work();
    if (isDue) throw new Error("died");
    return answer;
  };
}

async function work(ground: Ground, grant: Parameters<typeof runTask>[0]["grant"], mortal: Mortal): Promise<void> {
  const { frontier, store, bodies: parcels, spec, fetcher } = ground;
  const makePlan = createPlanMaker({
    makeExtractor:
      () =>
      ({ page }): Omit<Reading, "wanted"> => ({
        records: [{ url: page.url }],
        invalid: [],
        links: page.url === URLS[0] ? [LINKED] : [],
      }),
    hashSpider: () => "",
    version: "1",
    loadSpider: () => Promise.reject(new Error("there is none")),
    makeSpiderReader: () => () => Promise.reject(new Error("there is none")),
  });
  const robots = { rulesAt: () => Promise.reject(new Error("not asked")), knownAt: async () => () => true };
  const allowance = { spend: () => Promise.reject(new Error("not spent")) };
  const scriptedSites = { has: async () => false, mark: async () => {} };
  const deliver = () => Promise.reject(new Error("not told"));
  const browsing = { renderer: fetcher, needsBrowser: () => false, scriptedSites };
  const result = await runTask({
    deps: { fetcher, ...browsing, robots, allowance, parcels, decode: String, deliver, recall: async () => undefined },
    options: { limits: { totalMs: 1, idleMs: 1 }, maxLinks: 10, maxRedirects: 10, recrawlBytes: 1000 },
    grant,
    plan: await makePlan(spec),
    signal: new AbortController().signal,
  });
  const settler = createSettler(
    {
      store: { write: (pages, tries) => mortal("store.write", () => store.write(pages, tries)) },
      bodies: openNoBodies(),
      parcels: {
        put: (name, parcel) => mortal("parcels.put", () => parcels.put(name, parcel)),
        remove: (name) => mortal("parcels.remove", () => parcels.remove(name)),
      },
      frontier: { settle: (settlements) => mortal("frontier.settle", () => frontier.settle(settlements)) },
      onFinished: () => {},
      onSettled: () => {},
      busy: () => 0,
      clock: { now: Date.now },
      log: createLog("error", (line) => {
        throw new Error(line);
      }),
    },
    { flushMs: 0, batchMost: 1 },
  );
  await settler.settle({
    ...result,
    run: undefined,
    tried: undefined,
    step: "fetch",
    fate: "done",
    tookMs: 1,
    settled: () => {},
  });
}
