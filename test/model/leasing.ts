/**
 * How the model grants tasks (F1, F2, F5, F14). It goes through the ranks (effective priorities, 0 first) and, within a
 * rank, through the queues of the request. There it serves the due sites in order, until `max` tasks are granted.
 */
import { concurrencyOf, type ReturnedTerm, type Term, tasksPerTerm } from "../../src/domain/politeness.ts";
import { aloneQueue, type Grant, type LeaseAnswer, type LeaseRequest, MAX_BATCH } from "../../src/frontier/frontier.ts";
import { dueAt, lanesOf, maySend, needsRobots, nextDueAt, siteReadyAt, tasksOf, wakeAt } from "./scheduling.ts";
import { openTerm, returnTerm } from "./terms.ts";
import {
  inFlightOf,
  type Lane,
  type ModelSite,
  type ModelTask,
  siteNamed,
  slowdownOf,
  type Turn,
  type World,
} from "./world.ts";

/**
 * The state of a lease call. `grants` and `terms` are granted to the worker; `returned` are the terms that the worker
 * returned.
 */
type Call = { request: LeaseRequest; grants: Grant[]; terms: Term[]; returned: Map<ModelSite, ReturnedTerm> };

export function lease(world: World, request: LeaseRequest, now: number): LeaseAnswer {
  const call: Call = { request, grants: [], terms: [], returned: new Map() };
  const restoreUnused = request.returned.map((one) => takeBack(world, call, one, now));
  // The order is fixed at the start of the call; its grants do not change it.
  const due = inOrder(world, request, now);
  for (let rank = 0; rank <= 9; rank++) {
    for (const queue of request.queues) {
      const turns = due.filter((turn) => turn.queue === queue && turn.rank === rank);
      const picks = shareOut(world, call, turns, now);
      for (const turn of turns) takeTurn(world, call, turn, picks, now);
    }
  }
  for (const restore of restoreUnused) restore();
  return {
    grants: call.grants,
    terms: call.terms,
    nextDueAt: nextDueAt(world, request.queues, now),
    aloneDueAt: nextDueAt(world, request.queues.map(aloneQueue), now),
  };
}

/**
 * Accepts a term that the worker returns. The result is called at the end of the lease call: it reopens the term if the
 * term has unstarted tasks and the call has granted no new term for the site.
 */
function takeBack(world: World, { terms, returned: all }: Call, returned: ReturnedTerm, now: number): () => void {
  const site = siteNamed(world, returned.site);
  const { arrivalAt, term } = site;
  if (!returnTerm(site, returned, now)) return () => {};
  all.set(site, returned);
  site.unstarted = returned.unstarted;
  return () => {
    site.unstarted = 0;
    const isRenewed = terms.some((one) => one.site === site.name);
    if (returned.unstarted > 0 && !isRenewed) Object.assign(site, { arrivalAt, term });
  };
}

type PickedTask = { turn: Turn; lane: Lane; task: ModelTask };

/** The turns that are due, longest due first. Of equal ones, the turn that was served least recently comes first. */
function inOrder(world: World, { lookaheadMs }: LeaseRequest, now: number): Turn[] {
  return world.turns
    .map((turn) => ({ turn, at: dueAt(world, turn, now), nth: world.sites.indexOf(turn.site) }))
    .filter(({ at }) => at <= now + lookaheadMs)
    .sort((one, other) => one.at - other.at || one.turn.served - other.turn.served || one.nth - other.nth)
    .map(({ turn }) => turn);
}

function shareOut(world: World, call: Call, turns: readonly Turn[], now: number): PickedTask[] {
  const picks: PickedTask[] = [];
  const isUnlimited = (site: ModelSite) => site.policy.intervalMs === 0;
  const { grants, terms, request } = call;
  const grantedNow = grants.filter(({ site }) => !terms.some((term) => term.site === site)).length;
  const max = Math.min(request.max, MAX_BATCH) - grants.length;
  const mayGive = (turn: Turn) => {
    const given = picks.filter((pick) => pick.turn === turn).length;
    const pickedNow = picks.filter((pick) => isUnlimited(pick.turn.site)).length;
    if (picks.length === max || given >= siteCapacity(world, call, turn.site, now)) return false;
    return !isUnlimited(turn.site) || grantedNow + pickedNow < request.maxNow;
  };
  const give = (turn: Turn) => {
    const next = mayGive(turn) ? nextOf(world, turn, picks, now) : undefined;
    if (next !== undefined) picks.push({ turn, ...next });
    return next !== undefined;
  };
  for (let before = -1; picks.length > before; ) {
    before = picks.length;
    for (const turn of turns) {
      // A site with a rate gets all tasks of its term; the others get one task each in turn.
      while (give(turn) && !isUnlimited(turn.site));
    }
  }
  return picks;
}

