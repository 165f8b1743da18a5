/**
 * The basic guarantees of a broker with several handles, in real time, on every kind of server and number of shards.
 * The complete contract, with a manual clock, is in test/contracts/frontier.
 */
import { describe, expect, it } from "vitest";
import type { SitePolicy } from "../../src/domain/politeness.ts";
import type { Grant } from "../../src/frontier/frontier.ts";
import type { DeadLetter, JobView } from "../../src/frontier/frontier-admin.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { AnyFrontier } from "../contracts/frontier/backend.ts";
import {
  aJob,
  aRequest,
  aTask,
  countsOf,
  grantsOf,
  settleAll,
  settlementOf,
  submit,
  tasksAt,
  viewOf,
} from "../contracts/frontier/makers.ts";
import { waitUntil } from "../services/wait-until.ts";
import { workOnce } from "./paced-worker.ts";
import { createStage, openMany, type Stage } from "./stage.ts";

export type SmokeBackend = { url(): string; shards: number };

/** Enough sites to have some on every shard. */
const SITES = Array.from({ length: 12 }, (_, nth) => `site-${nth}.test`);
const TIMEOUT_MS = 30_000;
const clock = systemClock();

export function describeSmoke(name: string, { url, shards }: SmokeBackend): void {
  const stage = () => createStage(url(), { shards });
  describe(`a fleet on ${name}`, () => {
    wholeJobs(stage);
    limits(stage);
    endings(stage);
    control(stage);
    inspection(stage);
  });
}

