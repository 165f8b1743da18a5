/**
 * One write transaction on the broker file. Operations load rows through a step, change them in memory, and the step
 * writes each touched row back once, works out when every touched site is due next, and ends jobs that have nothing
 * left: so F8 and F10 hold whatever the operation was. A crash leaves the file as before the step.
 * Called by every operation in this folder; nothing else writes.
 */
import { isOffline, onlineSite } from "../../domain/offline-site.ts";
import { type Database, prepareAll, type Row, type Statement } from "../../runtime/sqlite.ts";
import type { Tally } from "../frontier.ts";
import type { SeenCache } from "../seen-cache.ts";
import { type JobRow, type LaneRow, policyFor, type SiteRow } from "./rows.ts";
import { saveRows } from "./save-rows.ts";
import { rankOf } from "./schedule.ts";

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
  /** What the step adds to what a job has had at a site. */
  atSite(job: JobRow, site: SiteRow): SiteGain;
  /** A URL that is in the file once this step commits. */
  sawNew(scope: number, url: string): void;
  isKnownSeen(scope: number, url: string): boolean;
};

/** Also for work that asks nothing of the site itself: it is of the site's pages. */
export type SiteGain = Tally & { job: number; site: string; done: number; dead: number; lastPageAt: number | null };

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
  | "addToJobSite"
  | "totals"
  | "saveTotals";

export type StepSql = Record<Names, Statement>;

/** What a step has touched so far. */
export type Rows = {
  step: Step;
  jobs: Map<number, JobRow>;
  sites: Map<number, SiteRow>;
  lanes: Map<number, LaneRow>;
  gains: Map<string, SiteGain>;
  /** Sites whose lanes came, went or changed their settings. */
  repoliced: Set<number>;
  /** URLs that the step has put in the file. */
  fresh: { scope: number; url: string }[];
};

type Deps = { db: Database; now: () => number; seen: SeenCache };

export function createStepper({ db, now, seen }: Deps): Stepper {
  const sql = prepareAll<Names>(db, new URL("./sql/step.sql", import.meta.url));
  return {
    run(work) {
      const { value, finished, fresh } = db.write(() => {
        const rows = openRows(sql, seen, now());
        const answer = work(rows.step);
        return { value: answer, finished: saveRows(sql, rows), fresh: rows.fresh };
      });
      // Only now is it true that these are in the file.
      for (const { scope, url } of fresh) seen.add(scope, url);
      return { value, finished };
    },
  };
}

/** The row of a statement that always answers. */
export function must(row: Row | undefined): Row {
  if (row === undefined) throw new Error("broker file: a statement that always answers did not");
  return row;
}

function openRows(sql: StepSql, seen: SeenCache, now: number): Rows {
  const rows: Omit<Rows, "step"> = {
    jobs: new Map(),
    sites: new Map(),
    lanes: new Map(),
    gains: new Map(),
    repoliced: new Set(),
    fresh: [],
  };
  const { jobs, sites, lanes, gains, repoliced, fresh } = rows;
  const step: Step = {
    now,
    totals: sql.totals.get() as unknown as Totals,
    job: (n) => jobs.get(n) ?? keep(jobs, must(sql.job.get(n))),
    findJob(id) {
      const row = sql.jobById.get(id);
      return row === undefined ? undefined : keep(jobs, row);
    },
    site: (n) => sites.get(n) ?? keep(sites, must(sql.site.get(n))),
    siteNamed(site) {
      const { n } = sql.siteNumber.get(site) ?? must(sql.addSite.get(site));
      return step.site(n as number);
    },
    lane: (n) => lanes.get(n) ?? keep(lanes, must(sql.lane.get(n))),
    laneFor(job, site, queue, priority) {
      const known = sql.laneNumber.get(job.n, site.n, queue, priority);
      if (known !== undefined) return step.lane(known.n as number);
      repoliced.add(site.n);
      step.atSite(job, site); // from now on the job has been there
      return step.lane(addLane(sql, job, site, queue, priority));
    },
    repolice: (site) => void repoliced.add(site.n),
    atSite(job, { site }) {
      const name = onlineSite(site);
      const key = `${job.n} ${name}`;
      const known = gains.get(key) ?? { job: job.n, site: name, ...NO_GAIN };
      gains.set(key, known);
      return known;
    },
    sawNew: (scope, url) => void fresh.push({ scope, url }),
    isKnownSeen: (scope, url) => seen.has(scope, url),
  };
  return { step, ...rows };
}

const NO_GAIN = { done: 0, dead: 0, pages: 0, records: 0, invalid: 0, bytes: 0, lastPageAt: null };

/** The one copy of a row that a step works on. */
function keep<R extends { n: number }>(loaded: Map<number, R>, row: Row): R {
  const known = loaded.get(row.n as number);
  if (known !== undefined) return known;
  const fresh = row as unknown as R;
  loaded.set(fresh.n, fresh);
  return fresh;
}

function addLane(sql: StepSql, job: JobRow, site: SiteRow, queue: string, priority: number): number {
  const { intervalMs, burst, perSite } = policyFor(job, site.site);
  const rank = rankOf(job, priority);
  const robots = isOffline(site.site) ? 0 : job.robots;
  const row = sql.addLane.get(job.n, site.n, queue, priority, rank, intervalMs, burst, perSite, robots);
  return must(row).n as number;
}
