/**
 * Simulates schedulers on one store and one broker, both real files, with simulated time. In each step the time
 * advances, the live schedulers poll, and runs that have lasted long enough end. Schedulers crash at random calls and
 * are restarted. Some pause while they hold a claim, and continue when another scheduler has taken it over. Twice,
 * all schedulers are down.
 */

import { join } from "node:path";
import { resolveConfig } from "../../src/config/resolve.ts";
import type { JobView } from "../../src/frontier/frontier-admin.ts";
import { openSqliteFrontier } from "../../src/frontier/sqlite/open.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { createLog } from "../../src/runtime/log.ts";
import { NO_TRACING } from "../../src/runtime/tracing.ts";
import type { FireDeps } from "../../src/schedule/fire-occurrence.ts";
import { pollOnce } from "../../src/schedule/scheduler.ts";
import { createSchedules } from "../../src/schedule/schedules.ts";
import { openNoRequestBodies } from "../../src/store/bodies/no-bodies.ts";
import type { Occurrence, Schedule, ScheduleStore } from "../../src/store/schedule-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/open-sqlite-store.ts";
import { seededRandom } from "../chaos/seeded-random.ts";
import { aRequest } from "../contracts/frontier/makers.ts";
import { createFaultInjector, type Fault, type FaultInjector } from "./fault-injector.ts";
import { type Planned, planSchedules } from "./plan.ts";

export type WorldOptions = {
  folder: string;
  seed: number;
  schedulers: number;
  schedules: number;
  startAt: number;
  lastsMs: number;
};

export type Outcome = {
  planned: readonly (Planned & { schedule: Schedule })[];
  /** The polls that advanced a schedule, by its id. */
  polls: ReadonlyMap<string, readonly number[]>;
  jobs: readonly JobView[];
  occurrences: ReadonlyMap<string, readonly Occurrence[]>;
  faults: Readonly<Record<Fault["kind"], number>>;
};

export const GRACE_MS = 30_000;
const CLAIM_MS = 20_000;
const STEP_MS = 2_000;
/** How long all schedulers are down, twice. */
const OUTAGE_MS = 80_000;
/** More steps than the work takes when no scheduler crashes any more. */
const DRAIN_STEPS = 2_000;