function wholeJobs(stage: () => Stage): void {
  it("completes a job whose pages link across sites, with exact counts after each step", async () => {
    const frontier = await stage().open();
    await submit(frontier, aJob(), [aTask(`https://${SITES[0]}/0`)]);
    await frontier.seal("job");
    const seen = new Set<string>();

    // Every page links to page 0 and 1 of all sites.
    const links = SITES.flatMap((site) => tasksAt(site, 2));
    for (let grants = await grantsOf(frontier); grants.length > 0; grants = await grantsOf(frontier)) {
      for (const { url: granted } of grants) expect(seen).not.toContain(granted);
      for (const grant of grants) {
        seen.add(grant.url);
        await settleAll(frontier, [grant], { discovered: links });
        await viewOf(frontier);
      }
    }

    const pages = 2 * SITES.length;
    expect(seen.size).toBe(pages);
    expect((await viewOf(frontier)).state).toBe("finished");
    expect(await countsOf(frontier)).toEqual({
      submitted: 1,
      discovered: pages * pages,
      done: pages,
      duplicate: pages * pages + 1 - pages,
    });
  });

  it("queues a URL once when several handles submit it at the same time", async () => {
    const handles = await openMany(stage(), 4);
    await handles[0]?.createJob(aJob());
    const tasks = SITES.flatMap((site) => tasksAt(site, 60));

    const answers = await Promise.all(handles.map((frontier) => frontier.enqueue("job", tasks)));

    expect(answers.reduce((sum, { queued }) => sum + queued, 0)).toBe(tasks.length);
    expect(answers.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBe(3 * tasks.length);
    expect(await countsOf(handles[0] as AnyFrontier)).toEqual({
      submitted: 4 * tasks.length,
      queued: tasks.length,
      duplicate: 3 * tasks.length,
    });
  });
}

function limits(stage: () => Stage): void {
  it("keeps the rate and the concurrency of every site over all handles", async () => {
    const handles = await openMany(stage(), 3);
    const policy: SitePolicy = { intervalMs: 20, burst: 1, perSite: 2 };
    const sites = SITES.slice(0, 5);
    const tasks = sites.flatMap((site) => tasksAt(site, 12));
    await submit(handles[0] as AnyFrontier, aJob({ policy }), tasks);

    const spans = (await Promise.all(handles.map((frontier, nth) => work(frontier, `w${nth}`, tasks.length)))).flat();

    expect(new Set(spans.map(({ url: sent }) => sent)).size).toBe(tasks.length);
    for (const name of sites) {
      const own = spans.filter(({ site }) => site === name).sort((one, other) => one.from - other.from);
      const gaps = own.slice(1).map(({ from }, nth) => from - (own[nth]?.from ?? 0));
      expect(Math.min(...gaps), `smallest gap at ${name}`).toBeGreaterThanOrEqual(policy.intervalMs - 1e-3);
      const atOnce = own.map(({ from }) => own.filter((span) => span.from <= from && from < span.to).length);
      expect(Math.max(...atOnce), `largest concurrency at ${name}`).toBeLessThanOrEqual(policy.perSite);
    }
  });

  it("accepts exactly as many pages as the limit, from submissions and links", async () => {
    const handles = await openMany(stage(), 4);
    const [first] = handles as [AnyFrontier];
    const limit = 40;
    await first.createJob(aJob({ limits: { pages: limit } }));
    // Each handle submits its own URLs, and some that all handles submit.
    const batches = handles.map((_, nth) =>
      SITES.flatMap((site) => [...tasksAt(site, 1), aTask(`https://${site}/own-${nth}`)]),
    );

    await Promise.all(handles.map((frontier, nth) => frontier.enqueue("job", (batches[nth] ?? []).slice(0, 6))));
    const before = (await countsOf(first)).queued ?? 0;
    const grants = await grantsOf(first, { max: 4 });
    await Promise.all([
      ...handles.map((frontier, nth) => frontier.enqueue("job", batches[nth] ?? [])),
      settleAll(first, grants, { discovered: SITES.flatMap((site) => tasksAt(site, 9)) }),
    ]);

    const { queued = 0, done = 0, refused = 0 } = await countsOf(first);
    expect(before).toBeLessThan(limit);
    expect(queued + done).toBe(limit);
    expect(refused).toBeGreaterThan(0);
    expect((await first.enqueue("job", [aTask("https://more.test/")])).refused).toEqual([
      { index: 0, reason: "page_limit" },
    ]);
  });

  it("ends a job at its deadline, when its running tasks have ended", async () => {
    const frontier = await stage().open();
    const tasks = SITES.flatMap((site) => tasksAt(site, 3));
    await submit(frontier, aJob({ limits: { deadlineAt: clock.now() + 300 } }), tasks);
    const grants = await grantsOf(frontier, { max: 5 });
    expect(grants).toHaveLength(5);

    const isOver = async () => {
      await frontier.reap(100);
      return (await countsOf(frontier)).queued === undefined;
    };
    expect(await waitUntil(isOver, TIMEOUT_MS)).toBe(true);

    expect(await grantsOf(frontier)).toEqual([]);
    await settleAll(frontier, grants, { discovered: [aTask("https://late.test/")] });
    expect(await countsOf(frontier)).toEqual({
      submitted: tasks.length,
      discovered: 5,
      done: 5,
      cancelled: tasks.length - 5,
      refused: 5,
    });
    expect((await viewOf(frontier)).state).toBe("finished");
  });
}

function endings(stage: () => Stage): void {
  it("ends a job exactly once when several handles settle its last tasks at the same time", async () => {
    const handles = await openMany(stage(), 4);
    const [first] = handles as [AnyFrontier];
    for (let round = 0; round < 15; round++) {
      const id = `job-${round}`;
      await submit(
        first,
        aJob({ id }),
        SITES.slice(0, 8).map((site) => aTask(`https://${site}/`)),
      );
      await first.seal(id);
      const shares: (readonly Grant[])[] = [];
      for (const frontier of handles) shares.push(await grantsOf(frontier, { max: 2 }));

      const answers = await Promise.all(
        handles.map((frontier, nth) => frontier.settle((shares[nth] ?? []).map((grant) => settlementOf(grant)))),
      );

      expect(answers.flatMap(({ finished }) => finished)).toEqual([id]);
      expect(await viewOf(first, id)).toMatchObject({ state: "finished", finishedAt: expect.any(Number) });
    }
  });

  it("lists, groups and replays dead letters, and runs their job again", async () => {
    const frontier = await stage().open();
    await submit(
      frontier,
      aJob(),
      SITES.map((site) => aTask(`https://${site}/`)),
    );
    await frontier.seal("job");
    await settleAll(frontier, await grantsOf(frontier), {
      outcome: { kind: "dead", because: "http_status", status: 404 },
    });
    expect((await viewOf(frontier)).state).toBe("failed");

    const letters = await frontier.listDead({ jobId: "job" }, 100);
    expect(letters.map(({ site }) => site).sort()).toEqual([...SITES].sort());
    const [{ site, taskId }] = letters as [DeadLetter];
    expect((await frontier.listDead({ site }, 100)).map((letter) => letter.taskId)).toEqual([taskId]);
    const { groups } = await frontier.groupDead({ status: 404 }, 100);
    expect(groups.map(({ count }) => count)).toEqual(SITES.map(() => 1));
    expect(await frontier.replayDead({ jobId: "job" }, 100, 1000)).toMatchObject({ replayed: SITES.length });

    expect((await viewOf(frontier)).state).toBe("running");
    await settleAll(frontier, await grantsOf(frontier));
    expect((await viewOf(frontier)).state).toBe("finished");
    expect(await countsOf(frontier)).toEqual({ submitted: SITES.length, done: SITES.length });
    expect(await frontier.listDead({}, 100)).toEqual([]);
  });
}

function control(stage: () => Stage): void {
  it("pauses, resumes and cancels for all handles at once", async () => {
    const [one, other] = (await openMany(stage(), 2)) as [AnyFrontier, AnyFrontier];
    const tasks = SITES.flatMap((site) => tasksAt(site, 4));
    await submit(one, aJob(), tasks);

    await one.pause("job");
    expect(await other.lease(aRequest())).toEqual({ grants: [], terms: [], nextDueAt: undefined });
    await other.resume("job");
    const grants = await grantsOf(one, { max: 6 });
    expect(grants).toHaveLength(6);
    const cancelled: JobView = await other.cancel("job");

    expect(cancelled.state).toBe("cancelled");
    expect(await grantsOf(one)).toEqual([]);
    await settleAll(one, grants);
    expect(await countsOf(one)).toEqual({ submitted: tasks.length, done: 6, cancelled: tasks.length - 6 });
    expect(await viewOf(other)).toMatchObject({ state: "cancelled", finishedAt: expect.any(Number) });
    await expect(one.enqueue("job", tasks)).rejects.toMatchObject({ code: "JOB_ENDED" });
  });

  it("returns the tasks of a dead worker, and counts the tasks of each worker", async () => {
    const [one, other] = (await openMany(stage(), 2)) as [AnyFrontier, AnyFrontier];
    await submit(
      one,
      aJob(),
      SITES.flatMap((site) => tasksAt(site, 2)),
    );
    await grantsOf(one, { worker: "doomed", max: 10 });
    await grantsOf(other, { worker: "alive", max: 5 });
    expect(await one.listHolders()).toEqual([
      { worker: "alive", leases: 5 },
      { worker: "doomed", leases: 10 },
    ]);

    expect(await other.abandon("doomed")).toBe(10);

    expect(await countsOf(one)).toEqual({ submitted: 2 * SITES.length, leased: 5, queued: 2 * SITES.length - 5 });
    expect(await one.listQueues()).toEqual([{ queue: "fetch", waiting: 2 * SITES.length - 5 }]);
  });
}

function inspection(stage: () => Stage): void {
  it("lists jobs newest first, and sites by name, page by page", async () => {
    const frontier = await stage().open();
    const ids = ["a", "b", "c", "d", "e"];
    for (const id of ids) await submit(frontier, aJob({ id }), [aTask(`https://${id}.test/`)]);

    const [e, d, ...rest] = await frontier.listJobs(3);
    expect([e, d, ...rest].map((view) => view?.id)).toEqual(["e", "d", "c"]);
    const older = await frontier.listJobs(9, { createdAt: rest[0]?.createdAt ?? 0 });
    // Clocks are compared with each answer: the last entry of a page may be repeated, but never skipped.
    expect(older.map(({ id }) => id).filter((id) => id !== "c")).toEqual(["b", "a"]);
    const page = await frontier.listSites(2);
    expect(page.map(({ site }) => site)).toEqual(["a.test", "b.test"]);
    expect((await frontier.listSites(9, "b.test")).map(({ site }) => site)).toEqual(["c.test", "d.test", "e.test"]);
    expect(page[0]).toMatchObject({ waiting: 1, inFlight: 0 });
  });

  it("explains why a URL, a site and a job wait", async () => {
    const frontier = await stage().open();
    const policy: SitePolicy = { intervalMs: 60_000, burst: 1, perSite: 1 };
    const tasks = SITES.slice(0, 3).flatMap((site) => tasksAt(site, 2));
    await submit(frontier, aJob({ policy }), tasks);
    const [grant] = await grantsOf(frontier, { worker: "the-worker", max: 1 });
    if (grant === undefined) throw new Error("expected a due task");

    expect(textOf(await frontier.explain({ url: grant.url }))).toMatch(/the-worker/);
    const next = grant.url.endsWith("/0") ? grant.url.replace(/0$/, "1") : grant.url.replace(/1$/, "0");
    expect((await frontier.explain({ url: next })).reasons).not.toEqual([]);
    expect((await frontier.explain({ site: grant.site })).reasons).not.toEqual([]);
    expect(textOf(await frontier.explain({ jobId: "job" }))).toMatch(/5/);
    expect(textOf(await frontier.explain({ url: "https://never.test/" }))).not.toBe("");
  });
}

type Span = Grant & { from: number; to: number };

/** Leases and settles until the job is done. Returns the time span in which each request ran. */
async function work(frontier: AnyFrontier, worker: string, total: number): Promise<Span[]> {
  const running = new Map<string, Span>();
  const spans: Span[] = [];
  const onSend = (grant: Grant, from: number) => {
    const span = { ...grant, from, to: Number.POSITIVE_INFINITY };
    running.set(grant.url, span);
    spans.push(span);
  };
  const onEnd = ({ url }: Grant) => Object.assign(running.get(url) ?? {}, { to: clock.now() });
  const until = clock.now() + TIMEOUT_MS;
  while (clock.now() < until) {
    const { grants, nextDueAt } = await workOnce(frontier, { worker, clock, max: 5, requestMs: 35, onSend, onEnd });
    if (grants.length > 0) continue;
    if ((await viewOf(frontier)).counts.done === total) return spans;
    await frontier.waitForWork(Math.min(nextDueAt ?? until, clock.now() + 50), new AbortController().signal);
  }
  throw new Error(`${worker} waited ${TIMEOUT_MS} ms for the end`);
}

function textOf({ reasons }: { reasons: readonly string[] }): string {
  return reasons.join("; ");
}
