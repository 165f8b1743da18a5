import { expect } from "vitest";
import type { ExplainTarget } from "../../../src/frontier/frontier-admin.ts";
import { type AnyFrontier, START_AT, type Suite } from "./backend.ts";
import {
  aJob,
  aRequest,
  aTask,
  grantsOf,
  oneGrant,
  settleAll,
  settleAndReturn,
  submit,
  tasksAt,
  UNLIMITED,
} from "./makers.ts";

const URL_0 = { url: "https://a.test/0" };
const URL_1 = { url: "https://a.test/1" };
/** Settlements that start a backoff, and how `explain` describes its cause. */
const CAUSES = {
  sites: [{ cause: "429" }, { cause: "503" }, { cause: "robots" }, {}] as const,
  texts: [
    "it answered 429 (too many requests)",
    "it answered 503 (service unavailable)",
    "its robots.txt could not be fetched",
    "it answered 429 or 503, or its robots.txt could not be fetched",
  ],
};
const SLOW = { intervalMs: 60_000, burst: 1, perSite: 5 };

/** Why something waits, and until when (F16). */
export function explaining(suite: Suite): void {
  explainingUrls(suite);
  explainingSitesAndJobs(suite);
}

function explainingUrls({ open, test }: Suite): void {
  test("F16 reports a URL that no job has seen", async () => {
    const { frontier } = await open();

    expect(await frontier.explain(URL_0)).toEqual({
      about: "https://a.test/0",
      reasons: ["no job has seen this URL"],
      until: undefined,
      tasks: [],
      queues: [],
    });
  });

  test("F16 hides other jobs' tasks and worker names from a limited viewer", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ policy: SLOW }), tasksAt("a.test", 3));
    const own = async (target: ExplainTarget) => (await frontier.explain(target, "own")).reasons.join();

    expect(await own(URL_0)).toBe("in job job: may be fetched now; waits for a free worker on queue fetch");
    const { url } = await oneGrant(frontier, { worker: "host/17" });
    expect(await own({ url })).toMatch(/^in job job: is being fetched; the lease ends at \S+ \(in \S+\)$/);
    expect((await reasonsOf(frontier, { url })).join()).toContain("by host/17; the lease");
    expect(await own(URL_1)).toBe("in job job: a worker sends requests to the site, at most 1/m");
    expect(await own({ jobId: "job" })).toMatch(/a\.test: a worker sends requests to the site, at most 1\/m$/);
  });

  test("F16 a URL that may be fetched waits for a worker of its queue", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));

    const { reasons, until } = await frontier.explain(URL_0);

    expect(reasons).toEqual([
      "in job job: may be fetched now; waits for a free worker on queue fetch (2 waiting at a.test)",
    ]);
    expect(until).toBe(START_AT);
  });

  test("F16 a URL being fetched names its worker and the end of the lease", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await oneGrant(frontier, { worker: "w7", leaseMs: 30_000 });

    const { reasons, until } = await frontier.explain(URL_0);

    expect(reasons[0]).toMatch(/^in job job: is being fetched by w7; the lease ends at 2025-.* \(in 30s\)$/);
    expect(until).toBe(START_AT + 30_000);
  });

  test("F16 a URL waits for the rate of its site", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ policy: SLOW }), tasksAt("a.test", 2));
    await settleAndReturn(frontier, await frontier.lease(aRequest({ max: 1 })));

    const { reasons, until } = await frontier.explain(URL_1);

    expect(reasons[0]).toMatch(/^in job job: the rate of the site, 1\/m, allows the next request .*\(in 1m\)$/);
    await frontier.enqueue("job", [aTask("https://a.test/2")]);
    expect((await reasonsOf(frontier, URL_1))[0]).toMatch(/\(in 1m\); 2 tasks wait, about 2m at this rate$/);
    expect(until).toBe(START_AT + 60_000);
  });

  test("F16 a URL waits for the crawl-delay of its site", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ robots: true, policy: { ...SLOW, intervalMs: 10 } }), tasksAt("a.test", 2));
    const answer = await frontier.lease(aRequest({ max: 1 }));
    expect((await reasonsOf(frontier, URL_1))[0]).toBe("in job job: the robots.txt of the site is being fetched");
    const robots = { kind: "file" as const, text: "", fetchedAt: START_AT, freshUntil: START_AT + 1e9 };
    await frontier.keepRobots("a.test", robots, 20_000);
    await settleAndReturn(frontier, answer);

    expect((await reasonsOf(frontier, URL_1))[0]).toContain(
      "the rate of the site, 3/m (robots.txt crawl-delay), allows the next",
    );
  });

  test("F16 a URL waits for requests in flight at its site", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ policy: { ...UNLIMITED, perSite: 1 } }), tasksAt("a.test", 2));
    await oneGrant(frontier);

    const { reasons, until } = await frontier.explain(URL_1);

    expect(reasons).toEqual(["in job job: 1 of 1 concurrent requests to the site are in flight"]);
    expect(until).toBeUndefined();
  });

  test("F16 names the cause of the backoff that a URL waits for", async () => {
    const { frontier } = await open();
    const { sites, texts } = CAUSES;
    await submit(
      frontier,
      aJob(),
      [...sites.keys()].map((nth) => aTask(`https://${nth}.test/`)),
    );
    for (const grant of await grantsOf(frontier)) {
      const site = { kind: "throttled" as const, retryAfterMs: 45_000, ...sites[Number.parseInt(grant.site, 10)] };
      await settleAll(frontier, [grant], { outcome: { kind: "retry", because: "throttled" }, site });
    }

    for (const [nth, text] of texts.entries()) {
      const { reasons, until } = await frontier.explain({ site: `${nth}.test` });
      expect(reasons[0]).toMatch(/^the site is in backoff until .*\(in 45s\): /);
      expect(reasons[0]?.split("): ")[1]).toBe(text);
      expect(until).toBe(START_AT + 45_000);
    }
  });

  test("F16 a longer backoff keeps its cause when a shorter one follows", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    const [one, two] = await grantsOf(frontier);
    if (!one || !two) throw new Error("expected two due tasks");
    await settleAll(frontier, [one], { site: { kind: "throttled", cause: "503", retryAfterMs: 9000 } });
    await settleAll(frontier, [two], { site: { kind: "throttled", cause: "429", retryAfterMs: 100 } });

    expect((await reasonsOf(frontier, { site: "a.test" }))[0]).toContain("it answered 503");
    expect(await frontier.findSite("a.test")).toMatchObject({ backoffCause: "503" });
    expect(await frontier.listJobSites("job", 1)).toMatchObject([{ backoffCause: "503" }]);
  });

  test("F16 the status of a failure is shown once", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    const outcome = { kind: "retry", because: "throttled", status: 429, detail: "answered 429" } as const;
    await settleAll(frontier, [await oneGrant(frontier)], { outcome });

    expect((await reasonsOf(frontier, URL_0))[0]).toMatch(/, after throttled: answered 429$/);
  });

  test("F16 a URL waits for its retry, and may be fetched when that is due", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    const outcome = { kind: "retry", because: "server_error", status: 500, retryAfterMs: 9000 } as const;
    await settleAll(frontier, [await oneGrant(frontier)], { outcome });

    const { reasons, until } = await frontier.explain(URL_0);
    expect(reasons[0]).toMatch(/^in job job: retry 1 of 2 is due at .* \(in 9s\), after server_error \(status 500\)$/);
    expect(until).toBe(START_AT + 9000);

    clock.advance(9000);
    expect((await reasonsOf(frontier, URL_0))[0]).toContain("may be fetched now");
  });

  test("F16 a URL that was replayed at a rate waits until it is due", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    await settleAll(frontier, await grantsOf(frontier), { outcome: { kind: "dead", because: "http_status" } });
    await frontier.replayDead({}, 10, 1);

    const { reasons, until } = await frontier.explain(URL_1);

    expect(reasons[0]).toMatch(/^in job job: was replayed; is due at .* \(in 1s\)$/);
    expect(until).toBe(START_AT + 1000);
  });

  test("F16 explains how to resume the paused job of a URL", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.seal("job");
    await frontier.pause("job");

    expect(await reasonsOf(frontier, URL_0)).toEqual([
      "in job job: the job is paused; resume it with: trawl resume job",
    ]);
    expect(await reasonsOf(frontier, { jobId: "job" })).toEqual([
      "the job is paused; resume it with: trawl resume job",
    ]);
  });

  test("F16 a failed URL is explained with its reason, and an ended one as ended", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    const outcome = { kind: "dead", because: "http_status", status: 404, detail: "not found" } as const;
    await settleAll(frontier, [await oneGrant(frontier)], { outcome });
    await settleAll(frontier, [await oneGrant(frontier)]);

    expect(await reasonsOf(frontier, URL_0)).toEqual([
      "in job job: failed 0ms ago after 1 attempt: http_status (status 404): not found",
    ]);
    expect(await reasonsOf(frontier, URL_1)).toEqual(["in job job: has ended (done, refused or cancelled)"]);
  });

  test("F16 explains a URL in each job that has it, newest first", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "old" }), tasksAt("a.test", 1));
    await settleAll(frontier, await grantsOf(frontier));
    await submit(frontier, aJob({ id: "new" }), tasksAt("a.test", 1));

    const { reasons, tasks } = await frontier.explain(URL_0);

    expect(reasons.map((reason) => reason.split(":")[0])).toEqual(["in job new", "in job old"]);
    expect(tasks).toEqual([
      { jobId: "new", state: "queued" },
      { jobId: "old", state: "ended" },
    ]);
  });

  test("F16 explains a URL of a shared set in the job that queued it", async () => {
    const { frontier } = await open();
    const dedup = { scope: "daily", expireAfterMs: 1e6 };
    for (const id of ["first", "owner", "last"]) await frontier.createJob(aJob({ id, dedup }));
    await frontier.enqueue("owner", tasksAt("a.test", 1));
    await settleAll(frontier, await grantsOf(frontier));

    expect(await reasonsOf(frontier, URL_0)).toEqual(["in job owner: has ended (done, refused or cancelled)"]);
  });
}

