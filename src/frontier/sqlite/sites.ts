/** A site's allowance beyond leases: more requests, robots.txt, the operator's word (F2, F3, F12). */
import { giveBack, readyAt, type SitePolicy, type Slot, takeSlot } from "../../domain/politeness.ts";
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import { BATCH_MOST, type RobotsFile } from "../frontier.ts";
import {
  type JobSiteView,
  SITE_JOBS_MOST,
  type SiteDetail,
  type SiteJobView,
  type SiteView,
} from "../frontier-admin.ts";
import { type JobRow, policyFor, policyOf, type SiteRow } from "./rows.ts";
import { isAskingRobots } from "./schedule.ts";
import type { Stepper } from "./step.ts";

type Names = "findRobots" | "keepRobots" | "listSites" | "listBusySites" | "findSite" | "listSiteJobs" | "listJobSites";

export type Sites = {
  spend(site: string, unused: Slot | undefined): Slot;
  findRobots(site: string): RobotsFile | undefined;
  keepRobots(site: string, robots: RobotsFile, crawlDelayMs: number): void;
  setPolicy(site: string, policy: SitePolicy | undefined): void;
  list(limit: number, from: { after: string; part: string }): SiteView[];
  listBusy(limit: number, part: string): SiteView[];
  find(site: string): SiteDetail | undefined;
  /** Those with something there, the most first. */
  jobsAt(site: SiteRow, limit: number): SiteJobView[];
  listOfJob(jobId: string, limit: number, after: string): JobSiteView[];
};

type Deps = { db: Database; stepper: Stepper; now: () => number };

export function createSites({ db, stepper, now }: Deps): Sites {
  const sql = prepareAll<Names>(db, new URL("./sql/sites.sql", import.meta.url));
  const jobsAt: Sites["jobsAt"] = ({ n, site }, limit) =>
    sql.listSiteJobs.all(n, limit).map((job) => toSiteJob(job, site));
  return {
    jobsAt,
    spend: (name, unused) =>
      stepper.run((step) => {
        const site = step.siteNamed(name);
        // A slot nobody has bought after can be had again from now on: the request it was for never left.
        if (unused !== undefined && site.arrival_at === unused.arrivalAt) {
          site.arrival_at = giveBack(unused, policyOf(site));
        }
        const slot = takeSlot(Math.max(step.now, site.blocked_until), site.arrival_at, policyOf(site));
        site.arrival_at = slot.arrivalAt;
        return slot;
      }).value,
    findRobots(site) {
      const row = sql.findRobots.get(site);
      if (row === undefined) return undefined;
      return {
        kind: row.robots_kind as RobotsFile["kind"],
        text: row.robots_text as string,
        fetchedAt: row.robots_fetched_at as number,
        freshUntil: row.robots_fresh_until as number,
      };
    },
    keepRobots: (name, { kind, text, fetchedAt, freshUntil }, crawlDelayMs) =>
      void stepper.run((step) => {
        const site = step.siteNamed(name);
        sql.keepRobots.run(kind, text, fetchedAt, site.n);
        site.robots_fresh_until = freshUntil;
        site.robots_asker = null;
        site.crawl_delay_ms = crawlDelayMs;
        step.repolice(site);
      }),
    setPolicy: (name, policy) =>
      void stepper.run((step) => {
        const site = step.siteNamed(name);
        site.operator_interval_ms = policy?.intervalMs ?? null;
        site.operator_burst = policy?.burst ?? null;
        site.operator_per_site = policy?.perSite ?? null;
        step.repolice(site);
      }),
    listOfJob: (jobId, limit, after) => sql.listJobSites.all(jobId, after, Math.min(limit, BATCH_MOST)).map(toJobSite),
    list: (limit, { after, part }) => sql.listSites.all(after, part, limit).map(toSite),
    listBusy: (limit, part) => sql.listBusySites.all(part, Math.min(limit, BATCH_MOST)).map(toSite),
    find(name) {
      const row = sql.findSite.get(name);
      if (row === undefined) return undefined;
      const site = row as unknown as SiteRow;
      return {
        ...toSite(row),
        operator: operatorOf(site),
        incidents: site.incidents,
        isAskingRobots: isAskingRobots(site, now()),
        jobs: jobsAt(site, SITE_JOBS_MOST),
      };
    },
  };
}

function toSite(row: Row): SiteView {
  const site = row as unknown as SiteRow & { waiting: number };
  const policy = policyOf(site);
  return {
    site: site.site,
    policy,
    inFlight: site.in_flight,
    waiting: site.waiting,
    readyAt: Math.max(readyAt(site.arrival_at, policy), site.blocked_until),
    blockedUntil: site.blocked_until,
    crawlDelayMs: site.crawl_delay_ms,
  };
}

export function operatorOf(site: SiteRow): SitePolicy | undefined {
  const { operator_interval_ms: intervalMs, operator_burst: burst, operator_per_site: perSite } = site;
  return intervalMs === null || burst === null || perSite === null ? undefined : { intervalMs, burst, perSite };
}

function toSiteJob(row: Row, site: string): SiteJobView {
  return {
    jobId: String(row.id),
    name: String(row.name),
    state: row.state as SiteJobView["state"],
    waiting: Number(row.waiting),
    inFlight: Number(row.in_flight),
    policy: policyFor(row as unknown as JobRow, site),
  };
}

function toJobSite(row: Row): JobSiteView {
  const number = (name: string) => Number(row[name]);
  return {
    site: String(row.site),
    waiting: number("waiting"),
    inFlight: number("in_flight"),
    done: number("done"),
    dead: number("dead"),
    tally: { pages: number("pages"), records: number("records"), invalid: number("invalid"), bytes: number("bytes") },
    lastPageAt: row.last_page_at === null ? undefined : number("last_page_at"),
    blockedUntil: number("blocked_until"),
  };
}
