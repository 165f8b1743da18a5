/**
 * Grants tasks that may be fetched: best priority first, then the site that has been due longest, then the jobs of one
 * site in turn (F1, F2, F4, F5). A call first takes back the returned terms. Then it distributes the requested number
 * of tasks over the sites that are due, and takes the tasks with one or two statements per lane. It never reads sites
 * that are not due.
 */
import { concurrencyOf, type ReturnedTerm, type Term, tasksPerTerm } from "../../domain/politeness.ts";
import type { TaskRequest } from "../../domain/request.ts";
import type { TaskKind } from "../../domain/task.ts";
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import { aloneQueue, type Grant, type LeaseAnswer, type LeaseRequest, MAX_BATCH } from "../frontier.ts";
import { maySend, siteReadyAt } from "./readiness.ts";
import { type LaneRow, NEVER, policyOf, type SiteRow, slowdownOf, type TaskRow } from "./rows.ts";
import { openTerm, returnTerm } from "./terms.ts";
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
  | "countStart"
  | "findOtherQueue"
  | "refreshReturned"
  | "served";

/** The number of tasks that one lane can grant, and how many of them this call takes. */
type LaneShare = { lane: LaneRow; fresh: number; retries: number; taken: number };
/** Identifies a turn: the entry for the tasks that wait at one site on one queue at one rank. */
type TurnKey = { site: SiteRow; queue: string; rank: number };
/** `free`: how many tasks the site may get now. */
type Turn = TurnKey & { free: number; mustFetchRobots: boolean; shares: LaneShare[]; dueAt: number; served: number };
/**
 * One call: how many tasks it may still grant, in total and at sites without a rate (`leftNow`), what it has granted,
 * and the terms that the worker has returned, by site number.
 */
type Call = {
  request: LeaseRequest;
  left: number;
  leftNow: number;
  grants: Grant[];
  terms: Term[];
  returned: Map<number, ReturnedTerm>;
};

/** Turns of sites with a rate are opened in groups of this size, because one term may take all tasks of a call. */
const PACED_AT_ONCE = 16;

type Deps = { db: Database; runTransaction: RunTransaction; now: () => number };

