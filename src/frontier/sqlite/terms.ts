/** Opens and returns the terms of sites (F2, F3), on rows that a transaction has loaded. */
import { arrivalAfterTerm, type ReturnedTerm, readyAt, TERM_MS, type Term } from "../../domain/politeness.ts";
import { rescaleArrival } from "../rescale-arrival.ts";
import { policyOf, type SiteRow } from "./rows.ts";

/** The site must have a rate. */
export function openTerm(site: SiteRow, worker: string, now: number): Term {
  const { intervalMs, burst } = policyOf(site);
  const rate = { intervalMs, burst };
  const startsAt = Math.max(now, readyAt(site.arrival_at, rate), site.blocked_until);
  const term: Term = {
    site: site.site,
    number: site.term + 1,
    ...rate,
    startsAt,
    endsAt: startsAt + TERM_MS,
    arrivalAt: site.arrival_at,
    concurrent: site.per_site - site.in_flight,
  };
  site.term = term.number;
  site.term_worker = worker;
  site.term_ends_at = term.endsAt;
  site.arrival_at = arrivalAfterTerm(term.endsAt, rate);
  return term;
}

/** False if another term was opened since, or if the term was already returned. */
export function returnTerm(site: SiteRow, returned: ReturnedTerm, now: number): boolean {
  if (site.term !== returned.number || site.term_worker === null) return false;
  site.arrival_at = rescaleArrival(returned.arrivalAt, now, returned, policyOf(site));
  site.term_worker = null;
  site.term_ends_at = 0;
  return true;
}
