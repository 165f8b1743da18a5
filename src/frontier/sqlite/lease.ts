/**
 * The claim: grants only what may be fetched now, best priority first, sites that waited longest first, jobs on one
 * site in turn (F1, F2, F4, F5). Works in two strokes: share out the room among the sites that are due, then take the
 * tasks, one statement a lane. Sites that are not due are never looked at.
 */
import { capacityAt, type Slot, takeSlot } from "../../domain/politeness.ts";
import type { TaskKind } from "../../domain/task.ts";
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import { aloneQueue, BATCH_MOST, type Grant, type LeaseAnswer, type LeaseRequest } from "../frontier.ts";
import { type LaneRow, NEVER, policyOf, type SiteRow, type TaskRow } from "./rows.ts";
import { maySend, siteReadyAt } from "./schedule.ts";
import type { Step, Stepper } from "./step.ts";

type Names =
  | "firstDueAt"
  | "rankFrom"
  | "dueTurns"
  | "wakeLanes"
  | "lanesInTurn"
  | "countDueRetries"
  | "takeQueued"
  | "takeRetries"
  | "served";

type Share = { lane: LaneRow; fresh: number; retries: number; taken: number };
type Place = { site: SiteRow; queue: string; rank: number };
type Turn = Place & { room: number; mustAskRobots: boolean; shares: Share[] };

type Deps = { db: Database; stepper: Stepper; now: () => number };

export function createLease({ db, stepper, now }: Deps): (request: LeaseRequest) => LeaseAnswer {
  const sql = prepareAll<Names>(db, new URL("./sql/lease.sql", import.meta.url));

  /** Reads only: an idle worker must not take the write lock. */
  function nextDueAt(queues: readonly string[]): number {
    return Math.min(NEVER, ...queues.map((queue) => (sql.firstDueAt.get(queue)?.at as number | null) ?? NEVER));
  }

  function grantAll(step: Step, request: LeaseRequest): Grant[] {
    const grants: Grant[] = [];
    // Whoever asks for more than one step's measure is told that more is due, and asks again (F17).
    const most = Math.min(request.max, BATCH_MOST);
    for (let rank = rankFrom(request.queues, 0); rank !== undefined; rank = rankFrom(request.queues, rank + 1)) {
      for (const queue of request.queues) {
        const room = most - grants.length;
        if (room === 0) return grants;
        const turns = openTurns(step, queue, rank, room);
        shareOut(turns, room);
        for (const turn of turns) grants.push(...takeTurn(step, turn, request));
      }
    }
    return grants;
  }

  function rankFrom(queues: readonly string[], least: number): number | undefined {
    const ranks = queues.map((queue) => sql.rankFrom.get(queue, least)?.rank as number | null);
    const first = Math.min(...ranks.map((rank) => rank ?? NEVER));
    return first === NEVER ? undefined : first;
  }

  /**
   * Sites that are due and have something to give, `most` of them at the most. Passed over are those this very call has
   * served at a better rank, and those whose only job was just paused or ran out of time (see openLanes).
   */
  function openTurns(step: Step, queue: string, rank: number, most: number): Turn[] {
    const open: Turn[] = [];
    for (let passed = 0; open.length < most && passed < BATCH_MOST; ) {
      const wanted = most - open.length;
      const rows = sql.dueTurns.all(queue, rank, step.now, wanted, passed + open.length);
      const turns = rows.map((row) => openTurn(step, { site: step.site(row.site as number), queue, rank }, most));
      open.push(...turns.filter(({ shares }) => shares.length > 0));
      passed += turns.filter(({ shares }) => shares.length === 0).length;
      if (rows.length < wanted) break;
    }
    return open;
  }

  function openTurn(step: Step, place: Place, most: number): Turn {
    const { site } = place;
    const mustAskRobots = site.wants_robots === 1 && site.robots_fresh_until <= step.now;
    const room = siteRoom(site, step.now, mustAskRobots ? 1 : most);
    return { ...place, room, mustAskRobots, shares: room === 0 ? [] : openLanes(step, place, room) };
  }

  function openLanes(step: Step, { site, queue, rank }: Place, room: number): Share[] {
    sql.wakeLanes.run(site.n, queue, rank, step.now);
    const shares: Share[] = [];
    for (let passed = 0; shares.length < room && passed < BATCH_MOST; ) {
      const wanted = room - shares.length;
      const rows = sql.lanesInTurn.all(site.n, queue, rank, wanted, passed + shares.length);
      for (const row of rows) {
        const share = openLane(step, step.lane(row.n as number), room);
        if (share === undefined) passed += 1;
        else shares.push(share);
      }
      if (rows.length < wanted) break;
    }
    return shares;
  }

  /** A pause, a cancel or a deadline reaches the lanes in bounded steps; until it has, they are passed over, once each. */
  function openLane(step: Step, lane: LaneRow, room: number): Share | undefined {
    if (!maySend(step.job(lane.job), step.now)) return undefined;
    const retries = lane.delayed === 0 ? 0 : (sql.countDueRetries.get(lane.n, step.now, room)?.due as number);
    return lane.queued + retries === 0 ? undefined : { lane, fresh: lane.queued, retries, taken: 0 };
  }

  function takeTurn(step: Step, turn: Turn, request: LeaseRequest): Grant[] {
    const grants = turn.shares.flatMap((share) => takeShare(step, turn, share, request));
    if (grants.length === 0) return grants;
    const first = grants[0];
    if (turn.mustAskRobots && first !== undefined) turn.site.robots_asker = Number(first.taskId);
    sql.served.run(step.now, step.totals.next_served++, turn.queue, turn.rank, turn.site.n);
    return grants;
  }

  function takeShare(step: Step, turn: Turn, { lane, fresh, taken }: Share, request: LeaseRequest): Grant[] {
    if (taken === 0) return [];
    const job = step.job(lane.job);
    const until = step.now + request.leaseMs;
    const fromQueued = Math.min(fresh, taken);
    const rows = sql.takeQueued.all(request.worker, until, lane.n, fromQueued);
    if (taken > fromQueued) {
      rows.push(...sql.takeRetries.all(request.worker, until, lane.n, step.now, taken - fromQueued));
    }
    lane.queued -= fromQueued;
    lane.delayed -= taken - fromQueued;
    lane.leased += taken;
    lane.served = step.totals.next_served++;
    job.queued -= fromQueued;
    job.delayed -= taken - fromQueued;
    job.leased += taken;
    step.totals.pending -= taken;
    turn.site.in_flight += taken;
    return (rows as unknown as TaskRow[])
      .sort((one, other) => one.id - other.id)
      .map((row) => grantOf(row, job.id, turn, nextSlot(turn.site, step.now)));
  }

  function answer(grants: Grant[], { queues }: LeaseRequest): LeaseAnswer {
    return { grants, nextDueAt: known(nextDueAt(queues)), aloneDueAt: known(nextDueAt(queues.map(aloneQueue))) };
  }

  return (request) => {
    if (request.max === 0 || nextDueAt(request.queues) > now()) return answer([], request);
    return answer(stepper.run((step) => grantAll(step, request)).value, request);
  };
}

