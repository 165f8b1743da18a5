/**
 * One write transaction on the broker file. Operations load rows through a step, change them in memory, and the step
 * writes each touched row back once, works out when every touched site is due next, and ends jobs that have nothing
 * left: so F8 and F10 hold whatever the operation was. A crash leaves the file as before the step.
 * Called by every operation in this folder; nothing else writes.
 */
import { readyAt, strictest } from "../../domain/politeness.ts";
import { type Database, prepareAll, type Row, type SqlValue } from "../../runtime/sqlite.ts";
import { reprice } from "../reprice.ts";
import { type JobRow, type LaneRow, NEVER, policyFor, policyOf, type SiteRow, setPolicy } from "./rows.ts";
import type { SeenCache } from "./seen-cache.ts";

export type Totals = { next_task: number; next_served: number; pending: number };

export type Step = {
  now: number;
  totals: Totals;
  job(n: number): JobRow;
  findJob(id: string): JobRow | undefined;
  site(n: number): SiteRow;
  siteNamed(site: string): SiteRow;
  lane(n: number): LaneRow;
  laneFor(job: JobRow, site: SiteRow, queue: string, priority: number): LaneRow;
  /** Its lanes' settings changed: work out the site's policy and turns anew. */
  repolice(site: SiteRow): void;
  /** A URL that is in the file once this step commits. */
  sawNew(scope: number, url: string): void;
  isKnownSeen(scope: number, url: string): boolean;
};

export type StepAnswer<T> = { value: T; finished: string[] };

export type Stepper = { run<T>(work: (step: Step) => T): StepAnswer<T> };

type Names =
  | "job"
  | "jobById"
  | "saveJob"
  | "site"
  | "siteNumber"
  | "addSite"
  | "saveSite"
  | "strictest"
  | "lane"
  | "laneNumber"
  | "addLane"
  | "saveLane"
  | "dropLane"
  | "firstRetryAt"
  | "refreshTurns"
  | "dropEmptyTurns"
  | "totals"
  | "saveTotals";

type Deps = { db: Database; now: () => number; seen: SeenCache };

export function createStepper({ db, now, seen }: Deps): Stepper {
  const sql = prepareAll<Names>(db, new URL("./sql/step.sql", import.meta.url));

  function run<T>(work: (step: Step) => T): StepAnswer<T> {
    const fresh: { scope: number; url: string }[] = [];
    const finished: string[] = [];
    const value = db.write(() => {
      const rows = loadRows(now(), fresh);
      const answer = work(rows.step);
      saveLanes(rows);
      saveSites(rows);
      saveJobs(rows, finished);
      sql.saveTotals.run(rows.step.totals.next_task, rows.step.totals.next_served, rows.step.totals.pending);
      return answer;
    });
    // Only now is it true that these are in the file.
    for (const { scope, url } of fresh) seen.add(scope, url);
    return { value, finished };
  }

  type Rows = {
    step: Step;
    jobs: Map<number, JobRow>;
    sites: Map<number, SiteRow>;
    lanes: Map<number, LaneRow>;
    repoliced: Set<number>;
  };

  function loadRows(at: number, fresh: { scope: number; url: string }[]): Rows {
    const jobs = new Map<number, JobRow>();
    const sites = new Map<number, SiteRow>();
    const lanes = new Map<number, LaneRow>();
    const repoliced = new Set<number>();

    function keep<R extends { n: number }>(cache: Map<number, R>, row: Row | undefined, what: string): R {
      if (row === undefined) throw new Error(`broker file: ${what} is missing`);
      const known = cache.get(row.n as number);
      if (known !== undefined) return known;
      const loaded = row as unknown as R;
      cache.set(loaded.n, loaded);
      return loaded;
    }

    const step: Step = {
      now: at,
      totals: sql.totals.get() as unknown as Totals,
      job: (n) => jobs.get(n) ?? keep(jobs, sql.job.get(n), `job ${n}`),
      findJob(id) {
        const row = sql.jobById.get(id);
        return row === undefined ? undefined : keep(jobs, row, id);
      },
      site: (n) => sites.get(n) ?? keep(sites, sql.site.get(n), `site ${n}`),
      siteNamed(site) {
        const { n } = sql.siteNumber.get(site) ?? must(sql.addSite.get(site));
        return step.site(n as number);
      },
      lane: (n) => lanes.get(n) ?? keep(lanes, sql.lane.get(n), `lane ${n}`),
      laneFor(job, site, queue, priority) {
        const known = sql.laneNumber.get(job.n, site.n, queue, priority);
        if (known !== undefined) return step.lane(known.n as number);
        repoliced.add(site.n);
        const { intervalMs, burst, perSite } = policyFor(job, site.site);
        const added = sql.addLane.get(
          job.n,
          site.n,
          queue,
          priority,
          rankOf(job, priority),
          intervalMs,
          burst,
          perSite,
          job.robots,
        );
        return step.lane(must(added).n as number);
      },
      repolice: (site) => void repoliced.add(site.n),
      sawNew: (scope, url) => void fresh.push({ scope, url }),
      isKnownSeen: (scope, url) => seen.has(scope, url),
    };
    return { step, jobs, sites, lanes, repoliced };
  }

  function saveLanes({ step, lanes, repoliced }: Rows): void {
    for (const lane of lanes.values()) {
      const job = step.job(lane.job);
      step.site(lane.site);
      if (lane.queued + lane.delayed + lane.leased === 0) {
        sql.dropLane.run(lane.n);
        repoliced.add(lane.site);
        continue;
      }
      lane.wake_at = wakeAt(job, lane, step.now);
      sql.saveLane.run(
        lane.rank,
        lane.interval_ms,
        lane.burst,
        lane.per_site,
        lane.queued,
        lane.delayed,
        lane.leased,
        lane.wake_at,
        lane.served,
        lane.n,
      );
    }
  }

  function wakeAt(job: JobRow, lane: LaneRow, at: number): number {
    if (!maySend(job, at)) return NEVER;
    if (lane.queued > 0) return 0;
    if (lane.delayed === 0) return NEVER;
    return must(sql.firstRetryAt.get(lane.n)).at as number;
  }

  function saveSites({ step, sites, repoliced }: Rows): void {
    for (const n of repoliced) {
      const site = step.site(n);
      const before = policyOf(site);
      repolice(site);
      site.arrival_at = reprice(site.arrival_at, step.now, before, policyOf(site));
    }
    for (const site of sites.values()) {
      sql.saveSite.run(...siteValues(site), site.n);
      sql.refreshTurns.run(siteReadyAt(site, step.now), step.now, site.n);
      if (repoliced.has(site.n)) sql.dropEmptyTurns.run(site.n);
    }
  }

  function repolice(site: SiteRow): void {
    const row = sql.strictest.get(site.n) as unknown as SiteRow & { robots: number | null };
    if (row.robots !== null) site.wants_robots = row.robots;
    if (row.interval_ms !== null) {
      const delay = row.robots === 1 ? site.crawl_delay_ms : 0;
      // A crawl-delay stands between any two requests: it knows no bursts.
      const burst = delay > 0 ? 1 : row.burst;
      setPolicy(site, strictest([policyOf(row), { intervalMs: delay, burst, perSite: row.per_site }]));
    }
    // The operator's word beats both.
    site.interval_ms = site.operator_interval_ms ?? site.interval_ms;
    site.burst = site.operator_burst ?? site.burst;
    site.per_site = site.operator_per_site ?? site.per_site;
  }

  function saveJobs({ step, jobs }: Rows, finished: string[]): void {
    for (const job of jobs.values()) {
      if (isFinished(job)) {
        job.finished_at = step.now;
        if (job.state === "running") job.state = job.done === 0 && job.dead + job.refused > 0 ? "failed" : "finished";
        finished.push(job.id);
      }
      sql.saveJob.run(...jobValues(job), job.n);
    }
  }

  return { run };
}

