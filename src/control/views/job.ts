/** A job as the API returns it and as `--json` prints it. This file has no schemas, so commands need not load zod. */
import { describeBackoff } from "../../domain/backoff.ts";
import type { JobSpending } from "../../domain/exit.ts";
import type { JobState, Ledger } from "../../domain/job.ts";
import type { JobSpec } from "../../domain/job-spec.ts";
import { formatRate } from "../../domain/rate.ts";
import type { JobSiteView, JobView } from "../../frontier/frontier-admin.ts";
import { queuesOfJob } from "../../submit/queues-of-job.ts";
import { type ProxyCostsOut, proxyCostsOut } from "./proxy-costs.ts";

/** Instants are ISO 8601 in UTC. Unknown values are null, never missing. `api/wire/jobs.ts` documents every field. */
export type JobOut = {
  id: string;
  requestId: string | null;
  name: string;
  state: JobState;
  sealed: boolean;
  queue: string;
  queues: string[];
  priority: number;
  politeness: { rate: string; burst: number; perSite: number };
  limits: { pages: number | null; seconds: number | null };
  counts: Ledger;
  tally: { pages: number; records: number; invalid: number; bytes: number };
  rate: number | null;
  etaSeconds: number | null;
  createdAt: string;
  finishedAt: string | null;
  archived: boolean;
  /** Only for a job that was requested by its id. */
  proxies?: ProxyCostsOut | null | undefined;
};

/** One job that was requested by its id. */
export type JobDetailOut = JobOut & { proxies: ProxyCostsOut | null };

/** One job at one site. */
export type JobSiteOut = {
  site: string;
  waiting: number;
  inFlight: number;
  pages: number;
  records: number;
  invalid: number;
  bytes: number;
  dead: number;
  lastPageAt: string | null;
  blockedUntil: string | null;
  why: string | null;
};

export function jobDetailOut(
  job: JobView & { archived?: boolean },
  spending: JobSpending | undefined,
  now: number,
): JobDetailOut {
  return { ...jobOut(job, now), proxies: proxyCostsOut(spending, job.spec) };
}

export function jobOut(job: JobView & { archived?: boolean }, now: number): JobOut {
  const { id, name, state, sealed, queue, priority, policy, limits, counts, tally, createdAt, finishedAt, spec } = job;
  const { pages = null, deadlineAt } = limits;
  const seconds = Math.max(0, (finishedAt ?? now) - createdAt) / 1000;
  return {
    id,
    requestId: (spec as Partial<JobSpec>).requestId ?? null, // missing in jobs of older versions
    name,
    state,
    sealed,
    queue,
    queues: queuesOfJob({ ...(spec as JobSpec), queue }),
    priority,
    politeness: { rate: formatRate(policy.intervalMs), burst: policy.burst, perSite: policy.perSite },
    limits: { pages, seconds: deadlineAt === undefined ? null : rounded((deadlineAt - createdAt) / 1000) },
    counts: { ...counts },
    tally: { ...tally },
    rate: seconds > 0 ? rounded(tally.pages / seconds) : null,
    etaSeconds: etaOf(job, seconds),
    createdAt: new Date(createdAt).toISOString(),
    finishedAt: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
    archived: job.archived === true,
  };
}

/** Estimates the time left from the speed so far. Refused links end at once and would make the estimate too short. */
function etaOf({ state, sealed, counts }: JobView, seconds: number): number | null {
  const left = counts.queued + counts.delayed + counts.leased;
  const ended = counts.done + counts.dead;
  if (state !== "running" || !sealed || left === 0 || ended === 0 || seconds === 0) return null;
  return Math.ceil((left * seconds) / ended);
}

function rounded(number: number): number {
  return Math.round(number * 1000) / 1000;
}

export function jobSiteOut(view: JobSiteView, job: Pick<JobView, "state">, now: number): JobSiteOut {
  const { site, waiting, inFlight, dead, tally, lastPageAt } = view;
  const blockedUntil = view.blockedUntil > now ? view.blockedUntil : undefined;
  return {
    ...{ site, waiting, inFlight, dead, ...tally },
    lastPageAt: lastPageAt === undefined ? null : new Date(lastPageAt).toISOString(),
    blockedUntil: blockedUntil === undefined ? null : new Date(blockedUntil).toISOString(),
    why: whyOf(job, view, now),
  };
}

/** Why tasks wait longer than the rate of the site requires; null if they do not. */
function whyOf(
  { state }: Pick<JobView, "state">,
  { blockedUntil, backoffCause }: JobSiteView,
  now: number,
): string | null {
  if (state === "paused") return "the job is paused";
  return blockedUntil > now ? `the site is in backoff: ${describeBackoff(backoffCause)}` : null;
}
