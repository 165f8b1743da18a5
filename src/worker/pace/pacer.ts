/**
 * Starts the tasks that this worker holds, and releases their requests, each at a time that its site allows. The lease
 * loop adds tasks and terms, and collects the terms to return. The HTTP client waits for its turn before it dispatches
 * a request, and asks again at the moment of sending: no request is sent after the end of a term. A request needs a
 * call to the broker only if its site has no term: a redirect of robots.txt, or a request that outlived its term.
 *
 * If the process crashes, its terms end by themselves, and its tasks are granted again.
 *
 * createPacer is long because all of its functions share the queues of the sites.
 */
import { setMaxListeners } from "node:events";
import { setImmediate } from "node:timers";
import type { ReturnedTerm, Term } from "../../domain/politeness.ts";
import type { Allowance } from "../../fetch/fetcher.ts";
import { type Claim, claimKey, claimOf, type Frontier, type Grant } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import { Heap } from "../../runtime/heap.ts";
import type { PacedLoop, Pacer } from "./pacer-interface.ts";
import { SitePacer } from "./site-pacer.ts";
import { isEmpty, isLow, NEVER, newSiteQueue, nextStartAt, returnAt, type SiteQueue, spareMs } from "./site-queue.ts";
import { createSiteSpeeds } from "./site-speeds.ts";
import { hold, joinQueue } from "./site-turns.ts";
import { createUnpacedSites } from "./unpaced-sites.ts";

type Deps = { frontier: Pick<Frontier, "openTerm">; clock: Clock };
type Options = { worker: string; concurrency: number };

/** A started task. `sentBefore`: how many requests had been sent to its site. `queue`: undefined without a rate. */
type Started = { site: string; queue: SiteQueue | undefined; sentBefore: number };

/**
 * A lease call also returns the terms that are due to be returned within this time. Fewer calls matter more than exact
 * times.
 */
const TOGETHER_MS = 150;
/** A task that starts this long after its time is late: the worker holds more tasks than it can start. */
const LATE_MS = 250;
/**
 * The maximum number of terms that one lease call returns. With 500 returned terms and 500 grants, a Redis script took
 * 19 ms.
 */
const MAX_RETURNED = 250;
/**
 * For sites with a shorter interval, the pacer does not round waits up to whole milliseconds, the resolution of a
 * timer.
 */
const PRECISE_MS = 20;
/** A shorter precise wait is polled, since a timer would be late. */
const POLLED_MS = 0.3;

