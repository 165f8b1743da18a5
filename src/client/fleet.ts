/** What all jobs share: dead letters, sites, queues, workers, and why something waits. */
import type * as Wire from "../api/wire-fleet.ts";
import type { HistoryOut } from "../api/wire-history.ts";
import type { SiteDetailOut } from "../api/wire-sites.ts";
import type { TraceOut } from "../api/wire-trace.ts";
import { listAll, queryOf, type Signal } from "./listing.ts";
import type { Requests } from "./requests.ts";

/** Which dead letters: all that is named has to be so. */
export type DeadFilter = { job?: string; reason?: Wire.DeadOut["reason"]; site?: string; status?: number };

/** The same, or single ones of them, by their tasks: 500 at most. */
export type DeadChoice = DeadFilter & { tasks?: readonly string[] };

export type DeadGroups = { groups: Wire.DeadGroupOut[]; letters: number };

export type Dead = {
  list(filter?: DeadFilter, options?: Signal & { page?: number }): AsyncGenerator<Wire.DeadOut, void>;
  /** Counted by reason, site and status, the most first: 500 groups at most, and how many letters there are in all. */
  groups(filter?: DeadFilter, options?: Signal & { limit?: number }): Promise<DeadGroups>;
  /** Queues them again; the answer is how many. */
  replay(filter: DeadChoice, options?: Signal & { limit?: number; perSecond?: number }): Promise<number>;
  /** Forgets them; the answer is how many. */
  discard(filter: DeadChoice, options?: Signal & { limit?: number }): Promise<number>;
};

export type SiteWord = { rate: string; burst?: number; perSite?: number };

/** `sort: "waiting"`: those for which most waits first, 500 at most. `q`: what their names have in them. */
export type SiteSearch = { q?: string; sort?: "name" | "waiting" };

/** Who was told. */
export type Told = { order: Wire.OrderOut; workers: string[] };

export type Sites = {
  list(options?: Signal & SiteSearch & { page?: number }): AsyncGenerator<Wire.SiteOut, void>;
  /** All there is to know of one. Throws ApiError NOT_FOUND where no job has met it. */
  get(site: string, options?: Signal): Promise<SiteDetailOut>;
  /** Says what a site gets, whatever its jobs and its robots.txt say. */
  set(site: string, word: SiteWord, options?: Signal): Promise<Wire.SiteWordOut>;
  /** Takes that back. */
  unset(site: string, options?: Signal): Promise<void>;
};

export type ExplainTarget = { url: string } | { site: string } | { job: string };

/** Instants as ISO has them. Unless given: the last hour, in the least step that there is and fits. */
export type HistorySpan = { from?: string; to?: string; step?: "10s" | "1m" | "5m" | "30m" | "1h" | "6h" | "1d" };

/** `what` is any of these, whichever it turns out to be; with a URL, `job` says in which job it is meant. */
export type TraceTarget =
  | { url: string; job?: string }
  | { what: string; job?: string }
  | { job: string }
  | { task: string }
  | { request: string };

export type Fleet = {
  dead: Dead;
  /** Takes the scope admin, as do `queues` and `workers`. */
  sites: Sites;
  queues(options?: Signal): Promise<Wire.QueueOut[]>;
  workers(options?: Signal): Promise<Wire.WorkerOut[]>;
  /** What the fleet did over time. Takes the scope admin. */
  history(span?: HistorySpan, options?: Signal): Promise<HistoryOut>;
  /**
   * Lets a worker, or all of a supervisor, end what they have in hand: and then end (`drain`), or be followed by a fresh
   * process (`recycle`). They hear of it within seconds.
   */
  order(worker: string, order: Wire.OrderOut, options?: Signal): Promise<Told>;
  explain(target: ExplainTarget, options?: Signal): Promise<Wire.ExplanationOut>;
  /** How a page went in each job that had it, or how whole jobs did. */
  trace(target: TraceTarget, options?: Signal): Promise<TraceOut>;
};

export function createFleet(requests: Requests): Fleet {
  const post = <T>(path: string, body: object, { signal }: Signal) =>
    requests.json<T>(path, { method: "POST", body, signal, isOnce: true });
  const siteAt = (site: string) => `/v1/sites/${encodeURIComponent(site)}`;
  return {
    dead: {
      list: (filter = {}, options = {}) => listAll(requests, `/v1/dead${queryOf(filter)}`, "dead", options),
      groups(filter = {}, { limit, signal } = {}) {
        const path = `/v1/dead${queryOf({ ...filter, group: true, limit })}`;
        return requests.json<DeadGroups>(path, { signal });
      },
      async replay(filter, { signal, ...how } = {}) {
        const options = signal === undefined ? {} : { signal };
        return (await post<{ replayed: number }>("/v1/dead/replay", { ...filter, ...how }, options)).replayed;
      },
      async discard(filter, { signal, ...how } = {}) {
        const options = signal === undefined ? {} : { signal };
        return (await post<{ discarded: number }>("/v1/dead/discard", { ...filter, ...how }, options)).discarded;
      },
    },
    sites: {
      list: ({ q, sort, ...options } = {}) => listAll(requests, `/v1/sites${queryOf({ q, sort })}`, "sites", options),
      get: (site, { signal } = {}) => requests.json(siteAt(site), { signal }),
      set: (site, body, { signal } = {}) => requests.json(siteAt(site), { method: "PUT", body, signal }),
      unset: async (site, { signal } = {}) => void (await requests.json(siteAt(site), { method: "DELETE", signal })),
    },
    queues: async ({ signal } = {}) =>
      (await requests.json<{ queues: Wire.QueueOut[] }>("/v1/queues", { signal })).queues,
    workers: async ({ signal } = {}) =>
      (await requests.json<{ workers: Wire.WorkerOut[] }>("/v1/workers", { signal })).workers,
    history: (span = {}, { signal } = {}) => requests.json(`/v1/history${queryOf(span)}`, { signal }),
    order: (worker, order, { signal } = {}) =>
      requests.json(`/v1/workers/${encodeURIComponent(worker)}/${order}`, { method: "POST", signal }),
    explain: (target, { signal } = {}) => requests.json(`/v1/explain${queryOf(target)}`, { signal }),
    trace: (target, { signal } = {}) => requests.json(`/v1/trace${queryOf(target)}`, { signal }),
  };
}
