/** Grants in the model (F1, F2, F5): rank by rank, queue by queue, one task to each due site in turn, up to `max`. */
import { capacityAt, takeSlot } from "../../src/domain/politeness.ts";
import { aloneQueue, type Grant, type LeaseAnswer, type LeaseRequest, MAX_BATCH } from "../../src/frontier/frontier.ts";
import { dueAt, lanesOf, maySend, needsRobots, nextDueAt, siteReadyAt, tasksOf } from "./scheduling.ts";
import { inFlightOf, type Lane, type ModelSite, type ModelTask, type Turn, type World } from "./world.ts";

export function lease(world: World, request: LeaseRequest, now: number): LeaseAnswer {
  const grants: Grant[] = [];
  // The order is fixed at the start of the call; its grants do not change it.
  const due = inOrder(world, now);
  for (let rank = 0; rank <= 9; rank++) {
    for (const queue of request.queues) {
      const turns = due.filter((turn) => turn.queue === queue && turn.rank === rank);
      const picks = shareOut(world, turns, Math.min(request.max, MAX_BATCH) - grants.length, now);
      for (const turn of turns) grants.push(...takeTurn(world, turn, picks, request, now));
    }
  }
  return {
    grants,
    nextDueAt: nextDueAt(world, request.queues, now),
    aloneDueAt: nextDueAt(world, request.queues.map(aloneQueue), now),
  };
}

type Pick = { turn: Turn; lane: Lane; task: ModelTask };

/** Turns that are due, longest due first; ties by the longest time since the last service. */
function inOrder(world: World, now: number): Turn[] {
  return world.turns
    .map((turn) => ({ turn, at: dueAt(world, turn, now), nth: world.sites.indexOf(turn.site) }))
    .filter(({ at }) => at <= now)
    .sort((one, other) => one.at - other.at || one.turn.served - other.turn.served || one.nth - other.nth)
    .map(({ turn }) => turn);
}

function shareOut(world: World, turns: readonly Turn[], limit: number, now: number): Pick[] {
  const picks: Pick[] = [];
  for (let before = -1; picks.length > before; ) {
    before = picks.length;
    for (const turn of turns) {
      const given = picks.filter((pick) => pick.turn === turn).length;
      if (picks.length === limit || given >= siteCapacity(world, turn.site, now)) continue;
      const next = nextOf(world, turn, picks, now);
      if (next !== undefined) picks.push({ turn, ...next });
    }
  }
  return picks;
}

/** How many requests the site allows now. */
function siteCapacity(world: World, site: ModelSite, now: number): number {
  if (siteReadyAt(world, site, now) > now) return 0;
  const free = needsRobots(world, site, now) ? 1 : site.policy.perSite - inFlightOf(world, site);
  return Math.max(1, capacityAt(now, site.arrivalAt, site.policy, free));
}

/**
 * The lane with the fewest grants in this call, ties by the longest time since the last service; and its first task.
 */
function nextOf(
  world: World,
  turn: Turn,
  picks: readonly Pick[],
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

/** Fresh tasks in order of admission, then due retries, longest due first (F14). */
function firstTask(world: World, lane: Lane, picks: readonly Pick[], now: number): ModelTask | undefined {
  if (!maySend(lane.job, now)) return undefined;
  const picked = new Set(picks.map(({ task }) => task));
  const left = tasksOf(world, lane).filter((task) => !picked.has(task));
  const fresh = left.filter(({ state }) => state === "queued");
  const retries = left
    .filter(({ state, notBefore }) => state === "delayed" && (notBefore ?? 0) <= now)
    .sort((one, other) => (one.notBefore ?? 0) - (other.notBefore ?? 0) || one.id - other.id);
  return fresh[0] ?? retries[0];
}

function takeTurn(world: World, turn: Turn, picks: readonly Pick[], request: LeaseRequest, now: number): Grant[] {
  const picked = picks.filter((pick) => pick.turn === turn);
  const [first] = picked;
  if (first === undefined) return [];
  const mustFetchRobots = needsRobots(world, turn.site, now);
  const lanes = [...new Set(picked.map(({ lane }) => lane))];
  const grants = lanes.flatMap((lane) => {
    const tasks = picked.filter((pick) => pick.lane === lane).map(({ task }) => task);
    lane.served = ++world.servings;
    return tasks.sort((one, other) => one.id - other.id).map((task) => grant(task, mustFetchRobots, request, now));
  });
  turn.servedAt = now;
  turn.served = ++world.servings;
  if (mustFetchRobots) turn.site.robotsFetcher = first.task;
  return grants;
}

function grant(task: ModelTask, mustFetchRobots: boolean, { worker, leaseMs }: LeaseRequest, now: number): Grant {
  const { site, made } = task;
  const slot = takeSlot(now, site.arrivalAt, site.policy);
  site.arrivalAt = slot.arrivalAt;
  task.state = "leased";
  task.token += 1;
  task.crashes += 1;
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
    redirects: made.redirects ?? 0,
    slot,
    mustFetchRobots,
  };
}
