/** Runs one job through all operations of users and workers on a broker. */
import { expect } from "vitest";
import type { Frontier } from "../../src/frontier/frontier.ts";
import type { FrontierAdmin } from "../../src/frontier/frontier-admin.ts";
import {
  aJob,
  aTask,
  grantsOf,
  returnedAfter,
  settleAll,
  settlementOf,
  tasksAt,
  viewOf,
} from "../contracts/frontier/makers.ts";
import { waitUntil } from "../services/wait-until.ts";

type AnyFrontier = Frontier & FrontierAdmin;

const SITE = "a.test";
/** Retries are due after a few milliseconds. */
const TIMEOUT_MS = 10_000;

/** Throws if a step has the wrong result. */
export async function runWholeJob(frontier: AnyFrontier): Promise<void> {
  await submitAndFetch(frontier);
  await failAndReplay(frontier);
  await inspect(frontier);
  await control(frontier);
}

/** Submission, robots.txt, a page with links, and a retry. */
async function submitAndFetch(frontier: AnyFrontier): Promise<void> {
  await frontier.announce({ worker: "w", queues: ["fetch"], unknownSpiders: [], version: "1" }, 60_000);
  await frontier.createJob(aJob({ robots: true, retries: { max: 1, backoffMs: 1 }, limits: { pages: 100 } }));
  await frontier.enqueue("job", [aTask(`https://${SITE}/`)]);
  const [first] = await grantsOf(frontier);
  if (first === undefined) throw new Error("nothing was granted");
  expect(first.mustFetchRobots).toBe(true);
  const now = Date.now();
  await frontier.keepRobots(SITE, { kind: "file", text: "", fetchedAt: now, freshUntil: now + 60_000 }, 0);
  expect(await frontier.findRobots(SITE)).toMatchObject({ kind: "file" });
  expect(await frontier.extend([first], 60_000)).toEqual([true]);
  await settleAll(frontier, [first], { discovered: tasksAt(SITE, 3) });
  const [again, back, done] = await grantsOf(frontier);
  if (again === undefined || back === undefined || done === undefined) throw new Error("links were not queued");
  await frontier.release([back]);
  await settleAll(frontier, [done]);
  const outcome = { kind: "retry", because: "throttled", status: 503 } as const;
  await frontier.settle([settlementOf(again, { outcome, site: { kind: "throttled", retryAfterMs: 1 } })]);
  await frontier.seal("job");
}

/** The remaining tasks become dead letters, which are listed and replayed. */
async function failAndReplay(frontier: AnyFrontier): Promise<void> {
  const dead = async () => {
    const outcome = { kind: "dead", because: "http_status", status: 404 } as const;
    await settleAll(frontier, await grantsOf(frontier), { outcome });
    await frontier.reap(100);
    return (await viewOf(frontier)).state !== "running";
  };
  expect(await waitUntil(dead, TIMEOUT_MS)).toBe(true);
  expect(await frontier.listDead({ jobId: "job" }, 10)).toHaveLength(2);
  expect((await frontier.groupDead({}, 10)).groups).toMatchObject([{ reason: "http_status", count: 2 }]);
  expect(await frontier.discardDead({ jobId: "job" }, 1)).toBe(1);
  expect(await frontier.replayDead({ jobId: "job" }, 10, 1000)).toMatchObject({ replayed: 1 });
  const done = async () => {
    await settleAll(frontier, await grantsOf(frontier));
    return (await viewOf(frontier)).state !== "running";
  };
  expect(await waitUntil(done, TIMEOUT_MS)).toBe(true);
}

async function inspect(frontier: AnyFrontier): Promise<void> {
  await frontier.setSitePolicy(SITE, { intervalMs: 5, burst: 1, perSite: 2 });
  expect(await frontier.listSites(10)).toMatchObject([{ site: SITE, policy: { perSite: 2 } }]);
  await frontier.setSitePolicy(SITE, undefined);
  for (const target of [{ url: `https://${SITE}/` }, { site: SITE }, { jobId: "job" }]) {
    expect((await frontier.explain(target)).reasons).not.toEqual([]);
  }
  expect(await frontier.listJobs(10)).toHaveLength(1);
  expect(await frontier.listWorkers()).toHaveLength(1);
  expect(await frontier.listQueues()).toEqual([]);
  expect(await frontier.listHolders()).toEqual([]);
  expect(await frontier.examine()).not.toEqual([]);
  await frontier.withdraw("w");
}

/** Controls a second job with waiting, leased and abandoned tasks, in a dedup scope whose entries expire. */
async function control(frontier: AnyFrontier): Promise<void> {
  const special = { "b.test": { intervalMs: 1, burst: 1, perSite: 1 } };
  const deadlineAt = Date.now() + 3_600_000;
  const dedup = { scope: "shared", expireAfterMs: 60_000 };
  await frontier.createJob(aJob({ id: "second", sites: special, limits: { deadlineAt }, dedup }));
  await frontier.enqueue("second", [...tasksAt(SITE, 30), ...tasksAt("b.test", 3)]);
  const term = await frontier.openTerm({ worker: "w", site: "b.test", returned: undefined });
  if (term === undefined) throw new Error("no term was opened");
  await frontier.returnTerms([returnedAfter(term, [])]);
  await grantsOf(frontier, { worker: "lost", max: 1 });
  expect(await frontier.abandon("lost")).toBe(1);
  await grantsOf(frontier, { worker: "held", max: 1 });
  expect(await frontier.pause("second")).toMatchObject({ state: "paused" });
  expect((await frontier.explain({ jobId: "second" })).reasons.join()).toContain("paused");
  expect((await frontier.explain({ url: `https://${SITE}/7` })).reasons).not.toEqual([]);
  await frontier.resume("second");
  await frontier.setPriority("second", 2);
  await frontier.setPolicy("second", { intervalMs: 1, burst: 1, perSite: 1 });
  expect(await frontier.cancel("second")).toMatchObject({ state: "cancelled" });
  await frontier.reap(100);
}
