/**
 * Operations on sites other than leases: terms without tasks, returned terms, robots.txt, scripted sites, the
 * operator's policy, listings (F2, F3, F12).
 */
import { type ReturnedTerm, readyAt, type SitePolicy, type Term } from "../../domain/politeness.ts";
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import { MAX_BATCH, type RobotsFile, type TermRequest } from "../frontier.ts";
import { SITE_JOBS_MAX, type SiteDetail, type SiteJobView, type SiteView } from "../frontier-admin.ts";
import { isFetchingRobots } from "./readiness.ts";
import { adaptiveView, type JobRow, policyFor, policyOf, type SiteRow } from "./rows.ts";
import { openTerm, returnTerm } from "./terms.ts";
import type { RunTransaction } from "./transaction.ts";

type Names =
  | "findRobots"
  | "keepRobots"
  | "markScripted"
  | "findScripted"
  | "expireScripted"
  | "listSites"
  | "listBusySites"
  | "findSite"
  | "listSiteJobs";

export type Sites = {
  openTerm(request: TermRequest): Term | undefined;
  returnTerms(returned: readonly ReturnedTerm[]): void;
  findRobots(site: string): RobotsFile | undefined;
  keepRobots(site: string, robots: RobotsFile, crawlDelayMs: number): void;
  markScripted(site: string, forMs: number): void;
  isScripted(site: string): boolean;
  setPolicy(site: string, policy: SitePolicy | undefined): void;
  list(limit: number, from: { after: string; part: string }): SiteView[];
  listBusy(limit: number, part: string): SiteView[];
  find(site: string): SiteDetail | undefined;
  /** Jobs with tasks waiting or leased at the site, most waiting first. */
  jobsAt(site: SiteRow, limit: number): SiteJobView[];
};

type Deps = { db: Database; runTransaction: RunTransaction; now: () => number };

export function createSites({ db, runTransaction, now }: Deps): Sites {
  const sql = prepareAll<Names>(db, new URL("./sql/sites.sql", import.meta.url));
  const jobsAt: Sites["jobsAt"] = ({ n, site }, limit) =>
    sql.listSiteJobs.all(n, limit).map((job) => toSiteJob(job, site));
  return {
    jobsAt,
    openTerm: ({ worker, site: name, returned }) =>
      runTransaction((tx) => {
        const site = tx.siteNamed(name);
        if (returned !== undefined) returnTerm(site, returned, tx.now);
        return site.interval_ms === 0 ? undefined : openTerm(site, worker, tx.now);
      }).value,
    returnTerms(returned) {
      for (let from = 0; from < returned.length; from += MAX_BATCH) {
        const batch = returned.slice(from, from + MAX_BATCH);
        runTransaction((tx) => batch.forEach((one) => void returnTerm(tx.siteNamed(one.site), one, tx.now)));
      }
    },
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
      void runTransaction((tx) => {
        const site = tx.siteNamed(name);
        sql.keepRobots.run(kind, text, fetchedAt, site.n);
        site.robots_fresh_until = freshUntil;
        site.robots_asker = null;
        site.crawl_delay_ms = crawlDelayMs;
        tx.updatePolicy(site);
      }),
    markScripted: (site, forMs) =>
      db.write(() => {
        sql.expireScripted.run(now());
        sql.markScripted.run(site, now() + forMs);
      }),
    isScripted: (site) => sql.findScripted.get(site, now()) !== undefined,
    setPolicy: (name, policy) =>
      void runTransaction((tx) => {
        const site = tx.siteNamed(name);
        site.operator_interval_ms = policy?.intervalMs ?? null;
        site.operator_burst = policy?.burst ?? null;
        site.operator_per_site = policy?.perSite ?? null;
        tx.updatePolicy(site);
      }),
    list: (limit, { after, part }) => sql.listSites.all(after, part, limit).map((row) => toSite(row, now())),
    listBusy: (limit, part) => sql.listBusySites.all(part, Math.min(limit, MAX_BATCH)).map((row) => toSite(row, now())),
    find(name) {
      const row = sql.findSite.get(name);
      if (row === undefined) return undefined;
      const site = row as unknown as SiteRow;
      return {
        ...toSite(row, now()),
        operator: operatorOf(site),
        incidents: site.incidents,
        isFetchingRobots: isFetchingRobots(site, now()),
        jobs: jobsAt(site, SITE_JOBS_MAX),
      };
    },
  };
}

function toSite(row: Row, now: number): SiteView {
  const site = row as unknown as SiteRow & { waiting: number };
  const policy = policyOf(site);
  return {
    site: site.site,
    policy,
    inFlight: site.in_flight,
    waiting: site.waiting,
    readyAt: Math.max(readyAt(site.arrival_at, policy), site.blocked_until),
    blockedUntil: site.blocked_until,
    backoffCause: site.backoff_cause ?? undefined,
    crawlDelayMs: site.crawl_delay_ms,
    ...adaptiveView(site, now),
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