/** Whether tasks of a job may be granted at all. */
export function maySend(job: JobRow, now: number): boolean {
  return job.state === "running" && job.stopped === 0 && (job.deadline_at === null || job.deadline_at > now);
}

/** Priority in force: as enqueued, moved as far as the job's own priority has been moved. */
export function rankOf(job: JobRow, priority: number): number {
  return Math.max(0, Math.min(9, priority + job.priority - job.base_priority));
}

/** From when on a site may be hit, as far as the site itself goes. */
export function siteReadyAt(site: SiteRow, now: number): number {
  if (site.in_flight >= site.per_site) return NEVER;
  const asking = site.wants_robots === 1 && site.robots_fresh_until <= now ? site.robots_asked_until : 0;
  return Math.max(readyAt(site.arrival_at, policyOf(site)), site.blocked_until, asking);
}

function isFinished(job: JobRow): boolean {
  const isOver = job.queued + job.delayed + job.leased === 0 && job.sealed === 1;
  return isOver && job.finished_at === null && (job.state === "running" || job.state === "cancelled");
}

function siteValues(site: SiteRow): SqlValue[] {
  return [
    site.arrival_at,
    site.in_flight,
    site.blocked_until,
    site.incidents,
    site.interval_ms,
    site.burst,
    site.per_site,
    site.wants_robots,
    site.operator_interval_ms,
    site.operator_burst,
    site.operator_per_site,
    site.crawl_delay_ms,
    site.robots_fresh_until,
    site.robots_asker,
    site.robots_asked_until,
  ];
}

function jobValues(job: JobRow): SqlValue[] {
  return [
    job.state,
    job.sealed,
    job.stopped,
    job.priority,
    job.interval_ms,
    job.burst,
    job.per_site,
    job.admitted,
    job.finished_at,
    job.deadline_at,
    job.synced_lane,
    job.submitted,
    job.discovered,
    job.queued,
    job.delayed,
    job.leased,
    job.done,
    job.dead,
    job.cancelled,
    job.duplicate,
    job.refused,
    job.pages,
    job.records,
    job.invalid,
    job.bytes,
  ];
}

function must(row: Row | undefined): Row {
  if (row === undefined) throw new Error("broker file: a statement that always answers did not");
  return row;
}
