/** Builders of jobs, tasks and settlements, and functions that most contract tests use. */

import { expect } from "vitest";
import { ledgerGap } from "../../../src/domain/job.ts";
import {
  arrivalAfter,
  type ReturnedTerm,
  readyAt,
  type SitePolicy,
  type Term,
} from "../../../src/domain/politeness.ts";
import type { NewTask } from "../../../src/domain/task.ts";
import {
  aloneQueue,
  type Grant,
  type LeaseAnswer,
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

export function aRequest({ max = 100, ...parts }: Partial<LeaseRequest> = {}): LeaseRequest {
  const usual = { worker: "worker", queues: ["fetch"], leaseMs: 60_000, lookaheadMs: 0, returned: [] };
  return { ...usual, max, maxNow: max, ...parts };
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

/** The term, returned after requests at these times. */
export function returnedAfter(term: Term, sends: readonly number[], unstarted = 0): ReturnedTerm {
  const { site, number, intervalMs, burst } = term;
  const arrivalAt = sends.reduce((at, sentAt) => arrivalAfter(sentAt, at, term), term.arrivalAt);
  return { site, number, intervalMs, burst, arrivalAt, unstarted, slowdown: term.slowdown, slowdownCause: undefined };
}

/** When a worker sends `count` requests in a term, each as early as possible. */
export function sendsIn(term: Term, count: number, now: number): number[] {
  const sends: number[] = [];
  for (let { arrivalAt } = term; sends.length < count; ) {
    const sentAt = Math.max(now, term.startsAt, readyAt(arrivalAt, term));
    arrivalAt = arrivalAfter(sentAt, arrivalAt, term);
    sends.push(sentAt);
  }
  return sends;
}

/** Settles all grants of an answer, and returns its terms as if the requests had been sent as early as possible. */
export async function settleAndReturn(frontier: AnyFrontier, { grants, terms }: LeaseAnswer): Promise<void> {
  await settleAll(frontier, grants);
  await frontier.returnTerms(
    terms.map((term) => {
      const count = grants.filter(({ site }) => site === term.site).length;
      return returnedAfter(term, sendsIn(term, count, term.startsAt));
    }),
  );
}

/** A grant, and when its request was sent. */
export type SentGrant = Grant & { sentAt: number };

/**
 * Leases, sends as early as the terms allow, settles and returns the terms, until nothing is left. Advances the clock.
 */
export async function drain({ frontier, clock }: Broker, parts: Partial<LeaseRequest> = {}): Promise<SentGrant[]> {
  const all: SentGrant[] = [];
  for (;;) {
    const { grants, terms, nextDueAt } = await frontier.lease(aRequest(parts));
    const returned = terms.map((term) => {
      const granted = grants.filter(({ site }) => site === term.site);
      const sends = sendsIn(term, granted.length, clock.now());
      all.push(...granted.map((grant, nth) => ({ ...grant, sentAt: sends[nth] ?? 0 })));
      return { sends, term: returnedAfter(term, sends) };
    });
    const unpaced = grants.filter(({ site }) => !terms.some((term) => term.site === site));
    all.push(...unpaced.map((grant) => ({ ...grant, sentAt: clock.now() })));
    clock.advanceTo(Math.max(0, ...returned.flatMap(({ sends }) => sends)));
    await settleAll(frontier, grants);
    await frontier.returnTerms(returned.map(({ term }) => term));
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
