/**
 * Operations that are not about a single job: dead letters, sites, queues, workers, history, explanations and traces.
 */

import { listAll, queryOf, type Signal } from "./listing.ts";
import type { Requests } from "./requests.ts";
import type * as Wire from "./wire-types.ts";
import type { HistoryOut, SiteDetailOut, TraceOut } from "./wire-types.ts";

/** A dead letter must match all given values. */
export type DeadFilter = { job?: string; reason?: Wire.DeadOut["reason"]; site?: string; status?: number };

/** A filter, or at most 500 task ids. */
export type DeadChoice = DeadFilter & { tasks?: readonly string[] };

export type DeadGroups = { groups: Wire.DeadGroupOut[]; letters: number };

export type Dead = {
  list(filter?: DeadFilter, options?: Signal & { page?: number }): AsyncGenerator<Wire.DeadOut, void>;
  /** Groups by reason, site and status, largest first: at most 500, and the total number of letters. */
  groups(filter?: DeadFilter, options?: Signal & { limit?: number }): Promise<DeadGroups>;
  /** Queues the matching dead letters again. Returns their number. */
  replay(filter: DeadChoice, options?: Signal & { limit?: number; perSecond?: number }): Promise<number>;
  /** Discards the matching dead letters. Returns their number. */
  discard(filter: DeadChoice, options?: Signal & { limit?: number }): Promise<number>;
};

export type SiteLimits = { rate: string; burst?: number; perSite?: number };

/** `sort: "waiting"`: at most 500 sites, those with the most waiting URLs first. `q`: text that the name contains. */
export type SiteSearch = { q?: string; sort?: "name" | "waiting" };

/** The workers that get the command. */
export type CommandedWorkers = { command: Wire.CommandOut; workers: string[] };

export type Sites = {
  list(options?: Signal & SiteSearch & { page?: number }): AsyncGenerator<Wire.SiteOut, void>;
  /** Throws ApiError NOT_FOUND if no job has URLs of the site. */
  get(site: string, options?: Signal): Promise<SiteDetailOut>;
  /** Sets the limits of a site, overriding its jobs and robots.txt. */
  set(site: string, limits: SiteLimits, options?: Signal): Promise<Wire.SitePolicyOut>;
  /** Removes the limits that `set` has set. */
  unset(site: string, options?: Signal): Promise<void>;
};

export type ExplainTarget = { url: string } | { site: string } | { job: string };

/** Instants in ISO 8601. Default: the last hour, in the shortest step that is stored. */
export type HistorySpan = { from?: string; to?: string; step?: "10s" | "1m" | "5m" | "30m" | "1h" | "6h" | "1d" };

/** `what` is a URL or any of these ids. With a URL, `job` selects the job. */
export type TraceTarget =
  | { url: string; job?: string }
  | { what: string; job?: string }
  | { job: string }
  | { task: string }
  | { request: string };

export type Fleet = {
  dead: Dead;
  /** Requires the scope admin, like `queues` and `workers`. */
  sites: Sites;
  queues(options?: Signal): Promise<Wire.QueueOut[]>;
  workers(options?: Signal): Promise<Wire.WorkerOut[]>;
  /** Success, latency and cost of the proxies. Requires the scope `admin`. */
  proxies(options?: Signal): Promise<Wire.ProxiesOut>;
  /** The history of the fleet. Requires the scope admin. */
  history(span?: HistorySpan, options?: Signal): Promise<HistoryOut>;
  /**
   * Sends a command to a worker, or to all workers of a supervisor. With `drain`, a worker finishes its tasks and
   * exits. With `recycle`, a new process also replaces it. Workers receive the command within 5 seconds.
   */
  command(worker: string, command: Wire.CommandOut, options?: Signal): Promise<CommandedWorkers>;
  explain(target: ExplainTarget, options?: Signal): Promise<Wire.ExplanationOut>;
  /** The timeline of a page in each job that contains it, or summaries of jobs. */
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
    proxies: ({ signal } = {}) => requests.json("/v1/proxies", { signal }),
    history: (span = {}, { signal } = {}) => requests.json(`/v1/history${queryOf(span)}`, { signal }),
    command: (worker, command, { signal } = {}) =>
      requests.json(`/v1/workers/${encodeURIComponent(worker)}/${command}`, { method: "POST", signal }),
    explain: (target, { signal } = {}) => requests.json(`/v1/explain${queryOf(target)}`, { signal }),
    trace: (target, { signal } = {}) => requests.json(`/v1/trace${queryOf(target)}`, { signal }),
  };
}
