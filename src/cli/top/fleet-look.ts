/** Looks at a fleet, again and again: what there is now, and how fast it went since the looks before. */
import type { QueueOut, SiteOut } from "../../api/wire-fleet.ts";
import type { HistoryPointOut } from "../../api/wire-history.ts";
import type { JobOut } from "../../api/wire-types.ts";
import type { WorkerView } from "../../frontier/frontier-admin.ts";
import { perSecond, recentOf } from "../../frontier/worker-facts.ts";
import type { ControlPlane } from "../plane/control-plane.ts";

export type FleetPlane = Pick<ControlPlane, "listJobs" | "listQueues" | "listTopSites" | "listWorkers" | "readHistory">;

/** Undefined: it does not run. */
export type TopJob = JobOut & { perSecond: number | undefined; etaMs: number | undefined };
export type TopWorker = WorkerView & { perSecond: number };

/** All of it together. Null: nobody knows. */
export type Totals = {
  pagesPerSecond: number | null;
  success: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
  waiting: number;
  inFlight: number;
  capacity: number;
  workers: number;
  rssBytes: number;
};

export type FleetLook = {
  at: number;
  totals: Totals;
  /** The last minutes, oldest first. */
  pagesPerSecond: readonly (number | null)[];
  waiting: readonly (number | null)[];
  jobs: readonly TopJob[];
  queues: readonly QueueOut[];
  sites: readonly SiteOut[];
  workers: readonly TopWorker[];
};

/** Bounded, whatever the fleet has: jobs under way and then the newest, and the sites that most waits for. */
const JOBS_MOST = 100;
const SITES_MOST = 100;
/** History has a point every 10 s: to ask more often tells nothing. */
const HISTORY_EVERY_MS = 5_000;
/** To find those that most waits for, a broker goes through all sites. */
const SITES_EVERY_MS = 4_000;
/** Speeds are told over this long. */
const WINDOW_MS = 10_000;
/** Workers tell of themselves every 5 s. */
const WORKER_WINDOW_MS = 15_000;
const SAMPLES_MOST = 300;

export function createFleetLooker(plane: FleetPlane, now: () => number): () => Promise<FleetLook> {
  const [jobSpeed, workerSpeed] = [createSpeeds(WINDOW_MS), createSpeeds(WORKER_WINDOW_MS)];
  const waitingBefore: number[] = [];
  let sitesSeen: { at: number; sites: readonly SiteOut[] } = { at: Number.NEGATIVE_INFINITY, sites: [] };
  let history: { at: number; points: readonly HistoryPointOut[] } = { at: Number.NEGATIVE_INFINITY, points: [] };

  async function readHistory(at: number): Promise<readonly HistoryPointOut[]> {
    if (at - history.at >= HISTORY_EVERY_MS) history = { at, points: await plane.readHistory() };
    return history.points;
  }

  async function listSites(at: number): Promise<readonly SiteOut[]> {
    if (at - sitesSeen.at >= SITES_EVERY_MS) sitesSeen = { at, sites: await plane.listTopSites(SITES_MOST) };
    return sitesSeen.sites;
  }

  return async () => {
    const at = now();
    const [jobs, queues, sites, workers, points] = await Promise.all([
      listJobs(plane),
      plane.listQueues(),
      listSites(at),
      plane.listWorkers(),
      readHistory(at),
    ]);
    const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0);
    waitingBefore.push(waiting);
    if (waitingBefore.length > SAMPLES_MOST) waitingBefore.shift();
    const noted = points.map((point) => point.waiting);
    // Servers note how much waits. Where none runs, this process has what it has seen itself.
    const isNoted = noted.some((value) => value !== null);
    const timed = jobs.map((job) => ({ ...job, ...paceOf(job, jobSpeed(job.id, endedOf(job), at)) }));
    const working = workers.map((view) => {
      const { done = 0, failed = 0, upMs = 0 } = view.vitals ?? {};
      const since = upMs > 0 ? ((done + failed) * 1000) / upMs : 0;
      return { ...view, perSecond: workerSpeed(view.worker, done + failed, view.seenAt) ?? since };
    });
    jobSpeed.keep(jobs.map(({ id }) => id));
    workerSpeed.keep(workers.map(({ worker }) => worker));
    return {
      at,
      totals: { ...totalsOf(points, waiting, workers), ...paceNow(workers, at) },
      pagesPerSecond: points.map((point) => point.pagesPerSecond),
      waiting: isNoted ? [...noted.slice(0, -1), waiting] : [...waitingBefore],
      ...{ jobs: timed, queues, sites, workers: working },
    };
  };
}