export function createPacer({ frontier, clock }: Deps, { worker, concurrency }: Options): Pacer {
  const queues = new Map<string, SiteQueue>();
  const heap = new Heap<SiteQueue>();
  const started = new Map<string, Started>();
  const opening = new Map<string, Promise<void>>();
  const unpaced = createUnpacedSites(clock);
  const speeds = createSiteSpeeds();
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  /** Sites with a task that could start now, but the worker already runs `concurrency` tasks. */
  const blocked = new Set<SiteQueue>();
  let leaving: SitePacer[] = [];
  let waiting = 0;
  let isLate = false;
  let timerAt = NEVER;
  let loop: PacedLoop = { start: () => {}, onLow: () => {} };

  function queueOf(site: string): SiteQueue {
    const known = queues.get(site);
    if (known !== undefined) return known;
    const queue = newSiteQueue(site);
    queues.set(site, queue);
    return queue;
  }

  function dropIfEmpty(queue: SiteQueue): void {
    if (isEmpty(queue)) queues.delete(queue.site);
  }

  function open(term: Term, unsettledBefore: number): SiteQueue {
    const queue = queueOf(term.site);
    const speed = speeds.open(term, queue.pacer !== undefined, clock.now());
    if (queue.pacer === undefined) queue.pacer = new SitePacer(term, speed);
    else queue.pacer.renew(term);
    queue.maxRunning = unsettledBefore + term.concurrent;
    return queue;
  }

  function close(queue: SiteQueue): ReturnedTerm[] {
    const { pacer } = queue;
    queue.pacer = undefined;
    queue.at = NEVER;
    queue.hasPass = false;
    return pacer === undefined ? [] : [pacer.returned(0)];
  }

  function takeGrants(queue: SiteQueue): Claim[] {
    const grants = queue.grants.splice(0);
    waiting -= grants.length;
    return grants.map(claimOf);
  }

  /** Puts the site into the heap at the time of its next start. */
  function schedule(queue: SiteQueue): void {
    const at = nextStartAt(queue);
    if (at === queue.at) return;
    queue.at = at;
    if (at !== NEVER) heap.push(at, queue);
  }

  /** Starts all tasks and requests that may start now, and sets the timer for the others. */
  function pump(): void {
    const now = clock.now();
    while (heap.first <= now) {
      const at = heap.first;
      const queue = heap.pop() as SiteQueue;
      if (queue.at !== at || queue.pacer === undefined) continue; // an outdated entry
      queue.at = NEVER;
      startNext(queue, queue.pacer, now);
    }
    setTimer(now);
  }

  function startNext(queue: SiteQueue, pacer: SitePacer, now: number): void {
    if (queue.heldBy !== undefined) return;
    if (now > pacer.stopsAt()) {
      // An error is ignored here: the next request to the site opens a term itself and gets the error.
      if (queue.requests.length > 0) void openTerm(queue.site).catch(() => {});
      else loop.onLow(now);
      return;
    }
    const request = queue.requests.shift();
    if (request !== undefined) {
      pacer.expect(now);
      request();
    } else if (queue.grants.length === 0) {
      return; // the request that waited was aborted
    } else if (started.size < concurrency) {
      const grant = queue.grants.shift() as Grant;
      waiting -= 1;
      isLate ||= now - pacer.startAt() > LATE_MS;
      pacer.expect(now);
      queue.hasPass = true;
      startTask(grant, queue);
    } else {
      blocked.add(queue);
      return;
    }
    schedule(queue);
  }

  function startTask(grant: Grant, queue: SiteQueue | undefined): void {
    started.set(claimKey(grant), { site: grant.site, queue, sentBefore: queue?.pacer?.sent ?? 0 });
    if (queue === undefined) unpaced.started(grant.site);
    else {
      queue.running += 1;
      queue.unsettled += 1;
    }
    loop.start(grant);
  }

  /** Starts tasks of blocked sites, up to `concurrency`. The site that has waited longest is first. */
  function startBlocked(): void {
    for (const queue of blocked) {
      if (started.size >= concurrency) break;
      blocked.delete(queue);
      schedule(queue);
      pump();
    }
    pump();
  }

  function setTimer(now: number): void {
    while (heap.peek() !== undefined && heap.peek()?.at !== heap.first) heap.pop(); // outdated entries
    const at = heap.first;
    if (at >= timerAt || stopping.signal.aborted) return;
    timerAt = at;
    const ms = at - now;
    const isPrecise = (heap.peek()?.pacer?.intervalMs ?? NEVER) < PRECISE_MS;
    if (isPrecise && ms < POLLED_MS) setImmediate(onTimer, at);
    else
      void clock
        .sleep(isPrecise ? Math.max(1, Math.floor(ms)) : Math.ceil(ms), stopping.signal)
        .then(() => onTimer(at));
  }

  function onTimer(at: number): void {
    if (at !== timerAt || stopping.signal.aborted) return; // an earlier time was set since
    timerAt = NEVER;
    pump();
  }

  /** Opens a term for the waiting requests of a site. Returns the current term to the broker first, if there is one. */
  function openTerm(site: string): Promise<void> {
    const known = opening.get(site);
    if (known !== undefined) return known;
    const queue = queueOf(site);
    const { unsettled } = queue;
    const [returned] = close(queue);
    const call = frontier
      .openTerm({ worker, site, returned })
      .then((term) => {
        if (term === undefined) passAll(queue);
        else schedule(open(term, unsettled));
        pump();
      })
      .finally(() => opening.delete(site));
    opening.set(site, call);
    return call;
  }

  function passAll(queue: SiteQueue): void {
    unpaced.learn(queue.site);
    for (const request of queue.requests.splice(0)) request();
    dropIfEmpty(queue);
  }

  function waitForTurn(queue: SiteQueue, signal: AbortSignal): Promise<void> {
    const turn = joinQueue(queue, signal, () => dropIfEmpty(queue));
    schedule(queue);
    pump();
    return turn;
  }

  async function waitForTerm(site: string, signal: AbortSignal): Promise<void> {
    const queue = queueOf(site);
    const given = new AbortController();
    const turn = waitForTurn(queue, AbortSignal.any([signal, given.signal]));
    try {
      await openTerm(site);
    } catch (error) {
      given.abort();
      throw error;
    }
    await turn;
  }

  /** Called when the bytes of the requests in `leaving` have been written. */
  function confirmSent(): void {
    const now = clock.now();
    const pacers = leaving;
    leaving = [];
    for (const pacer of pacers) {
      pacer.left(now);
      const queue = queues.get(pacer.term.site);
      if (queue?.pacer !== pacer) continue;
      schedule(queue);
      reportLow(queue);
    }
    pump();
  }

  function reportLow(queue: SiteQueue): void {
    const at = returnAt(queue);
    if (at !== NEVER && isLow(queue)) loop.onLow(at);
  }

  const allowance: Allowance = {
    turn(site, signal) {
      const queue = queues.get(site);
      if (queue?.pacer === undefined) return unpaced.has(site) ? undefined : waitForTerm(site, signal);
      if (!queue.hasPass) return waitForTurn(queue, signal);
      queue.hasPass = false;
      return undefined;
    },
    trySend(site) {
      const pacer = queues.get(site)?.pacer;
      if (pacer === undefined) return unpaced.has(site);
      if (!pacer.trySend(clock.now())) return false;
      if (leaving.push(pacer) === 1) queueMicrotask(confirmSent);
      return true;
    },
    unsent(site) {
      const queue = queues.get(site);
      if (queue?.pacer === undefined) return;
      queue.pacer.unexpect();
      schedule(queue);
      pump();
    },
  };

  return {
    allowance,
    attach(paced) {
      loop = paced;
    },
    unsettled: () => new Map([...queues.values()].map(({ site, unsettled }) => [site, unsettled])),
    add({ grants, terms }, unsettledBefore) {
      for (const term of terms) open(term, unsettledBefore.get(term.site) ?? 0);
      const touched = new Set<SiteQueue>(terms.flatMap(({ site }) => queues.get(site) ?? []));
      for (const grant of grants) {
        const queue = queues.get(grant.site);
        if (queue?.pacer === undefined) startTask(grant, undefined);
        else {
          queue.grants.push(grant);
          waiting += 1;
          touched.add(queue);
        }
      }
      for (const queue of touched) schedule(queue);
      pump();
    },
    responded(attempt, fetched) {
      const [now, claim] = [clock.now(), claimKey(attempt.grant)];
      if (speeds.responded(attempt, fetched, now)) hold(started.get(claim)?.queue, claim, now);
    },
    ended(claim) {
      const { queue, sentBefore = 0 } = started.get(claimKey(claim)) ?? {};
      if (queue === undefined) return;
      // If the task ended without a request, another task may use its turn.
      if (queue.pacer?.sent === sentBefore) {
        queue.hasPass = false;
        queue.pacer.unexpect();
      }
      schedule(queue);
      reportLow(queue);
      pump();
    },
    spareMs(claim) {
      const queue = started.get(claimKey(claim))?.queue;
      if (queue === undefined || waiting === 0 || started.size * 2 > concurrency) return 0;
      return spareMs(queue, clock.now());
    },
    settling(claim) {
      const { queue } = started.get(claimKey(claim)) ?? {};
      if (queue === undefined) return;
      queue.unsettled -= 1;
      dropIfEmpty(queue);
    },
    over(claim) {
      const task = started.get(claimKey(claim));
      if (task === undefined) return;
      started.delete(claimKey(claim));
      const { queue } = task;
      if (queue === undefined) unpaced.over(task.site);
      else {
        queue.running -= 1;
        const isReleased = queue.heldBy === claimKey(claim);
        if (isReleased) queue.heldBy = undefined;
        schedule(queue);
        dropIfEmpty(queue);
        if (isReleased) loop.onLow(clock.now());
      }
      startBlocked();
    },
    waiting: () => waiting,
    unstarted: () => [...queues.values()].flatMap(({ grants }) => grants.map(claimOf)),
    forget(claim) {
      const key = claimKey(claim);
      for (const queue of queues.values()) {
        const nth = queue.grants.findIndex((grant) => claimKey(grant) === key);
        if (nth < 0) continue;
        queue.grants.splice(nth, 1);
        waiting -= 1;
        schedule(queue);
        return true;
      }
      return false;
    },
    wasLate() {
      const wasLate = isLate;
      isLate = false;
      return wasLate;
    },
    collect() {
      const now = clock.now();
      const [returned, late]: [ReturnedTerm[], Claim[]] = [[], []];
      let nextAt = NEVER;
      for (const queue of queues.values()) {
        const at = returnAt(queue);
        const { pacer } = queue;
        if (pacer === undefined || queue.requests.length > 0 || queue.heldBy !== undefined) continue;
        if (at > now + TOGETHER_MS || returned.length >= MAX_RETURNED) nextAt = Math.min(nextAt, at);
        else if (now < pacer.stopsAt() && queue.grants.length > 0) returned.push(pacer.returned(queue.grants.length));
        else if (!pacer.isExpecting || now >= pacer.stopsAt()) {
          late.push(...takeGrants(queue));
          returned.push(...close(queue));
          dropIfEmpty(queue);
        }
      }
      return { returned, late, nextAt };
    },
    drop() {
      const all = [...queues.values()];
      const late = all.flatMap(takeGrants);
      return { returned: all.filter(({ requests }) => requests.length === 0).flatMap(close), late };
    },
    takeStranded: () =>
      [...queues.values()]
        .filter(({ site, pacer }) => pacer === undefined && !opening.has(site))
        .flatMap((queue) => takeGrants(queue)),
    slowDown(site, delayMs) {
      if (delayMs === 0) return;
      queues.get(site)?.pacer?.slowDown(delayMs);
      unpaced.forget(site);
    },
    stop: () => stopping.abort(),
  };
}
