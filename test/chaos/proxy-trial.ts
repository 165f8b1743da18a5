/**
 * A trial of proxies: sites on distinct loopback addresses, and 3 worker processes on one Redis that crawl them through
 * exits. The sites log the address that each request comes from. Shares no code with src/.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { jsonLines, type RunningCli } from "../e2e/cli.ts";
import { type Fleet, newFleet } from "../e2e/fleet/fleet.ts";
import type { Summary } from "../e2e/ledger.ts";
import { originOf } from "../e2e/sites.ts";
import { startRedis } from "../services/redis.ts";
import { preciseNow } from "../site/origin.ts";
import { rateExcessMs, type TimedArrival, watchIdleTime } from "./rate-excess.ts";

const WORKERS = 3;
/** More pages than a trial needs at each site: the trial cancels the job when it has seen everything. */
const PAGES = 500;

type SeenRequest = TimedArrival & { from: string };
export type TrialSite = { url: string; requests: SeenRequest[] };

export type Sites = {
  list: readonly TrialSite[];
  /** Resolves when `condition` is true after a request. */
  until(condition: () => boolean): Promise<void>;
  /** All requests so far. */
  requests(): SeenRequest[];
  /** By how many ms the worst window of any site is too short for its requests. */
  worstExcessMs(perSecond: number): number;
};

type Answer = { status: number; delayMs: number };

/** Starts sites. `answer` decides by the number of the site and the address that a request comes from. */
export async function startSites(count: number, answer: (site: number, from: string) => Answer): Promise<Sites> {
  const idleWatch = watchIdleTime();
  onTestFinished(() => idleWatch.stop());
  const waiters = new Set<() => void>();
  const list = await Promise.all(
    Array.from({ length: count }, async (_, nth): Promise<TrialSite> => {
      const requests: SeenRequest[] = [];
      const site = await originOf(
        ({ socket: { remoteAddress: from = "" } }, response) => {
          requests.push({ arrivedAt: preciseNow(), arrivedAfter: idleWatch.lastIdleAt(), from });
          for (const check of waiters) check();
          const { status, delayMs } = answer(nth, from);
          const end = () => response.writeHead(status, { "content-type": "text/html" }).end("<h1>page</h1>");
          if (delayMs === 0) end();
          else setTimeout(end, delayMs);
        },
        { host: `127.0.2.${nth + 1}` },
      );
      return { url: site.url, requests };
    }),
  );
  return {
    list,
    until: (condition) =>
      new Promise((resolve) => {
        const check = () => {
          if (condition() && waiters.delete(check)) resolve();
        };
        waiters.add(check);
        check();
      }),
    requests: () => list.flatMap(({ requests }) => requests),
    worstExcessMs: (perSecond) => Math.max(...list.map(({ requests }) => rateExcessMs(requests, perSecond))),
  };
}

/** `attempts`: those that have ended. */
export type TrialEnd = { attempts: number; failures: string[]; success: number };

export type Trial = {
  /** Starts the workers and crawls `pages` pages of each site. */
  warmUp(pages: number): Promise<void>;
  /** Crawls all pages of the sites while `watch` runs, and then cancels the job. */
  measure(watch: () => Promise<void>): Promise<TrialEnd>;
};

export async function openTrial(
  sites: Sites,
  { proxies, env, perSecond }: { proxies: readonly unknown[]; env: Record<string, string>; perSecond: number },
): Promise<Trial> {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const fleet = await newFleet({ fresh: async () => ({ TRAWL_BROKER: redis.url }), missing: {} });
  writeFileSync(join(fleet.cwd, "proxies.json"), JSON.stringify(proxies));
  const workers: RunningCli[] = [];
  /** A worker that ends is a failure of the trial. */
  const orEnd = <T>(promise: Promise<T>): Promise<T> =>
    Promise.race([
      promise,
      ...workers.map(async ({ ended }) => {
        const { code, stderr } = await ended;
        throw new Error(`a worker has ended with ${code}: ${stderr.slice(-2_000)}`);
      }),
    ]);
  const submit = (name: string, pages: number) => {
    const job = {
      name,
      urls: sites.list.flatMap(({ url }) => Array.from({ length: pages }, (_, page) => `${url}/${name}/${page}`)),
      politeness: { rate: `${perSecond}/s`, perSite: 8 },
    };
    writeFileSync(join(fleet.cwd, `${name}.json`), JSON.stringify(job));
    return fleet.submit([`${name}.json`]);
  };
  return {
    async warmUp(pages) {
      const settings = { TRAWL_PROXIES: "proxies.json", TRAWL_LOG_LEVEL: "info", ...env };
      for (let nth = 0; nth < WORKERS; nth++) workers.push(await fleet.worker(["--pool", "solo"], settings));
      const { id } = await submit("warm", pages);
      await orEnd(ended(fleet, id));
    },
    async measure(watch) {
      const { id } = await submit("measured", PAGES);
      await orEnd(watch());
      await fleet.run(["cancel", id]);
      const { counts } = await orEnd(ended(fleet, id));
      for (const worker of workers) worker.kill("SIGTERM");
      const ends = await Promise.all(workers.map((worker) => worker.ended));
      const failures = ends.flatMap((end) => failuresOf(end.stderr, id));
      const attempts = counts.done + failures.length;
      return { attempts, failures, success: counts.done / attempts };
    },
  };
}

function ended(fleet: Fleet, id: string): Promise<Summary> {
  return fleet.poll(
    () => fleet.job(id),
    ({ state, counts }) => state !== "running" && counts.leased === 0,
  );
}

/** The reasons of the failed attempts of a job, from the log of a worker. */
function failuresOf(log: string, jobId: string): string[] {
  return jsonLines<{ event?: string; jobId?: string; because?: string; detail?: string }>(log)
    .filter((line) => line.jobId === jobId && /^task\.(pending|dead)$/.test(line.event ?? ""))
    .map(({ because, detail }) => `${because}: ${detail}`);
}

export function countOf(requests: readonly SeenRequest[], addresses: readonly string[]): number {
  return requests.filter(({ from }) => addresses.includes(from)).length;
}
