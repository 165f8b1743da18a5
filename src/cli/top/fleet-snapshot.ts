/** Takes snapshots of a fleet and computes speeds from successive snapshots. */
import type { HistoryPointOut, JobOut, QueueOut, SiteOut } from "../../client/wire-types.ts";
import type { WorkerView } from "../../frontier/frontier-admin.ts";
import { perSecond, recentOf } from "../../frontier/worker-facts.ts";
import type { ControlPlane } from "../plane/control-plane.ts";

export type FleetPlane = Pick<ControlPlane, "listJobs" | "listQueues" | "listTopSites" | "listWorkers" | "readHistory">;

/** `perSecond` and `etaMs` are undefined for a job that is not running. */
export type TopJob = JobOut & { perSecond: number | undefined; etaMs: number | undefined };
export type TopWorker = WorkerView & { perSecond: number };

/** Numbers for the whole fleet; null if unknown. */
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

export type FleetSnapshot = {
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

/**
 * Maximum entries in a snapshot. Running and paused jobs come first, then the newest jobs. The sites are those with the
 * most waiting URLs.
 */
const MAX_JOBS = 100;
const MAX_SITES = 100;
/** History has one point every 10 s, so it need not be read with every snapshot. */
const HISTORY_EVERY_MS = 5_000;
/** The broker scans all sites to find those with the most waiting URLs, so this is read less often. */
const SITES_EVERY_MS = 4_000;
/** Speeds of jobs are averaged over this time. */
const WINDOW_MS = 10_000;
/** Speeds of workers are averaged over three heartbeats (one every 5 s). */
const WORKER_WINDOW_MS = 15_000;
const MAX_SAMPLES = 300;

export function createSnapshotReader(plane: FleetPlane, now: () => number): () => Promise<FleetSnapshot> {
  const [jobSpeed, workerSpeed] = [createSpeeds(WINDOW_MS), createSpeeds(WORKER_WINDOW_MS)];
  const waitingBefore: number[] = [];
  let sitesSeen: { at: number; sites: readonly SiteOut[] } = { at: Number.NEGATIVE_INFINITY, sites: [] };
  let history: { at: number; points: readonly HistoryPointOut[] } = { at: Number.NEGATIVE_INFINITY, points: [] };

  async function readHistory(at: number): Promise<readonly HistoryPointOut[]> {
    if (at - history.at >= HISTORY_EVERY_MS) history = { at, points: await plane.readHistory() };
    return history.points;
  }

  async function listSites(at: number): Promise<readonly SiteOut[]> {
    if (at - sitesSeen.at >= SITES_EVERY_MS) sitesSeen = { at, sites: await plane.listTopSites(MAX_SITES) };
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
    if (waitingBefore.length > MAX_SAMPLES) waitingBefore.shift();
    const recorded = points.map((point) => point.waiting);
    // Servers record the number of waiting URLs. Without a server, this process uses its own samples.
    const isRecorded = recorded.some((value) => value !== null);
    const timed = jobs.map((job) => ({ ...job, ...paceOf(job, jobSpeed(job.id, endedOf(job), at)) }));
    const working = workers.map((view) => {
      const { done = 0, failed = 0, upMs = 0 } = view.vitals ?? {};
      const averageSinceStart = upMs > 0 ? ((done + failed) * 1000) / upMs : 0;
      return { ...view, perSecond: workerSpeed(view.worker, done + failed, view.seenAt) ?? averageSinceStart };
    });
    jobSpeed.keep(jobs.map(({ id }) => id));
    workerSpeed.keep(workers.map(({ worker }) => worker));
    return {
      at,
      totals: { ...totalsOf(points, waiting, workers), ...paceNow(workers, at) },
      pagesPerSecond: points.map((point) => point.pagesPerSecond),
      waiting: isRecorded ? [...recorded.slice(0, -1), waiting] : [...waitingBefore],
      ...{ jobs: timed, queues, sites, workers: working },
    };
  };
}

/** The jobs of a snapshot. Running and paused jobs come first, so that newer jobs that have ended cannot hide them. */
async function listJobs(plane: FleetPlane): Promise<readonly JobOut[]> {
  const states = ["running", "paused"] as const;
  const [newest, ...open] = await Promise.all([
    plane.listJobs(MAX_JOBS, {}),
    ...states.map((state) => plane.listJobs(MAX_JOBS, { state })),
  ]);
  const underWay = open.flat().sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  // A job that ends between the queries is in more than one result.
  const known = new Map([...underWay, ...newest].map((job) => [job.id, job]));
  return [...known.values()].slice(0, MAX_JOBS);
}

/**
 * The totals of the fleet. They use the second to last point, because the last point is incomplete and its values are
 * too low.
 */
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

/** The current speed, from recent heartbeats if there are any. It is more recent than the history by some seconds. */
function paceNow(workers: readonly WorkerView[], now: number): Partial<Totals> {
  const recents = recentOf(workers, now);
  return recents.length === 0 ? {} : { pagesPerSecond: perSecond("pages", recents) };
}

/** The number of URLs of a job that have ended. `leftOf` counts the others. */
export function endedOf({ counts }: Pick<JobOut, "counts">): number {
  return counts.done + counts.dead + counts.cancelled;
}

export function leftOf({ counts }: Pick<JobOut, "counts">): number {
  return counts.queued + counts.delayed + counts.leased;
}

/**
 * The speed and the ETA of a job. The first snapshot uses the average since the start of the job for both. Later, while
 * no task ends, the speed is 0, and the ETA still uses that average.
 */
function paceOf(job: JobOut, seen: number | undefined): Pick<TopJob, "perSecond" | "etaMs"> {
  if (job.state !== "running" || leftOf(job) === 0) return { perSecond: undefined, etaMs: undefined };
  if (seen !== undefined && seen > 0) return { perSecond: seen, etaMs: (leftOf(job) / seen) * 1000 };
  return { perSecond: seen ?? job.rate ?? 0, etaMs: job.etaSeconds === null ? undefined : job.etaSeconds * 1000 };
}

/** Returns the speed of a counter; undefined until it has two samples. */
type Speeds = { (key: string, count: number, at: number): number | undefined; keep(keys: readonly string[]): void };

/** Measures how fast counters grow, one per key. */
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
