/** Collects the facts about a wait from the broker file; explain.ts of the frontier turns them into sentences (F16). */
import { fingerprint, fingerprintInteger } from "../../domain/fingerprint.ts";
import { readyAt } from "../../domain/politeness.ts";
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import { explainJob, explainSite, explainUrl, type JobFacts, type SiteFacts, type TaskFacts } from "../explain.ts";
import {
  type ExplainTarget,
  type Explanation,
  type FailedAttempt,
  SITE_JOBS_SCANNED,
  type Visibility,
} from "../frontier-admin.ts";
import { jobNotFound } from "../job-errors.ts";
import { isFetchingRobots } from "./readiness.ts";
import { adaptiveView, type DeadRow, type JobRow, type LaneRow, policyOf, type SiteRow, type TaskRow } from "./rows.ts";
import { operatorOf, type Sites } from "./sites.ts";

type Names = "tasksOfUrl" | "task" | "dead" | "job" | "jobById" | "site" | "siteByName" | "lane" | "sitesOfJob";

type Deps = { db: Database; sites: Pick<Sites, "jobsAt">; now: () => number };

type Explain = (target: ExplainTarget, visibility?: Visibility) => Explanation;

export function createExplain({ db, sites, now }: Deps): Explain {
  const sql = prepareAll<Names>(db, new URL("./sql/explain.sql", import.meta.url));

  function jobFacts(row: Row | undefined): JobFacts {
    const job = row as unknown as JobRow;
    const { id, queue, state, submitted, discovered, queued, delayed, leased } = job;
    const { done, dead, cancelled, duplicate, refused } = job;
    const counts = { submitted, discovered, queued, delayed, leased, done, dead, cancelled, duplicate, refused };
    return { id, queue, state, sealed: job.sealed === 1, counts, retriesMax: job.retries_max };
  }

  function siteFacts(n: number): SiteFacts {
    const site = sql.site.get(n) as unknown as SiteRow & { waiting: number };
    return {
      site: site.site,
      policy: policyOf(site),
      inFlight: site.in_flight,
      rateReadyAt: readyAt(site.arrival_at, policyOf(site)),
      blockedUntil: site.blocked_until,
      backoffCause: site.backoff_cause ?? undefined,
      incidents: site.incidents,
      crawlDelayMs: site.crawl_delay_ms,
      ...adaptiveView(site, now()),
      isFetchingRobots: isFetchingRobots(site, now()),
      waiting: site.waiting,
      term: site.term_worker === null ? undefined : { worker: site.term_worker, endsAt: site.term_ends_at },
      operator: operatorOf(site),
      jobs: sites.jobsAt(site, SITE_JOBS_SCANNED),
    };
  }

  function taskFacts(id: number, owner: number): TaskFacts {
    const task = sql.task.get(id) as TaskRow | undefined;
    if (task !== undefined) return activeFacts(task);
    const dead = sql.dead.get(id) as DeadRow | undefined;
    if (dead !== undefined) {
      const attempts = JSON.parse(dead.history) as FailedAttempt[];
      return {
        state: "dead",
        reason: dead.reason,
        attempts: attempts.length,
        last: attempts.at(-1),
        job: jobFacts(sql.job.get(dead.job)),
      };
    }
    return { state: "ended", job: jobFacts(sql.job.get(owner)) };
  }

  function activeFacts(task: TaskRow): TaskFacts {
    const job = jobFacts(sql.job.get(task.job));
    const { queue } = sql.lane.get(task.lane) as unknown as LaneRow;
    if (task.state === "leased") {
      return { state: "leased", worker: task.worker ?? "", leaseUntil: task.lease_until ?? 0, job };
    }
    const site = siteFacts(task.site);
    if (task.state === "queued") return { state: "queued", queue, job, site };
    const attempts = JSON.parse(task.history ?? "[]") as FailedAttempt[];
    const { not_before: notBefore, failures } = task;
    return { state: "delayed", queue, job, site, notBefore: notBefore ?? 0, failures, last: attempts.at(-1) };
  }

  return (target, visibility) => {
    if ("url" in target) {
      const print = fingerprintInteger(fingerprint(target.url));
      const facts = sql.tasksOfUrl.all(print).map((row) => taskFacts(row.task as number, row.job as number));
      return explainUrl(target.url, facts, now(), visibility);
    }
    if ("site" in target) {
      const row = sql.siteByName.get(target.site);
      return explainSite(target.site, row === undefined ? undefined : siteFacts(row.n as number), now());
    }
    const job = sql.jobById.get(target.jobId);
    if (job === undefined) throw jobNotFound(target.jobId, "frontier.explain");
    const facts = sql.sitesOfJob.all(job.n as number).map((row) => siteFacts(row.site as number));
    return explainJob(jobFacts(job), facts, now(), visibility);
  };
}
