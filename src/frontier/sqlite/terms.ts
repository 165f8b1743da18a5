/** Opens and returns the terms of sites (F2, F3), on rows that a transaction has loaded. */
import {
  arrivalAfterTerm,
  concurrencyOf,
  type ReturnedTerm,
  readyAt,
  TERM_MS,
  type Term,
} from "../../domain/politeness.ts";
import type { SlowdownCause } from "../../domain/slowdown.ts";
import { rescaleArrival } from "../rescale-arrival.ts";
import { policyOf, type SiteRow, slowdownOf, throttlingOf } from "./rows.ts";

/** Opens a term of a site that has a rate. */
export function openTerm(site: SiteRow, worker: string, now: number): Term {
  const { intervalMs, burst } = policyOf(site);
  const rate = { intervalMs, burst };
  setSlowdown(site, slowdownOf(site, now), undefined);
  const startsAt = Math.max(now, readyAt(site.arrival_at, rate), site.blocked_until);
  const term: Term = {
    site: site.site,
    number: site.term + 1,
    ...rate,
    startsAt,
    endsAt: startsAt + TERM_MS,
    arrivalAt: site.arrival_at,
    concurrent: concurrencyOf(site.per_site, site.incidents) - site.in_flight,
    slowdown: site.slowdown,
    throttling: throttlingOf(site),
  };
  site.term = term.number;
  site.term_worker = worker;
  site.term_ends_at = term.endsAt;
  site.arrival_at = arrivalAfterTerm(term.endsAt, rate);
  return term;
}

/** Takes back a term. Returns false, and changes nothing, if the term was already returned or is not the last one. */
export function returnTerm(site: SiteRow, returned: ReturnedTerm, now: number): boolean {
  if (site.term !== returned.number || site.term_worker === null) return false;
  site.arrival_at = rescaleArrival(returned.arrivalAt, now, returned, policyOf(site));
  setSlowdown(site, returned.slowdown, returned.slowdownCause);
  site.term_worker = null;
  site.term_ends_at = 0;
  return true;
}

/** `cause`: undefined keeps the previous cause. A site at its full rate has no cause. */
function setSlowdown(site: SiteRow, slowdown: number, cause: SlowdownCause | undefined): void {
  site.slowdown = slowdown;
  if (slowdown === 1) site.slowdown_cause = null;
  else if (cause !== undefined) site.slowdown_cause = JSON.stringify(cause);
}
