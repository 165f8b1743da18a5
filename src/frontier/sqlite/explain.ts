/** Gathers the facts of a wait from the broker file, for explain.ts of the frontier to put into words (F16). */
import { fingerprint, fingerprintInteger } from "../../domain/fingerprint.ts";
import { readyAt } from "../../domain/politeness.ts";
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import { explainJob, explainSite, explainUrl, type JobFacts, type SiteFacts, type TaskFacts } from "../explain.ts";
import {
  type ExplainTarget,
  type Explanation,
  type Hearing,
  type Misfortune,
  SITE_JOBS_LOOKED_AT,
} from "../frontier-admin.ts";
import { jobMissing } from "../job-missing.ts";
import { viewOf } from "./jobs.ts";
import { type DeadRow, type JobRow, type LaneRow, policyOf, type SiteRow, type TaskRow } from "./rows.ts";
import { isAskingRobots } from "./schedule.ts";
import { operatorOf, type Sites } from "./sites.ts";

type Names =
  | "tasksOfUrl"
  | "task"
  | "dead"
  | "job"
  | "jobById"
  | "site"
  | "siteByName"
  | "lane"
  | "sitesOfJob"
  | "holders";

type Deps = { db: Database; sites: Pick<Sites, "jobsAt">; now: () => number };

export type Inspector = {
  explain(target: ExplainTarget, hearing?: Hearing): Explanation;
  holders(): { worker: string; leases: number }[];
};

export function createInspector({ db, sites, now }: Deps): Inspector {
  const sql = prepareAll<Names>(db, new URL("./sql/explain.sql", import.meta.url));

  function jobFacts(row: Row | undefined): JobFacts {
    const job = row as unknown as JobRow;
    const { id, state, sealed, counts } = viewOf(job);
    return { id, state, sealed, counts, retriesMax: job.retries_max };
  }

  function siteFacts(n: number): SiteFacts {
    const site = sql.site.get(n) as unknown as SiteRow & { waiting: number };
    return {
      site: site.site,
      policy: policyOf(site),
      inFlight: site.in_flight,
      rateReadyAt: readyAt(site.arrival_at, policyOf(site)),
      blockedUntil: site.blocked_until,
      crawlDelayMs: site.crawl_delay_ms,
      isAskingRobots: isAskingRobots(site, now()),
      waiting: site.waiting,
      operator: operatorOf(site),
      jobs: sites.jobsAt(site, SITE_JOBS_LOOKED_AT),
    };
  }

  function taskFacts(id: number, owner: number): TaskFacts {
    const task = sql.task.get(id) as TaskRow | undefined;
    if (task !== undefined) return liveFacts(task);
    const dead = sql.dead.get(id) as DeadRow | undefined;
    if (dead !== undefined) {
      const past = JSON.parse(dead.history) as Misfortune[];
      return {
        state: "dead",
        reason: dead.reason,
        tries: past.length,
        last: past.at(-1),
        job: jobFacts(sql.job.get(dead.job)),
      };
    }
    return { state: "ended", job: jobFacts(sql.job.get(owner)) };
  }

  function liveFacts(task: TaskRow): TaskFacts {
    const job = jobFacts(sql.job.get(task.job));
    const { queue } = sql.lane.get(task.lane) as unknown as LaneRow;
    if (task.state === "leased") {
      return { state: "leased", worker: task.worker ?? "", leaseUntil: task.lease_until ?? 0, job };
    }
    const site = siteFacts(task.site);
    if (task.state === "queued") return { state: "queued", queue, job, site };
    const past = JSON.parse(task.history ?? "[]") as Misfortune[];
    const { not_before: notBefore, failures } = task;
    return { state: "delayed", queue, job, site, notBefore: notBefore ?? 0, failures, last: past.at(-1) };
  }

  function explain(target: ExplainTarget, hearing?: Hearing): Explanation {
    if ("url" in target) {
      const print = fingerprintInteger(fingerprint(target.url));
      const facts = sql.tasksOfUrl.all(print).map((row) => taskFacts(row.task as number, row.job as number));
      return explainUrl(target.url, facts, now(), hearing);
    }
    if ("site" in target) {
      const row = sql.siteByName.get(target.site);
      return explainSite(target.site, row === undefined ? undefined : siteFacts(row.n as number), now());
    }
    const job = sql.jobById.get(target.jobId);
    if (job === undefined) throw jobMissing(target.jobId, "frontier.explain");
    const facts = sql.sitesOfJob.all(job.n as number).map((row) => siteFacts(row.site as number));
    return explainJob(jobFacts(job), facts, now(), hearing);
  }

  return {
    explain,
    holders: () => sql.holders.all().map((row) => ({ worker: row.worker as string, leases: row.leases as number })),
  };
}
