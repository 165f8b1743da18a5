/** Makes every call on two frontiers, and compares their answers and their visible state. */
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { ledgerGap } from "../../src/domain/job.ts";
import { arrivalAfter, type ReturnedTerm, readyAt, type Term } from "../../src/domain/politeness.ts";
import { NO_RESPONSES } from "../../src/domain/throttling.ts";
import { isTrawlError } from "../../src/errors.ts";
import type { Claim, Frontier, Grant, NewJob } from "../../src/frontier/frontier.ts";
import type { DeadFilter, FrontierAdmin, LimitChange } from "../../src/frontier/frontier-admin.ts";
import type { ManualClock } from "./manual-clock.ts";
import { ALONE, type Operation, QUEUES, SITES, START_AT, type TermUse, URLS } from "./operations.ts";

type AnyFrontier = Frontier & FrontierAdmin;

export type FrontierPair = {
  run(operation: Operation): Promise<void>;
  /** Compares the explanations of every URL, site and job. */
  compareExplanations(): Promise<void>;
};

type Deps = { subject: AnyFrontier; model: AnyFrontier; clock: ManualClock; jobs: readonly NewJob[] };

export function createFrontierPair({ subject, model, clock, jobs }: Deps): FrontierPair {
  // `granted` and `terms` are never shortened, so that stale ones are used as well. `held` are the grants that are not
  // settled yet.
  const granted: Grant[] = [];
  const held: Grant[] = [];
  const terms: Term[] = [];

  async function both<T>(call: (frontier: AnyFrontier) => Promise<T>): Promise<T | undefined> {
    const [actual, expected] = [await outcomeOf(call(subject)), await outcomeOf(call(model))];
    // The fast comparison comes first: a run makes thousands of them, and only a difference needs a readable diff.
    if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
    return actual.value;
  }

  const jobId = (nth: number) => jobs[nth % jobs.length]?.id ?? "";
  /** One in ten is any earlier claim. The others are claims that are not settled yet. */
  const claim = (nth: number): Claim => {
    const from = nth % 10 === 0 ? granted : held;
    return from[nth % Math.max(1, from.length)] ?? { taskId: "404", token: 1 };
  };
  const filter = (job: number | undefined): DeadFilter => (job === undefined ? {} : { jobId: jobId(job) });

  /** Selects a term, counting from the newest, which is the most likely to be open. */
  function returnedTerm({ term: nth, sends, unstarted, slowdown, slowdownCause }: TermUse): ReturnedTerm {
    const term = terms.at(-1 - (nth % Math.max(1, terms.length))) ?? NO_TERM;
    const { site, number, intervalMs, burst } = term;
    let { arrivalAt } = term;
    for (let sent = 0; sent < sends; sent++) {
      arrivalAt = arrivalAfter(Math.max(term.startsAt, readyAt(arrivalAt, term)), arrivalAt, term);
    }
    const heldHere = held.filter((grant) => grant.site === site).length;
    return {
      ...{ site, number, intervalMs, burst, arrivalAt, unstarted: Math.min(unstarted, heldHere) },
      ...{ slowdown: slowdown ?? term.slowdown, slowdownCause },
    };
  }

  async function lease({ do: _, returned, ...rest }: Operation & { do: "lease" }): Promise<void> {
    const due: (number | undefined)[] = [];
    const alone: (number | undefined)[] = [];
    const request = { ...rest, returned: returned.map(returnedTerm) };
    const answers = await both(async (frontier) => {
      const answer = await frontier.lease(request);
      due.push(answer.nextDueAt);
      alone.push(answer.aloneDueAt);
      return {
        grants: [...answer.grants].sort((one, other) => Number(one.taskId) - Number(other.taskId)),
        terms: [...answer.terms].sort((one, other) => (one.site < other.site ? -1 : 1)),
      };
    });
    await compareDue(due[0], due[1]);
    await compareDue(alone[0], alone[1]);
    granted.push(...(answers?.grants ?? []));
    held.push(...(answers?.grants ?? []));
    terms.push(...(answers?.terms ?? []));
  }

  async function openTerm({ worker, site, returned }: Operation & { do: "openTerm" }): Promise<void> {
    const request = { worker, site, returned: returned === undefined ? undefined : returnedTerm(returned) };
    const term = await both((frontier) => frontier.openTerm(request));
    if (term !== undefined) terms.push(term);
  }

  async function settle({ settlements }: Operation & { do: "settle" }): Promise<void> {
    // If no claim is held, there is nothing to settle, except sometimes a claim that never existed.
    const chosen = held.length > 0 ? settlements : settlements.filter(({ grant }) => grant % 10 === 0);
    const claimed = chosen.map(({ grant, ...rest }) => {
      const { taskId, token } = claim(grant);
      return { taskId, token, ...rest };
    });
    await both(async (frontier) => {
      const { states, finished } = await frontier.settle(claimed);
      return { states, finished: [...finished].sort() };
    });
    const settled = new Set(claimed.map(({ taskId }) => taskId));
    held.splice(0, held.length, ...held.filter(({ taskId }) => !settled.has(taskId)));
  }

  async function keepRobots({ site, freshMs, crawlDelayMs }: Operation & { do: "keepRobots" }): Promise<void> {
    const now = clock.now();
    const robots = { kind: "file" as const, text: "User-agent: *", fetchedAt: now, freshUntil: now + freshMs };
    await both((frontier) => frontier.keepRobots(site, robots, crawlDelayMs));
  }

  async function announce({ worker, queues, ttlMs }: Operation & { do: "announce" }): Promise<void> {
    await both((frontier) => frontier.announce({ worker, queues, unknownSpiders: [], version: "1.0.0" }, ttlMs));
  }

  async function perform(operation: Operation): Promise<unknown> {
    switch (operation.do) {
      case "enqueue":
        return both((frontier) => frontier.enqueue(jobId(operation.job), operation.links));
      case "seal":
      case "pause":
      case "resume":
      case "cancel":
        return both<unknown>((frontier) => frontier[operation.do](jobId(operation.job)));
      case "forget":
        return both((frontier) => frontier.forgetJob(jobId(operation.job), 500));
      case "setPriority":
        return both((frontier) => frontier.setPriority(jobId(operation.job), operation.priority));
      case "setPolicy":
        return both((frontier) => frontier.setPolicy(jobId(operation.job), operation.policy));
      case "setLimits":
        return both((frontier) => frontier.setLimits(jobId(operation.job), limitsOf(operation)));
      case "setSitePolicy":
        return both((frontier) => frontier.setSitePolicy(operation.site, operation.policy));
      case "lease":
        return lease(operation);
      case "settle":
        return settle(operation);
      case "discover":
        return both((frontier) => frontier.discover(claim(operation.grant), operation.links));
      case "release":
        return both((frontier) => frontier.release(operation.grants.map(claim)));
      case "extend":
        return both((frontier) => frontier.extend(operation.grants.map(claim), operation.leaseMs));
      case "reap":
        return both((frontier) => frontier.reap(operation.max));
      case "abandon":
        return both((frontier) => frontier.abandon(operation.worker, operation.crashed?.map(claim)));
      case "crash":
        await lease({ ...CRASHING, queues: operation.queues, max: operation.max });
        return both((frontier) => frontier.abandon("doomed"));
      case "openTerm":
        return openTerm(operation);
      case "returnTerms":
        return both((frontier) => frontier.returnTerms(operation.returned.map(returnedTerm)));
      case "keepRobots":
        return keepRobots(operation);
      case "replay":
        return both((frontier) => frontier.replayDead(filter(operation.job), operation.limit, operation.perSecond));
      case "discard":
        return both((frontier) => frontier.discardDead(filter(operation.job), operation.limit));
      case "announce":
        return announce(operation);
      case "withdraw":
        return both((frontier) => frontier.withdraw(operation.worker));
      case "commandWorker":
        return both((frontier) => frontier.commandWorker(operation.worker, operation.command));
      case "advance":
        return clock.advance(operation.ms);
      case "advanceToNextDue":
        return clock.advanceTo((await peek(model, [...QUEUES, ...ALONE])) ?? 0);
    }
  }

  /** Queries change nothing, so all run at once, which is faster on a broker behind a network connection. */
  async function compare(): Promise<void> {
    const views = await both((frontier) => frontier.listJobs(100));
    for (const view of views ?? []) expect(ledgerGap(view.counts)).toBe(0);
    await Promise.all([
      both((frontier) => frontier.listOpen(100)),
      both((frontier) => frontier.findJobs((views ?? []).map(({ id }) => id).sort())),
      both((frontier) => frontier.listSites(100)),
      ...(views ?? []).map(({ id }) => both((frontier) => frontier.listJobSites(id, 100))),
      both((frontier) => frontier.listDead({}, 1000)),
      both((frontier) => frontier.groupDead({}, 1000)),
      both((frontier) => frontier.listHolders()),
      both((frontier) => frontier.listWorkers()),
      both((frontier) => frontier.listQueues()),
      ...[...QUEUES, ...ALONE].map(async (queue) =>
        compareDue(await peek(subject, [queue]), await peek(model, [queue])),
      ),
    ]);
  }

  async function compareDue(actual: number | undefined, expected: number | undefined): Promise<void> {
    if (actual === expected) return;
    // Turns of a job past its deadline may remain until a reaper ends it. They only wake a worker early.
    const known = [...jobs, ...(await model.listJobs(100))];
    const isOverdue = known.some(({ limits }) => (limits.deadlineAt ?? Infinity) <= clock.now());
    if (!isOverdue || actual === undefined) expect(actual).toBe(expected);
    else expect(actual).toBeLessThan(expected ?? Infinity);
  }

  return {
    async run(operation) {
      await perform(operation);
      await compare();
    },
    async compareExplanations() {
      for (const url of URLS) await both((frontier) => frontier.explain({ url }));
      for (const site of SITES) await both((frontier) => frontier.explain({ site }));
      for (const site of SITES) await both((frontier) => frontier.findSite(site));
      await both((frontier) => frontier.listBusySites(2));
      for (const { id } of jobs) await both((frontier) => frontier.explain({ jobId: id }));
    },
  };
}