export async function runWorld(options: WorldOptions): Promise<Outcome> {
  const { folder, seed, startAt, lastsMs } = options;
  const random = seededRandom(seed);
  let now = startAt;
  const sleepers: { until: number; wake(): void }[] = [];
  const clock: Clock = { now: () => now, sleep: async () => {} };
  const log = createLog("silent", () => {});
  const store = openSqliteStore(join(folder, "store.db"), { busyMs: 10_000 });
  const frontierOptions = { maxPending: 1_000_000, busyMs: 10_000, pollMs: 100 };
  const frontier = openSqliteFrontier(join(folder, "broker.db"), { clock }, frontierOptions);
  const jobDefaults = resolveConfig([{ from: "test", values: {} }]);
  const deps: FireDeps = {
    scheduleStore: store.schedules,
    frontier,
    requestBodies: openNoRequestBodies(jobDefaults),
    clock,
    log,
    jobDefaults,
    checkRules: () => {},
    openTracing: async () => NO_TRACING,
    findObstacle: async () => undefined,
    recordOwner: async () => {},
    registerWebhook: async () => {},
  };
  const polls = new Map<string, number[]>();
  const faults = { "crash before": 0, "crash after": 0, "pause before": 0 };

  const schedules = createSchedules(deps, { claimMs: CLAIM_MS, graceMs: GRACE_MS });
  const planned: (Planned & { schedule: Schedule })[] = [];
  for (const plan of planSchedules(options.schedules, random)) {
    planned.push({ ...plan, schedule: await schedules.add(plan.input, undefined) });
  }

  const queues = planned.map(({ queue }) => queue);
  const lastingOf = new Map<string | undefined, number>(planned.map(({ queue, lastsMs: lasts }) => [queue, lasts]));

  /** Records polls that took effect, also if the scheduler crashed before it got the result. */
  const recordingStore: ScheduleStore = {
    ...store.schedules,
    async advance(known, to, occurrences) {
      const isDone = await store.schedules.advance(known, to, occurrences);
      if (isDone) polls.set(known.id, [...(polls.get(known.id) ?? []), to.doneUntil]);
      return isDone;
    },
  };

  type Scheduler = { injector: FaultInjector; isFree: boolean; startsAt: number };
  const pause = () =>
    new Promise<void>((wake) => {
      sleepers.push({ until: now + random.between(CLAIM_MS / 2, 3 * CLAIM_MS), wake });
    });
  const onFault = (kind: Fault["kind"]) => {
    faults[kind] += 1;
  };
  const newScheduler = (startsAt: number): Scheduler => ({
    injector: createFaultInjector({ random, pause, onFault }),
    isFree: true,
    startsAt,
  });
  const all = Array.from({ length: options.schedulers }, () => newScheduler(startAt));

  async function poll(index: number, mayFail: boolean): Promise<void> {
    const scheduler = all[index] as Scheduler;
    const { injector } = scheduler;
    if (!scheduler.isFree || scheduler.startsAt > now) return;
    if (mayFail && random.next() < 0.5) {
      const kind = (["crash before", "crash after", "pause before"] as const)[random.between(0, 2)] ?? "crash before";
      injector.plan({ atCall: random.between(1, 30), kind });
    }
    const faulty = { ...deps, scheduleStore: injector.wrap(recordingStore), frontier: injector.wrap(frontier) };
    scheduler.isFree = false;
    const polled = pollOnce(faulty, { graceMs: GRACE_MS, claimMs: CLAIM_MS }, new AbortController().signal).then(() => {
      scheduler.isFree = true;
    });
    const end = await Promise.race([polled, injector.crashed, untilPaused(injector)]);
    if (end === "crashed") all[index] = newScheduler(now + random.between(0, 30) * 1000);
  }

  /** Lets a step continue without paused schedulers. */
  async function untilPaused(injector: FaultInjector): Promise<"paused"> {
    while (!injector.isPaused()) await new Promise((resolve) => setImmediate(resolve));
    return "paused";
  }

  async function step(mayFail: boolean): Promise<void> {
    now += STEP_MS;
    for (const sleeper of sleepers.splice(0)) {
      if (sleeper.until <= now) sleeper.wake();
      else sleepers.push(sleeper);
    }
    await Promise.all(all.map((_, index) => poll(index, mayFail)));
    await endRuns(mayFail);
  }

  /** Acts as a worker: fetches the one page of a run after the duration of the run. */
  async function endRuns(areLong: boolean): Promise<void> {
    const { grants } = await frontier.lease(aRequest({ worker: "w", queues, max: 10_000, leaseMs: 1_000_000 }));
    for (const { taskId, token, jobId } of grants) {
      const job = await frontier.findJob(jobId);
      const lasts = areLong ? (lastingOf.get(job?.queue) ?? 0) : 0;
      if (now - (job?.createdAt ?? 0) < lasts) await frontier.release([{ taskId, token }]);
      else await frontier.settle([{ taskId, token, outcome: { kind: "done" }, ...PAGE_WITHOUT_LINKS }]);
    }
  }

  const endAt = startAt + lastsMs;
  const outages = [startAt + lastsMs * 0.25, startAt + lastsMs * 0.65];
  while (now < endAt) {
    const outage = outages.find((from) => now >= from && now < from + OUTAGE_MS);
    if (outage !== undefined) {
      // All schedulers crash, including paused ones.
      sleepers.splice(0);
      for (const index of all.keys()) all[index] = newScheduler(outage + OUTAGE_MS);
    }
    await step(true);
  }
  for (let steps = 0; !(await isSettled()); steps += 1) {
    if (steps > DRAIN_STEPS) throw new Error(`seed ${seed}: occurrences are still open after ${steps} steps`);
    await step(false);
  }

  async function isSettled(): Promise<boolean> {
    for (const { schedule } of planned) {
      const found = await store.schedules.find(schedule.id);
      if (found?.nextAt !== undefined && found.nextAt <= endAt) return false;
      const occurrences = await store.schedules.listOccurrences(schedule.id, 10_000, endAt + 1);
      if (occurrences.some(({ state }) => state === "waiting" || state === "firing")) return false;
    }
    return true;
  }

  const occurrences = new Map<string, readonly Occurrence[]>();
  for (const { schedule } of planned) {
    occurrences.set(schedule.id, await store.schedules.listOccurrences(schedule.id, 10_000, endAt + 1));
  }
  const jobs = (await frontier.listJobs(1_000_000)).filter(({ spec }) => (spec.slot?.at ?? 0) <= endAt);
  await frontier.close();
  await store.close();
  return { planned, polls, jobs, occurrences, faults };
}

const PAGE_WITHOUT_LINKS = {
  discovered: [],
  refusedLinks: 0,
  site: { kind: "ok" } as const,
  tally: { pages: 1, records: 0, invalid: 0, bytes: 0 },
};
