/**
 * The speed control of the sites of this worker. The pacer reports terms and responses. The slowdown of a site is in its
 * term and is returned with it, so that the next worker continues with it. The rest is only in this process: a worker
 * that gets a site for the first time has to find out again which errors do not depend on the load.
 */
import type { Term } from "../../domain/politeness.ts";
import type { SlowdownCause } from "../../domain/slowdown.ts";
import { afterThrottled, NO_RESPONSES, type Throttling } from "../../domain/throttling.ts";
import type { FetchOutcome } from "../../fetch/fetcher.ts";
import type { Attempt, FetchedPage } from "../observe/task-observer.ts";
import { type SiteResponse, SiteSpeed } from "./site-speed.ts";

type SiteSpeeds = {
  /** A term was opened. `isNext`: it follows a term of this worker without a gap. */
  open(term: Term, isNext: boolean, now: number): SiteControl;
  /** Counts a response. Returns whether it starts a backoff of the site. */
  responded(attempt: Attempt, fetched: FetchedPage, now: number): boolean;
};

type SiteControl = {
  slowdown(): number;
  /** The slowdown and its cause, for the broker. */
  report(): { slowdown: number; slowdownCause: SlowdownCause | undefined };
};

/** `known`: the slowdown that the broker knows. */
type KnownSite = { speed: SiteSpeed; known: number; throttling: Throttling };

/** The maximum number of sites to remember. The site whose last term was opened longest ago is forgotten first. */
const MOST_SITES = 10_000;

export function createSiteSpeeds(): SiteSpeeds {
  const sites = new Map<string, KnownSite>();

  function siteNamed(site: string): KnownSite {
    const found = sites.get(site) ?? { speed: new SiteSpeed(), known: 1, throttling: NO_RESPONSES };
    sites.delete(site);
    sites.set(site, found);
    const [oldest] = sites.size > MOST_SITES ? sites.keys() : [];
    if (oldest !== undefined) sites.delete(oldest);
    return found;
  }

  return {
    open(term, isNext, now) {
      const site = siteNamed(term.site);
      site.speed.limitTo(term.intervalMs);
      // If the two are equal, only this worker has changed the slowdown, and it may have changed it again since the
      // call.
      if (term.slowdown !== site.known) site.speed.adopt(term.slowdown, now);
      site.known = term.slowdown;
      if (!isNext) site.throttling = term.throttling;
      return controlOf(site);
    },
    responded({ grant, plan }, fetched, now) {
      const site = sites.get(grant.site);
      if (site === undefined) return false;
      const isRetry = grant.attempt > 1;
      const response = responseOf(fetched, isRetry);
      if (plan?.spec.politeness.adaptive === false) site.speed.adopt(1, now);
      else if (response !== undefined) site.speed.add(response, now);
      const { outcome } = fetched;
      if (isThrottled(outcome)) {
        const { pauses, ...throttling } = afterThrottled(site.throttling, isRetry);
        site.throttling = throttling;
        return pauses;
      }
      if (response?.error === undefined && response !== undefined)
        site.throttling = { ...site.throttling, isGood: true };
      return false;
    },
  };
}

function controlOf(site: KnownSite): SiteControl {
  const { speed } = site;
  return {
    slowdown: () => speed.slowdown,
    report() {
      site.known = speed.slowdown;
      return { slowdown: speed.slowdown, slowdownCause: speed.cause };
    },
  };
}

/** Undefined if the result says nothing about the load of the site. */
function responseOf({ outcome, step, startedAt }: FetchedPage, isRetry: boolean): SiteResponse | undefined {
  switch (outcome.kind) {
    case "page":
    case "unchanged":
    case "redirect":
      // The time of a browser depends on this machine too.
      return { startedAt, error: undefined, tookMs: step === "fetch" ? outcome.page.tookMs : undefined };
    case "dead":
      return outcome.status === undefined ? undefined : { startedAt, error: undefined, tookMs: undefined };
    case "retry": {
      // A page that fails again is probably broken. It was counted when it failed first.
      const error = isRetry ? undefined : errorOf(outcome);
      return error === undefined ? undefined : { startedAt, error, tookMs: undefined };
    }
  }
}

/** A refused connection or an unknown host costs the site nothing, and does not count. */
function errorOf({ because, status }: FetchOutcome & { kind: "retry" }): string | undefined {
  if (because === "timeout") return "timeout";
  return because === "throttled" || because === "server_error" || because === "blocked"
    ? String(status ?? because)
    : undefined;
}

function isThrottled(outcome: FetchOutcome): boolean {
  if (outcome.kind !== "retry") return false;
  const { because, status } = outcome;
  return because === "throttled" || (because === "blocked" && (status === 429 || status === 503));
}
