/** Terms in the model (F2, F3). */
import { arrivalAfterTerm, type ReturnedTerm, readyAt, TERM_MS, type Term } from "../../src/domain/politeness.ts";
import { rescaleArrival } from "../../src/frontier/rescale-arrival.ts";
import { inFlightOf, type ModelSite, type World } from "./world.ts";

export function openTerm(world: World, site: ModelSite, worker: string, now: number): Term {
  const { intervalMs, burst, perSite } = site.policy;
  const startsAt = Math.max(now, readyAt(site.arrivalAt, site.policy), site.blockedUntil);
  const term: Term = {
    ...{ site: site.name, number: site.terms + 1, intervalMs, burst, startsAt, endsAt: startsAt + TERM_MS },
    arrivalAt: site.arrivalAt,
    concurrent: perSite - inFlightOf(world, site),
  };
  site.terms += 1;
  site.term = { worker, endsAt: term.endsAt };
  site.arrivalAt = arrivalAfterTerm(term.endsAt, site.policy);
  return term;
}

/** False if the term is not the last one of the site, or was already returned. */
export function returnTerm(site: ModelSite, returned: ReturnedTerm, now: number): boolean {
  if (site.terms !== returned.number || site.term === undefined) return false;
  site.arrivalAt = rescaleArrival(returned.arrivalAt, now, returned, site.policy);
  site.term = undefined;
  return true;
}
