/**
 * Simulates schedulers on one store and one broker, both real files, with simulated time. In each step the time advances, the
 * live schedulers poll, and runs that have lasted long enough end. Schedulers die at random calls and are restarted. Some
 * sleep while they hold a claim, and continue when another scheduler has taken it over. Twice all of them are down for a while.
 */

import { join } from "node:path";
import { resolveConfig } from "../../src/config/resolve.ts";
import type { JobView } from "../../src/frontier/frontier-admin.ts";
import { openSqliteFrontier } from "../../src/frontier/sqlite/open.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { createLog } from "../../src/runtime/log.ts";
import { NO_TRACING } from "../../src/runtime/tracing.ts";
import type { FireDeps } from "../../src/schedule/fire-occurrence.ts";
import { lookOnce } from "../../src/schedule/scheduler.ts";
import { createSchedules } from "../../src/schedule/schedules.ts";
import type { Occurrence, Schedule, ScheduleStore } from "../../src/store/schedule-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/open-sqlite-store.ts";
import { seededRandom } from "../chaos/seeded-random.ts";
import { createLife, type Fate, type Life } from "./mortal.ts";
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
  looks: ReadonlyMap<string, readonly number[]>;
  jobs: readonly JobView[];
  occurrences: ReadonlyMap<string, readonly Occurrence[]>;
  deaths: Readonly<Record<Fate["kind"], number>>;
};

export const GRACE_MS = 30_000;
const CLAIM_MS = 20_000;
const STEP_MS = 2_000;
/** How long all schedulers are down, twice. */
const OUTAGE_MS = 80_000;
/** More steps than the work takes once no scheduler dies. */
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
    book: store.schedules,
    frontier,
    clock,
    log,
    jobDefaults,
    checkRules: () => {},
    openTracing: async () => NO_TRACING,
    findObstacle: async () => undefined,
    noteOwner: async () => {},
    registerWebhook: async () => {},
  };
  const looks = new Map<string, number[]>();
  const deaths = { "dies before": 0, "dies after": 0, "sleeps before": 0 };

  const schedules = createSchedules(deps, { claimMs: CLAIM_MS, graceMs: GRACE_MS });
  const planned: (Planned & { schedule: Schedule })[] = [];
  for (const plan of planSchedules(options.schedules, random)) {
    planned.push({ ...plan, schedule: await schedules.add(plan.input, undefined) });
  }

  const queues = planned.map(({ queue }) => queue);
  const lastingOf = new Map<string | undefined, number>(planned.map(({ queue, lastsMs: lasts }) => [queue, lasts]));

  /** Records polls that took effect, also if the scheduler died before it got the response. */
  const book: ScheduleStore = {
    ...store.schedules,
    async advance(known, to, occurrences) {
      const isDone = await store.schedules.advance(known, to, occurrences);
      if (isDone) looks.set(known.id, [...(looks.get(known.id) ?? []), to.doneUntil]);
      return isDone;
    },
  };

  type Scheduler = { life: Life; isFree: boolean; bornAt: number };
  const nap = () =>
    new Promise<void>((wake) => {
      sleepers.push({ until: now + random.between(CLAIM_MS / 2, 3 * CLAIM_MS), wake });
    });
  const onFate = (kind: Fate["kind"]) => {
    deaths[kind] += 1;
  };
  const born = (bornAt: number): Scheduler => ({
    life: createLife({ random, nap, onFate }),
    isFree: true,
    bornAt,
  });
  const all = Array.from({ length: options.schedulers }, () => born(startAt));

  async function look(index: number, mayDie: boolean): Promise<void> {
    const scheduler = all[index] as Scheduler;
    const { life } = scheduler;
    if (!scheduler.isFree || scheduler.bornAt > now) return;
    if (mayDie && random.next() < 0.5) {
      const kind = (["dies before", "dies after", "sleeps before"] as const)[random.between(0, 2)] ?? "dies before";
      life.doom({ atCall: random.between(1, 30), kind });
    }
    const mine = { ...deps, book: life.mortal(book), frontier: life.mortal(frontier) };
    scheduler.isFree = false;
    const looked = lookOnce(mine, { graceMs: GRACE_MS, claimMs: CLAIM_MS }, new AbortController().signal).then(() => {
      scheduler.isFree = true;
    });
    const end = await Promise.race([looked, life.died, untilAsleep(life)]);
    if (end === "died") all[index] = born(now + random.between(0, 30) * 1000);
  }

  /** Does not wait for sleeping schedulers. */
  async function untilAsleep(life: Life): Promise<"asleep"> {
    while (!life.isAsleep()) await new Promise((resolve) => setImmediate(resolve));
    return "asleep";
  }

  async function step(mayDie: boolean): Promise<void> {
    now += STEP_MS;
    for (const sleeper of sleepers.splice(0)) {
      if (sleeper.until <= now) sleeper.wake();
      else sleepers.push(sleeper);
    }
    await Promise.all(all.map((_, index) => look(index, mayDie)));
    await endRuns(mayDie);
  }

  /** Acts as a worker: fetches the one page of a run after the duration of the run. */
  async function endRuns(areLong: boolean): Promise<void> {
    const { grants } = await frontier.lease({ worker: "w", queues, max: 10_000, leaseMs: 1_000_000 });
    for (const { taskId, token, jobId } of grants) {
      const job = await frontier.findJob(jobId);
      const lasts = areLong ? (lastingOf.get(job?.queue) ?? 0) : 0;
      if (now - (job?.createdAt ?? 0) < lasts) await frontier.release([{ taskId, token }]);
      else await frontier.settle([{ taskId, token, outcome: { kind: "done" }, ...NOTHING_ELSE }]);
    }
  }

  const endAt = startAt + lastsMs;
  const outages = [startAt + lastsMs * 0.25, startAt + lastsMs * 0.65];
  while (now < endAt) {
    const outage = outages.find((from) => now >= from && now < from + OUTAGE_MS);
    if (outage !== undefined) {
      // All die, sleeping ones too.
      sleepers.splice(0);
      for (const index of all.keys()) all[index] = born(outage + OUTAGE_MS);
    }
    await step(true);
  }
  for (let steps = 0; !(await isSettled()); steps += 1) {
    if (steps > DRAIN_STEPS) throw new Error(`seed ${seed}: occurrences are left over after ${steps} steps`);
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
  return { planned, looks, jobs, occurrences, deaths };
}

const NOTHING_ELSE = {
  discovered: [],
  refusedLinks: 0,
  site: { kind: "ok" } as const,
  tally: { pages: 1, records: 0, invalid: 0, bytes: 0 },
};