/** Returned if there is no term yet. */
const NO_TERM: Term = {
  ...{ site: SITES[0], number: 999, intervalMs: 100, burst: 1, startsAt: START_AT, endsAt: START_AT },
  ...{ arrivalAt: START_AT, concurrent: 1, slowdown: 1, throttling: NO_RESPONSES },
};

const CRASHING: Omit<Extract<Operation, { do: "lease" }>, "queues" | "max"> = {
  ...{ do: "lease", worker: "doomed", leaseMs: 30_000, maxNow: 10, lookaheadMs: 0, returned: [] },
};

function limitsOf({ pages, deadlineMs }: Operation & { do: "setLimits" }): LimitChange {
  return {
    ...(pages === undefined ? {} : { pages }),
    ...(deadlineMs === undefined ? {} : { deadlineAt: deadlineMs === null ? null : START_AT + deadlineMs }),
  };
}

/** When the next task is due: a lease call with max 0 changes nothing. */
async function peek(frontier: Frontier, queues: readonly string[]): Promise<number | undefined> {
  const request = { worker: "peek", queues, max: 0, maxNow: 0, leaseMs: 1000, lookaheadMs: 0, returned: [] };
  return (await frontier.lease(request)).nextDueAt;
}

async function outcomeOf<T>(call: Promise<T>): Promise<{ value: T | undefined; code: string | undefined }> {
  try {
    return { value: await call, code: undefined };
  } catch (error) {
    if (!isTrawlError(error)) throw error;
    return { value: undefined, code: error.code };
  }
}
