/**
 * Grants tasks that may be fetched now: best priority first, then the site that was served longest ago, then the jobs
 * of one site in turn (F1, F2, F4, F5). It first distributes the requested number of tasks over the sites that are due,
 * then takes the tasks with one statement per lane. It never reads sites that are not due.
 */
import { capacityAt, type Slot, takeSlot } from "../../domain/politeness.ts";
import type { TaskKind } from "../../domain/task.ts";
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import { aloneQueue, type Grant, type LeaseAnswer, type LeaseRequest, MAX_BATCH } from "../frontier.ts";
import { maySend, siteReadyAt } from "./readiness.ts";
import { type LaneRow, NEVER, policyOf, type SiteRow, type TaskRow } from "./rows.ts";
import type { RunTransaction, Transaction } from "./transaction.ts";

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

/** The number of tasks that one lane can grant, and how many of them this call takes. */
type LaneShare = { lane: LaneRow; fresh: number; retries: number; taken: number };
/** A turn stands for the tasks that wait at one site on one queue at one rank. */
type TurnKey = { site: SiteRow; queue: string; rank: number };
/** `free`: how many requests the site allows now. */
type Turn = TurnKey & { free: number; mustFetchRobots: boolean; shares: LaneShare[] };

type Deps = { db: Database; runTransaction: RunTransaction; now: () => number };