/** Those that are under way first, however old: newer ones that have ended must not hide them. */
async function listJobs(plane: FleetPlane): Promise<readonly JobOut[]> {
  const states = ["running", "paused"] as const;
  const [newest, ...open] = await Promise.all([
    plane.listJobs(JOBS_MOST, {}),
    ...states.map((state) => plane.listJobs(JOBS_MOST, { state })),
  ]);
  const underWay = open.flat().sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  // One that has ended between two answers is in both.
  const known = new Map([...underWay, ...newest].map((job) => [job.id, job]));
  return [...known.values()].slice(0, JOBS_MOST);
}

/** The last point is still filling: what it has so far would look like a fall. */
function totalsOf(points: readonly HistoryPointOut[], waiting: number, workers: readonly WorkerView[]): Totals {
  const last = points.at(-2) ?? points.at(-1);
  const sum = (of: "busy" | "concurrency" | "rssBytes") =>
    workers.reduce((total, { vitals }) => total + (vitals?.[of] ?? 0), 0);
  const { pagesPerSecond = null, success = null, p50Ms = null, p95Ms = null } = last ?? {};
  return {
    ...{ pagesPerSecond, success, p50Ms, p95Ms, waiting },
    inFlight: sum("busy"),
    capacity: sum("concurrency"),
    workers: workers.length,
    rssBytes: sum("rssBytes"),
  };
}

/** As workers tell it, where one is heard: history is some seconds later. */
function paceNow(workers: readonly WorkerView[], now: number): Partial<Totals> {
  const recents = recentOf(workers, now);
  return recents.length === 0 ? {} : { pagesPerSecond: perSecond("pages", recents) };
}

/** What of a job is over, and what is yet to come. */
export function endedOf({ counts }: Pick<JobOut, "counts">): number {
  return counts.done + counts.dead + counts.cancelled;
}

export function leftOf({ counts }: Pick<JobOut, "counts">): number {
  return counts.queued + counts.delayed + counts.leased;
}

/** At the first look, and while nothing of it ends: as it went since it began. */
function paceOf(job: JobOut, seen: number | undefined): Pick<TopJob, "perSecond" | "etaMs"> {
  if (job.state !== "running" || leftOf(job) === 0) return { perSecond: undefined, etaMs: undefined };
  if (seen !== undefined && seen > 0) return { perSecond: seen, etaMs: (leftOf(job) / seen) * 1000 };
  return { perSecond: seen ?? job.rate ?? 0, etaMs: job.etaSeconds === null ? undefined : job.etaSeconds * 1000 };
}

/** Undefined until there are two looks. */
type Speeds = { (key: string, count: number, at: number): number | undefined; keep(keys: readonly string[]): void };

/** How fast counts grow, each by its name. */
function createSpeeds(windowMs: number): Speeds {
  const seen = new Map<string, { at: number; count: number }[]>();
  function speed(key: string, count: number, at: number): number | undefined {
    const samples = seen.get(key) ?? [];
    seen.set(key, samples);
    if (at > (samples.at(-1)?.at ?? Number.NEGATIVE_INFINITY)) samples.push({ at, count });
    while (samples.length > 2 && at - (samples[1]?.at ?? at) > windowMs) samples.shift();
    const [first] = samples;
    const last = samples.at(-1);
    const passedMs = (last?.at ?? 0) - (first?.at ?? 0);
    return passedMs <= 0 ? undefined : (Math.max(0, (last?.count ?? 0) - (first?.count ?? 0)) * 1000) / passedMs;
  }
  return Object.assign(speed, {
    keep(keys: readonly string[]) {
      const known = new Set(keys);
      for (const key of seen.keys()) if (!known.has(key)) seen.delete(key);
    },
  });
}