function explainingSitesAndJobs({ open, test }: Suite): void {
  test("F16 reports a site that no job has used", async () => {
    const { frontier } = await open();

    expect(await reasonsOf(frontier, { site: "a.test" })).toEqual(["no job has used this site"]);
  });

  test("F16 a site reports its limits, requests in flight and waiting tasks", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ policy: { intervalMs: 250, burst: 1, perSite: 3 } }), tasksAt("a.test", 4));
    expect(await reasonsOf(frontier, { site: "a.test" })).toEqual([
      "a request to the site is allowed now",
      "limits: 4/s, 3 concurrent; 0 in flight, 4 waiting",
    ]);

    await oneGrant(frontier);

    const { reasons, until } = await frontier.explain({ site: "a.test" });
    expect(reasons).toEqual([
      "worker worker sends requests to the site, at most 4/s; 3 tasks wait, about 750ms at this rate",
      "limits: 4/s, 3 concurrent; 1 in flight, 3 waiting",
    ]);
    expect(until).toBeUndefined();
  });

  test("F16 names the job that sets the rate of a site, for jobs that want another rate", async () => {
    const { frontier } = await open();
    const rated = (intervalMs: number) => ({ ...SLOW, intervalMs });
    await submit(frontier, aJob({ id: "quick", policy: rated(25) }), tasksAt("a.test", 3));
    await frontier.seal("quick");
    const job = { jobId: "quick" };
    expect((await reasonsOf(frontier, { site: "a.test" })).join()).not.toContain("set by");
    expect(await reasonsOf(frontier, job)).toHaveLength(1);

    await submit(frontier, aJob({ id: "slow", name: "Slow one", policy: rated(250) }), [aTask("https://a.test/slow")]);
    const set = "the rate of the site (4/s) is set by job slow (Slow one), the strictest of 2 jobs at this site";
    expect(await reasonsOf(frontier, { site: "a.test" })).toContain(set);
    expect(await reasonsOf(frontier, job)).toContain(`a.test: ${set}; this job wants 40/s`);
    expect((await frontier.explain(job, "own")).reasons).toContain(
      "a.test: the rate of the site (4/s) is set by another job at this site; this job wants 40/s",
    );
    expect((await reasonsOf(frontier, { jobId: "slow" })).join()).not.toContain("set by");
    await grantsOf(frontier, { max: 1 });
    expect(await reasonsOf(frontier, { url: "https://a.test/2" })).toContain(
      `in job quick: ${set}; this job wants 40/s`,
    );

    await frontier.setSitePolicy("a.test", rated(0));
    expect(await reasonsOf(frontier, job)).toContain(
      "a.test: the rate of the site (unlimited) is set by an operator; this job wants 40/s",
    );
    await frontier.setSitePolicy("a.test", undefined);
    await frontier.pause("slow");
    expect((await reasonsOf(frontier, job)).join()).not.toContain("set by");
  });

  test("F16 a job reports its tasks, the sites it waits for, and when the first of them is ready", async () => {
    const { frontier } = await open();
    const sites = { "slow.test": SLOW, "fast.test": { ...SLOW, intervalMs: 1000 } };
    await submit(frontier, aJob({ sites }), [
      ...tasksAt("slow.test", 2),
      ...tasksAt("fast.test", 2),
      ...tasksAt("free.test", 1),
    ]);
    await frontier.seal("job");
    await grantsOf(frontier);

    const { about, reasons, until } = await frontier.explain({ jobId: "job" });

    expect(about).toBe("job job");
    expect(reasons).toEqual([
      "the job is running: 2 queued, 0 waiting for a retry, 3 being fetched",
      expect.stringMatching(/^slow\.test: worker worker sends requests to the site, at most 1\/m/),
      expect.stringMatching(/^fast\.test: worker worker sends requests to the site, at most 1\/s/),
    ]);
    expect(until).toBeUndefined();
  });

  test("F16 explains that a job is not sealed, and how to resume its submission", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), [aTask("https://a.test/")]);
    await settleAll(frontier, [await oneGrant(frontier)]);
    const hint = expect.stringMatching(/^not all URLs are submitted yet: .*trawl submit --resume job LIST/);

    expect(await reasonsOf(frontier, { jobId: "job" })).toEqual([
      expect.stringMatching(/^the job is running: 0 queued/),
      hint,
    ]);
    await frontier.pause("job");
    expect(await reasonsOf(frontier, { jobId: "job" })).toEqual([expect.stringMatching(/^the job is paused/), hint]);
  });

  test("F16 explains that a job has ended", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), [aTask("https://a.test/")]);
    await frontier.cancel("job");

    expect(await reasonsOf(frontier, { jobId: "job" })).toEqual(["the job is cancelled; no tasks are waiting"]);
  });

  test("F16 lists the workers that hold leases, with the number of leases", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 5));
    await grantsOf(frontier, { worker: "w2", max: 1 });
    await grantsOf(frontier, { worker: "w1", max: 3 });

    expect(await frontier.listHolders()).toEqual([
      { worker: "w1", leases: 3 },
      { worker: "w2", leases: 1 },
    ]);
  });

  test("F16 lists sites in order, page by page", async () => {
    const { frontier } = await open();
    await submit(
      frontier,
      aJob(),
      ["c", "a", "b"].flatMap((name) => tasksAt(`${name}.test`, 2)),
    );

    expect((await frontier.listSites(2)).map(({ site }) => site)).toEqual(["a.test", "b.test"]);
    expect(await frontier.listSites(2, "b.test")).toEqual([
      {
        site: "c.test",
        policy: UNLIMITED,
        inFlight: 0,
        waiting: 2,
        readyAt: 0,
        blockedUntil: 0,
        backoffCause: undefined,
        crawlDelayMs: 0,
        slowdown: 1,
        slowdownCause: undefined,
        hasIsolatedErrors: false,
      },
    ]);
  });
}

async function reasonsOf(frontier: AnyFrontier, target: ExplainTarget): Promise<readonly string[]> {
  return (await frontier.explain(target)).reasons;
}