export function createLease({ db, runTransaction, now }: Deps): (request: LeaseRequest) => LeaseAnswer {
  const sql = prepareAll<Names>(db, new URL("./sql/lease.sql", import.meta.url));

  /** Only reads, because an idle worker must not take the write lock. */
  function nextDueAt(queues: readonly string[]): number {
    return Math.min(NEVER, ...queues.map((queue) => (sql.firstDueAt.get(queue)?.at as number | null) ?? NEVER));
  }

  function grantAll(tx: Transaction, request: LeaseRequest): Grant[] {
    const grants: Grant[] = [];
    // A caller that requests more gets a `nextDueAt` that has passed, and calls again (F17).
    const max = Math.min(request.max, MAX_BATCH);
    for (let rank = rankFrom(request.queues, 0); rank !== undefined; rank = rankFrom(request.queues, rank + 1)) {
      for (const queue of request.queues) {
        const left = max - grants.length;
        if (left === 0) return grants;
        const turns = openTurns(tx, queue, rank, left);
        distribute(turns, left);
        for (const turn of turns) grants.push(...takeTurn(tx, turn, request));
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
   * Up to `max` turns that are due and have tasks to grant. Skips sites that this call has already served at a better
   * rank, and sites whose only job was just paused or has passed its deadline (see openLane).
   */
  function openTurns(tx: Transaction, queue: string, rank: number, max: number): Turn[] {
    const open: Turn[] = [];
    for (let skipped = 0; open.length < max && skipped < MAX_BATCH; ) {
      const wanted = max - open.length;
      const rows = sql.dueTurns.all(queue, rank, tx.now, wanted, skipped + open.length);
      const turns = rows.map((row) => openTurn(tx, { site: tx.site(row.site as number), queue, rank }, max));
      open.push(...turns.filter(({ shares }) => shares.length > 0));
      skipped += turns.filter(({ shares }) => shares.length === 0).length;
      if (rows.length < wanted) break;
    }
    return open;
  }

  function openTurn(tx: Transaction, key: TurnKey, max: number): Turn {
    const { site } = key;
    const mustFetchRobots = site.wants_robots === 1 && site.robots_fresh_until <= tx.now;
    // Only the first task is granted. It fetches robots.txt, and the other tasks wait for that.
    const free = freeAt(site, tx.now, mustFetchRobots ? 1 : max);
    return { ...key, free, mustFetchRobots, shares: free === 0 ? [] : openLanes(tx, key, free) };
  }

  function openLanes(tx: Transaction, { site, queue, rank }: TurnKey, max: number): LaneShare[] {
    sql.wakeLanes.run(site.n, queue, rank, tx.now);
    const shares: LaneShare[] = [];
    for (let skipped = 0; shares.length < max && skipped < MAX_BATCH; ) {
      const wanted = max - shares.length;
      const rows = sql.lanesInTurn.all(site.n, queue, rank, wanted, skipped + shares.length);
      for (const row of rows) {
        const share = openLane(tx, tx.lane(row.n as number), max);
        if (share === undefined) skipped += 1;
        else shares.push(share);
      }
      if (rows.length < wanted) break;
    }
    return shares;
  }

  /**
   * Undefined: the lane has nothing to grant. A pause, cancel or deadline reaches the lanes later, so the job is
   * checked here.
   */
  function openLane(tx: Transaction, lane: LaneRow, max: number): LaneShare | undefined {
    if (!maySend(tx.job(lane.job), tx.now)) return undefined;
    const retries = lane.delayed === 0 ? 0 : (sql.countDueRetries.get(lane.n, tx.now, max)?.due as number);
    return lane.queued + retries === 0 ? undefined : { lane, fresh: lane.queued, retries, taken: 0 };
  }

  function takeTurn(tx: Transaction, turn: Turn, request: LeaseRequest): Grant[] {
    const grants = turn.shares.flatMap((share) => takeShare(tx, turn, share, request));
    if (grants.length === 0) return grants;
    const first = grants[0];
    if (turn.mustFetchRobots && first !== undefined) turn.site.robots_asker = Number(first.taskId);
    sql.served.run(tx.now, tx.totals.next_served++, turn.queue, turn.rank, turn.site.n);
    return grants;
  }

  function takeShare(tx: Transaction, turn: Turn, { lane, fresh, taken }: LaneShare, request: LeaseRequest): Grant[] {
    if (taken === 0) return [];
    const job = tx.job(lane.job);
    const until = tx.now + request.leaseMs;
    const fromQueued = Math.min(fresh, taken);
    const rows = sql.takeQueued.all(request.worker, until, lane.n, fromQueued);
    if (taken > fromQueued) {
      rows.push(...sql.takeRetries.all(request.worker, until, lane.n, tx.now, taken - fromQueued));
    }
    lane.queued -= fromQueued;
    lane.delayed -= taken - fromQueued;
    lane.leased += taken;
    lane.served = tx.totals.next_served++;
    job.queued -= fromQueued;
    job.delayed -= taken - fromQueued;
    job.leased += taken;
    tx.totals.pending -= taken;
    turn.site.in_flight += taken;
    return (rows as unknown as TaskRow[])
      .sort((one, other) => one.id - other.id)
      .map((row) => grantOf(row, job.id, turn, nextSlot(turn.site, tx.now)));
  }

  function answer(grants: Grant[], { queues }: LeaseRequest): LeaseAnswer {
    return {
      grants,
      nextDueAt: unlessNever(nextDueAt(queues)),
      aloneDueAt: unlessNever(nextDueAt(queues.map(aloneQueue))),
    };
  }

  return (request) => {
    if (request.max === 0 || nextDueAt(request.queues) > now()) return answer([], request);
    return answer(runTransaction((tx) => grantAll(tx, request)).value, request);
  };
}

/** How many requests the site allows at `now`, up to `max`. */
function freeAt(site: SiteRow, now: number, max: number): number {
  if (siteReadyAt(site, now) > now) return 0;
  const free = Math.min(max, site.per_site - site.in_flight);
  // A site that is ready allows at least one request: with a burst, a rounding error of 1e-9 could yield 0.
  return Math.max(1, capacityAt(now, site.arrival_at, policyOf(site), free));
}

/**
 * Gives one task to each due site in turn, and within a site to each job in turn, until `max` or all tasks are used.
 */
function distribute(turns: readonly Turn[], max: number): void {
  let left = max;
  for (let gave = true; gave && left > 0; ) {
    gave = false;
    for (const turn of turns) {
      if (left === 0) return;
      const share = leastTaken(turn);
      if (turn.free === 0 || share === undefined) continue;
      share.taken += 1;
      turn.free -= 1;
      left -= 1;
      gave = true;
    }
  }
}

function leastTaken({ shares }: Turn): LaneShare | undefined {
  let best: LaneShare | undefined;
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
    mustFetchRobots: turn.mustFetchRobots,
  };
}

function unlessNever(at: number): number | undefined {
  return at >= NEVER ? undefined : at;
}