export function createLease({ db, runTransaction, now }: Deps): (request: LeaseRequest) => LeaseAnswer {
  const sql = prepareAll<Names>(db, new URL("./sql/lease.sql", import.meta.url));

  /** When the first site is due on these queues. Only reads, because an idle worker must not take the write lock. */
  function nextDueAt(queues: readonly string[]): number {
    return Math.min(NEVER, ...queues.map((queue) => (sql.firstDueAt.get(queue)?.at as number | null) ?? NEVER));
  }

  function grantAll(tx: Transaction, request: LeaseRequest): Pick<LeaseAnswer, "grants" | "terms"> {
    // If the caller requests more, it gets a `nextDueAt` in the past, and calls again (F17).
    const left = Math.min(request.max, MAX_BATCH);
    const call: Call = { request, left, leftNow: request.maxNow, grants: [], terms: [], returned: new Map() };
    const restoreUnused = request.returned.map((one) => takeBack(tx, call, one));
    if (left > 0) grantByRank(tx, call);
    for (const restore of restoreUnused) restore();
    return { grants: call.grants, terms: call.terms };
  }

  /**
   * Takes back a term, so that this call can open a new term of the site. Returns a function to call after the grants:
   * if the worker has unstarted tasks and got no new term, the function restores the old term.
   */
  function takeBack(tx: Transaction, { terms, returned: all }: Call, returned: ReturnedTerm): () => void {
    const site = tx.siteNamed(returned.site);
    const { arrival_at, term_worker, term_ends_at } = site;
    if (!returnTerm(site, returned, tx.now)) return () => {};
    // Tasks that have not started are not in flight.
    site.in_flight -= returned.unstarted;
    all.set(site.n, returned);
    sql.refreshReturned.run(siteReadyAt(site, tx.now), site.n);
    return () => {
      site.in_flight += returned.unstarted;
      const isRenewed = terms.some((term) => term.site === site.site);
      if (returned.unstarted > 0 && !isRenewed) Object.assign(site, { arrival_at, term_worker, term_ends_at });
    };
  }

  function grantByRank(tx: Transaction, call: Call): void {
    const { queues } = call.request;
    for (let rank = rankFrom(queues, 0); rank !== undefined; rank = rankFrom(queues, rank + 1)) {
      for (const queue of queues) {
        if (call.left === 0) return;
        const turns = openTurns(tx, call, queue, rank);
        distribute(turns, call);
        for (const turn of turns) takeTurn(tx, call, turn);
      }
    }
  }

  function rankFrom(queues: readonly string[], least: number): number | undefined {
    const ranks = queues.map((queue) => sql.rankFrom.get(queue, least)?.rank as number | null);
    const first = Math.min(...ranks.map((rank) => rank ?? NEVER));
    return first === NEVER ? undefined : first;
  }

  /** The turns that are due and have tasks to grant, longest due first; no more than this call can use. */
  function openTurns(tx: Transaction, call: Call, queue: string, rank: number): Turn[] {
    const unpaced = openUntil(tx, call, { queue, rank, paced: 0 }, () => 1, Math.min(call.leftNow, call.left));
    const paced = openUntil(tx, call, { queue, rank, paced: 1 }, tasksOf, call.left);
    if (unpaced.length === 0 || paced.length === 0) return [...unpaced, ...paced];
    return [...unpaced, ...paced].sort(
      (one, other) => one.dueAt - other.dueAt || one.served - other.served || one.site.n - other.site.n,
    );
  }

  /**
   * Opens turns until their weights reach `enough`. Skips sites that this call has already served at a better rank, and
   * sites whose only job was just paused or has passed its deadline (see openLane).
   */
  function openUntil(
    tx: Transaction,
    call: Call,
    { queue, rank, paced }: { queue: string; rank: number; paced: 0 | 1 },
    weightOf: (turn: Turn) => number,
    enough: number,
  ): Turn[] {
    const open: Turn[] = [];
    const dueBy = tx.now + (paced === 1 ? call.request.lookaheadMs : 0);
    let [weight, skipped] = [0, 0];
    while (weight < enough && skipped < MAX_BATCH) {
      const wanted = Math.min(enough - weight, paced === 1 ? PACED_AT_ONCE : MAX_BATCH);
      const rows = sql.dueTurns.all(queue, rank, paced, dueBy, wanted, skipped + open.length);
      for (const row of rows) {
        const key = { site: tx.site(row.site as number), queue, rank };
        const turn = openTurn(tx, call, key, { dueAt: row.due_at as number, served: row.served as number });
        if (turn.shares.length === 0) skipped += 1;
        else if (weight < enough) {
          open.push(turn);
          weight += weightOf(turn);
        }
      }
      if (rows.length < wanted) break;
    }
    return open;
  }

  function openTurn(tx: Transaction, call: Call, key: TurnKey, order: Pick<Turn, "dueAt" | "served">): Turn {
    const { site } = key;
    const mustFetchRobots = site.wants_robots === 1 && site.robots_fresh_until <= tx.now;
    const free = hasPrecedence(tx, call, site) ? 0 : freeAt(site, tx.now, call);
    // If robots.txt must be fetched, only one task is granted. It fetches the file, and the other tasks wait for that.
    const max = mustFetchRobots ? Math.min(1, free) : free;
    return { ...key, ...order, free: max, mustFetchRobots, shares: max === 0 ? [] : openLanes(tx, key, max) };
  }

  /**
   * Whether other workers may take the site first: this worker has just returned its term, and tasks wait there on
   * queues that this worker does not serve. If no other worker takes the site, this worker gets it with its next call.
   */
  function hasPrecedence({ now: at }: Transaction, { returned, request }: Call, { n }: SiteRow): boolean {
    return returned.has(n) && sql.findOtherQueue.get(n, JSON.stringify(request.queues), at) !== undefined;
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

  function takeTurn(tx: Transaction, call: Call, turn: Turn): void {
    const { site } = turn;
    const hasTerm = site.interval_ms > 0 && turn.shares.some(({ taken }) => taken > 0);
    if (hasTerm) call.terms.push(openTerm(site, call.request.worker, tx.now));
    const grants = turn.shares.flatMap((share) => takeShare(tx, call, turn, share));
    const [first] = grants;
    if (first === undefined) return;
    const startsNow = hasTerm && (call.returned.get(site.n)?.unstarted ?? 0) === 0;
    if (startsNow) sql.countStart.run(Number(first.taskId));
    if (turn.mustFetchRobots) site.robots_asker = Number(first.taskId);
    sql.served.run(tx.now, tx.totals.next_served++, turn.queue, turn.rank, site.n);
    call.grants.push(...grants);
  }

  function takeShare(tx: Transaction, { request }: Call, turn: Turn, { lane, fresh, taken }: LaneShare): Grant[] {
    if (taken === 0) return [];
    const job = tx.job(lane.job);
    const until = tx.now + request.leaseMs;
    const fromQueued = Math.min(fresh, taken);
    const ahead = turn.site.interval_ms > 0 ? 1 : 0;
    const rows = sql.takeQueued.all(ahead, request.worker, until, lane.n, fromQueued);
    if (taken > fromQueued) {
      rows.push(...sql.takeRetries.all(ahead, request.worker, until, lane.n, tx.now, taken - fromQueued));
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
      .map((row) => grantOf(row, job.id, turn));
  }

  function answer({ grants, terms }: Pick<LeaseAnswer, "grants" | "terms">, { queues }: LeaseRequest): LeaseAnswer {
    return {
      grants,
      terms,
      nextDueAt: unlessNever(nextDueAt(queues)),
      aloneDueAt: unlessNever(nextDueAt(queues.map(aloneQueue))),
    };
  }

  return (request) => {
    const hasWork = request.max > 0 && nextDueAt(request.queues) <= now() + request.lookaheadMs;
    if (!hasWork && request.returned.length === 0) return answer(NOTHING, request);
    return answer(runTransaction((tx) => grantAll(tx, request)).value, request);
  };
}

/** How many tasks a turn can grant. */
function tasksOf({ free, shares }: Turn): number {
  return Math.min(
    free,
    shares.reduce((sum, { fresh, retries }) => sum + fresh + retries, 0),
  );
}

const NOTHING = { grants: [], terms: [] };

/** How many tasks the site may get now. */
function freeAt(site: SiteRow, now: number, { left, leftNow, request, returned }: Call): number {
  const concurrent = concurrencyOf(site.per_site, site.incidents);
  if (site.interval_ms === 0) {
    return siteReadyAt(site, now) > now ? 0 : Math.min(leftNow, left, concurrent - site.in_flight);
  }
  if (siteReadyAt(site, now) > now + request.lookaheadMs) return 0;
  const unstarted = returned.get(site.n)?.unstarted ?? 0;
  // After a backoff, the next response decides whether the site gets more than one request.
  const most = site.incidents > 0 ? 1 : tasksPerTerm(policyOf(site), slowdownOf(site, now), MAX_BATCH);
  return Math.max(0, Math.min(left, most - unstarted));
}

/**
 * Gives each due site with a rate all tasks of its term, because a worker that holds more sites than it can serve keeps
 * other workers from them. Gives one task to each site without a rate in turn. Within a site, jobs take turns.
 */
function distribute(turns: readonly Turn[], call: Call): void {
  for (let gave = true; gave; ) {
    gave = false;
    for (const turn of turns) {
      const isPaced = turn.site.interval_ms > 0;
      for (let given = 0; (isPaced || given === 0) && giveOne(turn, call); given++) gave = true;
    }
  }
}

function giveOne(turn: Turn, call: Call): boolean {
  const share = leastTaken(turn);
  const isUnlimited = turn.site.interval_ms === 0;
  if (call.left === 0 || turn.free === 0 || share === undefined || (isUnlimited && call.leftNow === 0)) return false;
  share.taken += 1;
  turn.free -= 1;
  call.left -= 1;
  if (isUnlimited) call.leftNow -= 1;
  return true;
}

function leastTaken({ shares }: Turn): LaneShare | undefined {
  let best: LaneShare | undefined;
  for (const share of shares) {
    const hasMore = share.taken < share.fresh + share.retries;
    if (hasMore && (best === undefined || share.taken < best.taken)) best = share;
  }
  return best;
}

function grantOf(row: TaskRow, jobId: string, turn: Turn): Grant {
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
    ...(row.request === null ? {} : { request: JSON.parse(row.request) as TaskRequest }),
    redirects: row.redirects,
    mustFetchRobots: turn.mustFetchRobots,
  };
}

function unlessNever(at: number): number | undefined {
  return at >= NEVER ? undefined : at;
}
