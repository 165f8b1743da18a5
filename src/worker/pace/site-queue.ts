/** The tasks and requests that wait at one site. */
import type { Grant } from "../../frontier/frontier.ts";
import type { SitePacer } from "./site-pacer.ts";

export const NEVER = Number.POSITIVE_INFINITY;

/** If the tasks of a term last no longer than this, the worker requests more. */
const LOW_MS = 100;
/** The worker requests more tasks this long before its site may get the next request, so that they arrive in time. */
const LEAD_MS = 50;

/** The tasks and requests of one site. Exists while the worker has a term, a started task or a waiting request there. */
export type SiteQueue = {
  site: string;
  /** Undefined between two terms. */
  pacer: SitePacer | undefined;
  grants: Grant[];
  /** Requests that wait for their turn. */
  requests: (() => void)[];
  /** Tasks that have started and are not settled. If the worker crashes, their pages are requested again. */
  running: number;
  maxRunning: number;
  unsettled: number;
  /** A task has just started: its first request need not wait. */
  hasPass: boolean;
  /** The claim whose response pauses the site. Nothing starts, and the term is not returned, until it is settled. */
  heldBy: string | undefined;
  /** Its key in the heap; NEVER if it is not in the heap. */
  at: number;
};

export function newSiteQueue(site: string): SiteQueue {
  return {
    ...{ site, pacer: undefined, grants: [], requests: [], running: 0, maxRunning: 0, unsettled: 0 },
    ...{ hasPass: false, heldBy: undefined, at: NEVER },
  };
}

export function isEmpty({ pacer, grants, requests, running, unsettled }: SiteQueue): boolean {
  return pacer === undefined && grants.length + requests.length + running + unsettled === 0;
}

/**
 * When the next task or request may start. NEVER if none waits, if there is no term, or if another task must end first.
 */
export function nextStartAt({ pacer, requests, grants, running, maxRunning }: SiteQueue): number {
  const hasWork = requests.length > 0 || (grants.length > 0 && running < maxRunning);
  return pacer === undefined || !hasWork ? NEVER : pacer.startAt();
}

export function isLow({ grants, requests, pacer }: SiteQueue): boolean {
  if (pacer === undefined || requests.length > 0) return false;
  return grants.length === 0 ? !pacer.isExpecting : grants.length * pacer.intervalMs < LOW_MS;
}

/**
 * When to return the term of a site, or to ask for another one. 0 if the term allows no further request, NEVER if there
 * is no term.
 */
export function returnAt(queue: SiteQueue): number {
  const { pacer } = queue;
  if (pacer === undefined) return NEVER;
  if (!isLow(queue)) return pacer.stopsAt();
  return pacer.readyAt() > pacer.stopsAt() ? 0 : pacer.readyAt() - LEAD_MS;
}

/**
 * How long a result of this site may wait until it is settled. The task must be settled before the site reaches its
 * concurrency, and its links must be queued before the tasks of the site run out. Half of that time is left for the
 * settlement and the next lease call.
 */
export function spareMs({ pacer, grants, running, maxRunning }: SiteQueue, now: number): number {
  if (pacer === undefined) return 0;
  const placesMs = (maxRunning - running) * pacer.intervalMs;
  const tasksMs = grants.length * pacer.intervalMs + Math.max(0, pacer.readyAt() - now);
  return Math.min(placesMs, tasksMs) / 2;
}