/** How many requests a site takes at `now`, `most` at the most. */
function siteRoom(site: SiteRow, now: number, most: number): number {
  if (siteReadyAt(site, now) > now) return 0;
  const free = Math.min(most, site.per_site - site.in_flight);
  // A site that is ready takes one: with a burst, rounding may hide that by a billionth.
  return Math.max(1, capacityAt(now, site.arrival_at, policyOf(site), free));
}

/** One task to each due site in turn, and at a site to each job in turn, until the room or the work is used up. */
function shareOut(turns: readonly Turn[], room: number): void {
  let left = room;
  for (let gave = true; gave && left > 0; ) {
    gave = false;
    for (const turn of turns) {
      if (left === 0) return;
      const share = leastTaken(turn);
      if (turn.room === 0 || share === undefined) continue;
      share.taken += 1;
      turn.room -= 1;
      left -= 1;
      gave = true;
    }
  }
}

function leastTaken({ shares }: Turn): Share | undefined {
  let best: Share | undefined;
  for (const share of shares) {
    const hasMore = share.taken < share.fresh + share.retries;
    if (hasMore && (best === undefined || share.taken < best.taken)) best = share;
  }
  return best;
}

function nextSlot(site: SiteRow, now: number): Slot {
  const slot = takeSlot(now, site.arrival_at, policyOf(site));
  site.arrival_at = slot.arrivalAt;
  return slot;
}

function grantOf(row: TaskRow, jobId: string, turn: Turn, slot: Slot): Grant {
  return {
    taskId: String(row.id),
    token: row.token,
    jobId,
    url: row.url,
    site: turn.site.site,
    kind: row.kind as TaskKind,
    depth: row.depth,
    attempt: row.failures + 1,
    ...(row.handler === null ? {} : { handler: row.handler }),
    ...(row.carry === null ? {} : { carry: JSON.parse(row.carry) as unknown }),
    redirects: row.redirects,
    slot,
    mustAskRobots: turn.mustAskRobots,
  };
}

function known(at: number): number | undefined {
  return at >= NEVER ? undefined : at;
}
