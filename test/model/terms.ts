/** Terms in the model (F2, F3). */
import {
  arrivalAfterTerm,
  concurrencyOf,
  type ReturnedTerm,
  readyAt,
  TERM_MS,
  type Term,
} from "../../src/domain/politeness.ts";
import { rescaleArrival } from "../../src/frontier/rescale-arrival.ts";
import { inFlightOf, type ModelSite, slowdownOf, type World } from "./world.ts";

export function openTerm(world: World, site: ModelSite, worker: string, now: number): Term {
  const { intervalMs, burst, perSite } = site.policy;
  site.slowdown = slowdownOf(site, now);
  if (site.slowdown === 1) site.slowdownCause = undefined;
  const startsAt = Math.max(now, readyAt(site.arrivalAt, site.policy), site.blockedUntil);
  const term: Term = {
    ...{ site: site.name, number: site.terms + 1, intervalMs, burst, startsAt, endsAt: startsAt + TERM_MS },
    arrivalAt: site.arrivalAt,
    concurrent: concurrencyOf(perSite, site.incidents) - inFlightOf(world, site),
    slowdown: site.slowdown,
    throttling: site.throttling,
  };
  site.terms += 1;
  site.term = { worker, endsAt: term.endsAt };
  site.arrivalAt = arrivalAfterTerm(term.endsAt, site.policy);
  return term;
}

/** Ends a term. Returns false if it is not the last term of the site, or was already returned. */
export function returnTerm(site: ModelSite, returned: ReturnedTerm, now: number): boolean {
  if (site.terms !== returned.number || site.term === undefined) return false;
  site.arrivalAt = rescaleArrival(returned.arrivalAt, now, returned, site.policy);
  site.slowdown = returned.slowdown;
  site.slowdownCause = returned.slowdown === 1 ? undefined : (returned.slowdownCause ?? site.slowdownCause);
  site.term = undefined;
  return true;
}
