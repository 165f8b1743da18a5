/** Builders of jobs, tasks and settlements, and functions that most contract tests use. */

import { expect } from "vitest";
import { ledgerGap } from "../../../src/domain/job.ts";
import type { SitePolicy } from "../../../src/domain/politeness.ts";
import type { NewTask } from "../../../src/domain/task.ts";
import {
  aloneQueue,
  type Grant,
  type LeaseRequest,
  type NewJob,
  type Settlement,
} from "../../../src/frontier/frontier.ts";
import type { JobView } from "../../../src/frontier/frontier-admin.ts";
import { aJobSpec } from "../../submit/a-job-spec.ts";
import type { AnyFrontier, Broker } from "./backend.ts";

/** No rate limit, for tests that are not about politeness. */
export const UNLIMITED: SitePolicy = { intervalMs: 0, burst: 1, perSite: 10_000 };

export function aJob(parts: Partial<NewJob> = {}): NewJob {
  return {
    id: "job",
    name: "a job",
    queue: "fetch",
    priority: 5,
    policy: UNLIMITED,
    sites: {},
    robots: false,
    retries: { max: 2, backoffMs: 1000 },
    limits: {},
    dedup: { scope: "job" },
    spec: aJobSpec(),
    ...parts,
  };
}

export function aTask(url: string, parts: Partial<NewTask> = {}): NewTask {
  return { url, site: new URL(url).host, kind: "fetch", queue: "fetch", priority: 5, depth: 0, ...parts };
}

/** `count` tasks at one site. */
export function tasksAt(site: string, count: number, parts: Partial<NewTask> = {}): NewTask[] {
  return Array.from({ length: count }, (_, nth) => aTask(`https://${site}/${nth}`, parts));
}

/** Creates a job and queues its tasks. */
export async function submit(frontier: AnyFrontier, job: NewJob, tasks: readonly NewTask[]): Promise<void> {
  await frontier.createJob(job);
  await frontier.enqueue(job.id, tasks);
}

export function aRequest(parts: Partial<LeaseRequest> = {}): LeaseRequest {
  return { worker: "worker", queues: ["fetch"], max: 100, leaseMs: 60_000, ...parts };
}

/** Fields of a lease request for suspects only, and for all tasks. */
export const SUSPECTS = { queues: [aloneQueue("fetch")] };
export const ALL = { queues: ["fetch", ...SUSPECTS.queues] };

export async function grantsOf(frontier: AnyFrontier, parts: Partial<LeaseRequest> = {}): Promise<readonly Grant[]> {
  return (await frontier.lease(aRequest(parts))).grants;
}

/** The first grant of a call; throws if there is none. */
export async function oneGrant(frontier: AnyFrontier, parts: Partial<LeaseRequest> = {}): Promise<Grant> {
  const [grant] = await grantsOf(frontier, { max: 1, ...parts });
  if (grant === undefined) throw new Error("nothing was granted");
  return grant;
}

export function settlementOf(
  { taskId, token }: Pick<Grant, "taskId" | "token">,
  parts: Partial<Settlement> = {},
): Settlement {
  return {
    taskId,
    token,
    outcome: { kind: "done" },
    discovered: [],
    refusedLinks: 0,
    site: { kind: "ok" },
    tally: { pages: 1, records: 0, invalid: 0, bytes: 0 },
    ...parts,
  };
}

export async function settleAll(
  frontier: AnyFrontier,
  grants: readonly Grant[],
  parts: Partial<Settlement> = {},
): Promise<void> {
  const { states } = await frontier.settle(grants.map((grant) => settlementOf(grant, parts)));
  expect(states).not.toContain("stale");
}

/** Leases and settles until nothing is left, advancing the clock. Returns the grants in order. */
export async function drain({ frontier, clock }: Broker, parts: Partial<LeaseRequest> = {}): Promise<Grant[]> {
  const all: Grant[] = [];
  for (;;) {
    const { grants, nextDueAt } = await frontier.lease(aRequest(parts));
    all.push(...grants);
    await settleAll(frontier, grants);
    if (grants.length > 0) continue;
    if (nextDueAt === undefined) return all;
    expect(nextDueAt).toBeGreaterThan(clock.now());
    clock.advanceTo(nextDueAt);
  }
}

export async function viewOf(frontier: AnyFrontier, jobId = "job"): Promise<JobView> {
  const view = await frontier.findJob(jobId);
  if (view === undefined) throw new Error(`no job ${jobId}`);
  expect(ledgerGap(view.counts)).toBe(0);
  return view;
}

/** The parts of the ledger that are not zero. */
export async function countsOf(frontier: AnyFrontier, jobId = "job"): Promise<Partial<JobView["counts"]>> {
  const { counts } = await viewOf(frontier, jobId);
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

export function pathsOf(grants: readonly { url: string }[]): string[] {
  return grants.map(({ url }) => new URL(url).pathname.slice(1));
}

export function urlsOf(grants: readonly { url: string }[]): string[] {
  return grants.map(({ url }) => url);
}
