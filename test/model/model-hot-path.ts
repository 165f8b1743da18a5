/** The hot path, on the model. */
import { claimKey, type Frontier, MAX_BATCH, type SharedValue } from "../../src/frontier/frontier.ts";
import { admit, enqueue } from "./admitting.ts";
import { createJob, overdueJobs, stop } from "./controlling.ts";
import { findClaimed, handBack, settleOne } from "./ending.ts";
import { lease } from "./leasing.ts";
import type { ModelOptions, ModelParts } from "./model-frontier.ts";
import { openTerm, returnTerm } from "./terms.ts";
import { getJob, type ModelTask, siteNamed } from "./world.ts";

type Leases = Pick<Frontier, "lease" | "extend" | "settle" | "discover" | "release" | "reap" | "abandon">;
type Sites = Pick<Frontier, "openTerm" | "returnTerms" | "findRobots" | "keepRobots">;
type Fleet = Pick<Frontier, "announce" | "withdraw" | "markScripted" | "isScripted" | "findValue" | "keepValue">;

export function createModelHotPath(parts: ModelParts, { maxPending }: ModelOptions): Frontier {
  const { world, step } = parts;
  return {
    createJob: async (job) => step((now) => createJob(world, job, now)).value,
    enqueue: async (jobId, tasks) => step((now) => enqueue(world, jobId, tasks, { now, maxPending })).value,
    seal: async (jobId) => {
      const job = getJob(world, jobId, "frontier.seal");
      const { finished } = step(() => {
        job.sealed = true;
      });
      return finished.includes(jobId);
    },
    ...createLeases(parts),
    ...createSites(parts),
    ...createFleet(parts),
    waitForWork: (until, signal) => waitForWork(parts, until, signal),
    close: async () => {},
  };
}

function createLeases({ world, step }: ModelParts): Leases {
  /** Ends the leases of these tasks without a result. By default, a task counts a crash unless it is `isAhead`. */
  function handBackAll(
    tasks: readonly ModelTask[],
    now: number,
    hasCrashed = (task: ModelTask) => !task.isAhead,
  ): number {
    for (const task of tasks) handBack(world, task, hasCrashed(task), now);
    return tasks.length;
  }

  function expire(max: number, now: number): number {
    const late = world.tasks.filter(({ state, leaseUntil }) => state === "leased" && leaseUntil <= now);
    late.sort((one, other) => one.leaseUntil - other.leaseUntil || one.id - other.id);
    return handBackAll(late.slice(0, Math.min(max, MAX_BATCH)), now);
  }

  function stopOneOverdue(now: number): number {
    const overdue = overdueJobs(world, now).slice(0, 1);
    for (const job of overdue) stop(world, job);
    return overdue.length;
  }

  return {
    lease: async (request) => step((now) => lease(world, request, now)).value,
    extend: async (claims, leaseMs) =>
      step((now) =>
        claims.map((claim) => {
          const task = findClaimed(world, claim);
          if (task !== undefined) task.leaseUntil = now + leaseMs;
          return task !== undefined;
        }),
      ).value,
    settle: async (settlements) => {
      const { value, finished } = step((now) => settlements.map((one) => settleOne(world, one, now)));
      return { states: value, finished };
    },
    discover: async (claim, tasks) =>
      step((now) => {
        const task = findClaimed(world, claim);
        if (task !== undefined) admit(world, task.job, tasks, "discovered", now);
        return task !== undefined;
      }).value,
    release: async (claims) => {
      step((now) => {
        for (const claim of claims) {
          const task = findClaimed(world, claim);
          if (task !== undefined) handBack(world, task, false, now);
        }
      });
    },
    reap: async (max) => step((now) => expire(max, now)).value + step(stopOneOverdue).value,
    abandon: async (worker, crashed) => {
      const keys = new Set(crashed?.map(claimKey));
      const isNamed = ({ id, token }: ModelTask) => keys.has(claimKey({ taskId: String(id), token }));
      return step((now) =>
        handBackAll(
          world.tasks.filter((task) => task.state === "leased" && task.worker === worker),
          now,
          crashed === undefined ? undefined : isNamed,
        ),
      ).value;
    },
  };
}

function createSites({ world, step }: ModelParts): Sites {
  return {
    openTerm: async ({ worker, site: name, returned }) =>
      step((now) => {
        const site = siteNamed(world, name);
        if (returned !== undefined) returnTerm(site, returned, now);
        return site.policy.intervalMs === 0 ? undefined : openTerm(world, site, worker, now);
      }).value,
    returnTerms: async (returned) => {
      step((now) => returned.forEach((one) => void returnTerm(siteNamed(world, one.site), one, now)));
    },
    findRobots: async (site) => structuredClone(world.sites.find(({ name }) => name === site)?.robots),
    keepRobots: async (name, robots, crawlDelayMs) => {
      step(() => {
        Object.assign(siteNamed(world, name), { robots, crawlDelayMs, robotsFetcher: undefined });
      });
    },
  };
}

/** These operations do not change waiting or leased tasks. */
function createFleet({ world, clock }: ModelParts): Fleet {
  const without = (worker: string) => world.announcements.filter(({ presence }) => presence.worker !== worker);
  function valueAt(key: string): SharedValue | undefined {
    const { until = 0, ...stored } = world.values.get(key) ?? { value: "", version: 0 };
    return until > clock.now() ? stored : undefined;
  }
  return {
    markScripted: async (site, forMs) => void world.scripted.set(site, clock.now() + forMs),
    isScripted: async (site) => (world.scripted.get(site) ?? 0) > clock.now(),
    findValue: async (key) => valueAt(key),
    async keepValue(key, value, { version, ttlMs }) {
      if ((valueAt(key)?.version ?? 0) !== version) return undefined;
      world.values.set(key, { value, version: version + 1, until: clock.now() + ttlMs });
      return version + 1;
    },
    announce: async (presence, ttlMs) => {
      const now = clock.now();
      const before = world.announcements.find((one) => one.presence.worker === presence.worker && one.until > now);
      world.announcements = [
        ...without(presence.worker),
        { presence: structuredClone(presence), seenAt: now, until: now + ttlMs, command: before?.command },
      ];
      return before?.command;
    },
    withdraw: async (worker) => {
      world.announcements = without(worker);
    },
  };
}

async function waitForWork({ clock, waiting }: ModelParts, until: number, signal: AbortSignal): Promise<void> {
  const woken = new AbortController();
  const wake = () => woken.abort();
  waiting.add(wake);
  signal.addEventListener("abort", wake, { once: true });
  if (signal.aborted) wake();
  await clock.sleep(until - clock.now(), woken.signal);
  waiting.delete(wake);
  signal.removeEventListener("abort", wake);
}