/** How many tasks of the site may be granted in this call. */
function siteCapacity(world: World, { request, returned }: Call, site: ModelSite, now: number): number {
  if (returned.has(site) && hasOtherQueues(world, site, request.queues, now)) return 0;
  const isUnlimited = site.policy.intervalMs === 0;
  if (siteReadyAt(world, site, now) > now + (isUnlimited ? 0 : request.lookaheadMs)) return 0;
  const perTerm = site.incidents > 0 ? 1 : tasksPerTerm(site.policy, slowdownOf(site, now), MAX_BATCH);
  const free = isUnlimited
    ? concurrencyOf(site.policy.perSite, site.incidents) - inFlightOf(world, site)
    : perTerm - site.unstarted;
  return needsRobots(world, site, now) ? Math.min(1, free) : free;
}

/** Whether tasks of the site may be granted from queues other than these. */
function hasOtherQueues(world: World, site: ModelSite, queues: readonly string[], now: number): boolean {
  return world.lanes.some(
    (lane) => lane.site === site && !queues.includes(lane.queue) && wakeAt(world, lane, now) <= now,
  );
}

/**
 * Returns a lane and its first task. Of the lanes with a task to grant, it is the one with the fewest grants in this
 * call. If several are equal, it is the one that was served least recently.
 */
function nextOf(
  world: World,
  turn: Turn,
  picks: readonly PickedTask[],
  now: number,
): { lane: Lane; task: ModelTask } | undefined {
  const given = (lane: Lane) => picks.filter((pick) => pick.lane === lane).length;
  const lanes = lanesOf(world, turn).sort(
    (one, other) =>
      given(one) - given(other) || one.served - other.served || world.lanes.indexOf(one) - world.lanes.indexOf(other),
  );
  for (const lane of lanes) {
    const task = firstTask(world, lane, picks, now);
    if (task !== undefined) return { lane, task };
  }
  return undefined;
}

/** The next task to grant: new tasks in order of admission, then due retries, longest due first (F14). */
function firstTask(world: World, lane: Lane, picks: readonly PickedTask[], now: number): ModelTask | undefined {
  if (!maySend(lane.job, now)) return undefined;
  const picked = new Set(picks.map(({ task }) => task));
  const left = tasksOf(world, lane).filter((task) => !picked.has(task));
  const fresh = left.filter(({ state }) => state === "queued");
  const retries = left
    .filter(({ state, notBefore }) => state === "delayed" && (notBefore ?? 0) <= now)
    .sort((one, other) => (one.notBefore ?? 0) - (other.notBefore ?? 0) || one.id - other.id);
  return fresh[0] ?? retries[0];
}

function takeTurn(world: World, call: Call, turn: Turn, picks: readonly PickedTask[], now: number): void {
  const { site } = turn;
  const picked = picks.filter((pick) => pick.turn === turn);
  const [first] = picked;
  if (first === undefined) return;
  const mustFetchRobots = needsRobots(world, site, now);
  const hasTerm = site.policy.intervalMs > 0;
  if (hasTerm) call.terms.push(openTerm(world, site, call.request.worker, now));
  const lanes = [...new Set(picked.map(({ lane }) => lane))];
  const tasks = lanes.flatMap((lane) => {
    lane.served = ++world.servings;
    return picked
      .filter((pick) => pick.lane === lane)
      .map(({ task }) => task)
      .sort((one, other) => one.id - other.id);
  });
  tasks.forEach((task, nth) => {
    const isAhead = hasTerm && (nth > 0 || site.unstarted > 0);
    call.grants.push(grant(task, { mustFetchRobots, isAhead }, call.request, now));
  });
  turn.servedAt = now;
  turn.served = ++world.servings;
  if (mustFetchRobots) site.robotsFetcher = tasks[0];
}

function grant(
  task: ModelTask,
  { mustFetchRobots, isAhead }: { mustFetchRobots: boolean; isAhead: boolean },
  { worker, leaseMs }: LeaseRequest,
  now: number,
): Grant {
  const { site, made } = task;
  task.state = "leased";
  task.token += 1;
  task.isAhead = isAhead;
  if (!isAhead) task.crashes += 1; // F6: the lease counts as a crash until it ends cleanly
  task.worker = worker;
  task.leaseUntil = now + leaseMs;
  return {
    taskId: String(task.id),
    token: task.token,
    jobId: task.job.made.id,
    url: made.url,
    site: site.name,
    kind: made.kind,
    depth: made.depth,
    attempt: task.failures + 1,
    ...(made.handler === undefined ? {} : { handler: made.handler }),
    ...(made.carry === undefined ? {} : { carry: structuredClone(made.carry) }),
    ...(made.request === undefined ? {} : { request: structuredClone(made.request) }),
    redirects: made.redirects ?? 0,
    mustFetchRobots,
  };
}
