/**
 * Tells how tasks go: what the store keeps of each lease, for `trawl trace`, and log lines that carry the ids by which
 * they are found again. Called by the worker, task by task; a crash leaves a lease of which nothing is told, and that
 * tells of the crash.
 */
import type { TaskKind } from "../domain/task.ts";
import type { Fetcher, FetchOutcome } from "../fetch/fetcher.ts";
import { type Claim, claimKey, type Grant, type TaskOutcome } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log, LogFields } from "../runtime/log.ts";
import type { Run, TryWrite } from "../store/store.ts";
import type { JobSpec } from "../submit/job-spec.ts";
import type { RunTaskDeps, TaskResult } from "./run-task.ts";
import type { SettleTimes } from "./settler.ts";

/** A result with what is to be kept of how it came about. */
export type ToldResult = TaskResult & {
  /** Undefined where the job keeps no pages. */
  run: Run | undefined;
  /** The lease, where it ended without a page. */
  tried: TryWrite | undefined;
  /** What was to be done with the page. */
  step: TaskKind;
  /** How it ended: a retry after the last one is the end. */
  fate: TaskOutcome["kind"];
  /** From lease to result. */
  tookMs: number;
  /** Called once it is written and counted. */
  settled(times: SettleTimes): void;
  /** Called where it came too late: the lease had gone. */
  lost?(times: SettleTimes): void;
};

/** One lease under way. */
export type Telling = {
  /** The job is known. */
  planned(spec: JobSpec): void;
  /** The same, with fetchers that tell what they fetch if anybody wants to hear it. */
  listenTo(deps: RunTaskDeps): RunTaskDeps;
  ended(result: TaskResult): ToldResult;
};

export type Teller = {
  began(grant: Grant): Telling;
  /** What is to be kept of leases that are handed back untouched. */
  returned(claims: readonly Claim[]): TryWrite[];
};

/** Leases without a result that are remembered: those that are lost to others are never handed back. */
const OPEN_MOST = 2_000;

type Open = { grant: Grant; leasedAt: number; spec: JobSpec | undefined };

export function createTeller(
  { clock, log }: { clock: Pick<Clock, "now">; log: Log },
  { worker }: { worker: string },
): Teller {
  const open = new Map<string, Open>();

  function runOf({ grant, leasedAt }: Open): Run {
    return { worker, step: grant.kind, attempt: grant.attempt, leasedAt, endedAt: clock.now() };
  }

  /** The log of one task; made only for those of which something is written. */
  function logOf({ grant, spec }: Open): Log {
    const { jobId, taskId, attempt, url } = grant;
    return log.child({ requestId: spec?.requestId, jobId, taskId, workerId: worker, attempt, url });
  }

  function listening(fetcher: Fetcher, lease: Open): Fetcher {
    return {
      async fetch(request) {
        const startedAt = clock.now();
        const outcome = await fetcher.fetch(request);
        logOf(lease).debug("task.fetched", { ...toldOf(outcome), ms: Math.round(clock.now() - startedAt) });
        return outcome;
      },
      close: () => fetcher.close(),
    };
  }

  function sayEnd(lease: Open, { settlement }: TaskResult): void {
    const { outcome, tally, discovered } = settlement;
    if ((outcome.kind === "retry" || outcome.kind === "dead") && log.isOn("info")) {
      const { kind, because, ...how } = asItEnds(outcome, lease);
      logOf(lease).info(kind === "dead" ? "task.dead" : "task.retry", { because, ...how });
    }
    if (!log.isOn("debug")) return;
    const ms = Math.round(clock.now() - lease.leasedAt);
    const { records } = tally;
    logOf(lease).debug("task.settled", { outcome: outcome.kind, records, links: discovered.length, ms });
  }

  return {
    began(grant) {
      const lease: Open = { grant, leasedAt: clock.now(), spec: undefined };
      const key = claimKey(grant);
      open.set(key, lease);
      const [oldest] = open.size > OPEN_MOST ? open.keys() : [];
      if (oldest !== undefined) open.delete(oldest);
      return {
        planned(spec) {
          lease.spec = spec;
          if (log.isOn("debug")) logOf(lease).debug("task.leased", { token: grant.token, depth: grant.depth });
        },
        listenTo(deps) {
          if (!log.isOn("debug")) return deps;
          return { ...deps, fetcher: listening(deps.fetcher, lease), renderer: listening(deps.renderer, lease) };
        },
        ended(result) {
          open.delete(key);
          const run = keepsTries(lease) ? runOf(lease) : undefined;
          const tried = run === undefined ? undefined : triedOf(lease, result, run);
          const { outcome } = result.settlement;
          const fate = outcome.kind === "retry" ? asItEnds(outcome, lease).kind : outcome.kind;
          const tookMs = clock.now() - lease.leasedAt;
          return { ...result, run, tried, step: grant.kind, fate, tookMs, settled: () => sayEnd(lease, result) };
        },
      };
    },
    returned(claims) {
      const leases = claims.flatMap((claim) => open.get(claimKey(claim)) ?? []);
      for (const claim of claims) open.delete(claimKey(claim));
      return leases.filter(keepsTries).map((lease) => tryOf(lease, runOf(lease), RETURNED));
    },
  };
}

const RETURNED = { fate: "returned", because: "the worker stopped and handed it back" } as const;

/** Of a job that could not be read nobody knows what it keeps: better a try too many than a riddle. */
function keepsTries({ spec }: Open): boolean {
  return spec?.keep.pages ?? true;
}

function triedOf(lease: Open, { settlement, write, parcel }: TaskResult, run: Run): TryWrite | undefined {
  const { outcome, discovered } = settlement;
  if (outcome.kind === "done") {
    if (write !== undefined) return undefined;
    const because = `left to ${discovered[0]?.kind ?? "nobody"}`;
    return tryOf(lease, run, { fate: "passed", because, status: parcel?.page.status });
  }
  if (outcome.kind === "refused") return tryOf(lease, run, { fate: "refused", because: outcome.because });
  const { kind, because, status, detail } = asItEnds(outcome, lease);
  return tryOf(lease, run, { fate: kind, because, status, detail });
}

type Ending = Pick<TryWrite, "fate" | "because"> & { status?: number | undefined; detail?: string | undefined };

function tryOf({ grant }: Open, run: Run, { fate, because, status, detail }: Ending): TryWrite {
  const { jobId, taskId, token, url } = grant;
  return { jobId, taskId, token, url, run, fate, because, status, detail };
}

type Ended = { kind: "retry" | "dead"; because: string; status?: number; detail?: string };

/** A retry after the last one is the end: the frontier will say so too. */
export function asItEnds(
  outcome: TaskOutcome & { kind: "retry" | "dead" },
  { grant, spec }: Pick<Open, "grant" | "spec">,
): Ended {
  const isLast = outcome.kind === "retry" && spec !== undefined && grant.attempt > spec.retries.max;
  return isLast ? { ...outcome, kind: "dead" } : outcome;
}

function toldOf(outcome: FetchOutcome): LogFields {
  switch (outcome.kind) {
    case "page":
    case "unchanged":
      return { status: outcome.page.status, bytes: outcome.page.bodyBytes };
    case "redirect":
      return { status: outcome.page.status, to: outcome.to };
    case "retry":
    case "dead":
      return { failed: outcome.because, status: outcome.status, detail: outcome.detail };
  }
}
