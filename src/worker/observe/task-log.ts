/** Writes log lines about tasks. Each line contains the ids that `trawl trace` and other logs use. */
import type { FetchOutcome } from "../../fetch/fetcher.ts";
import type { Log, LogFields } from "../../runtime/log.ts";
import type { Attempt, TaskObserver } from "./task-observer.ts";

export function createTaskLog(log: Log, { worker }: { worker: string }): TaskObserver {
  const isDebug = log.isOn("debug");

  /** Creates a log with the ids of an attempt. Called only for attempts that write a line. */
  function logOf({ grant, plan }: Attempt): Log {
    const { jobId, taskId, attempt, url } = grant;
    return log.child({ requestId: plan?.spec.requestId, jobId, taskId, workerId: worker, attempt, url });
  }

  return {
    planned: isDebug
      ? (attempt) => logOf(attempt).debug("task.leased", { token: attempt.grant.token, depth: attempt.grant.depth })
      : undefined,
    fetched: isDebug
      ? (attempt, { outcome, startedAt, endedAt }) =>
          logOf(attempt).debug("task.fetched", { ...fieldsOf(outcome), ms: Math.round(endedAt - startedAt) })
      : undefined,
    settled: log.isOn("info")
      ? (attempt, { settlement: { outcome, tally, discovered }, state }) => {
          if (outcome.kind === "retry" || outcome.kind === "dead") {
            const { kind, ...reason } = outcome;
            logOf(attempt).info(`task.${state}`, reason);
          }
          if (!isDebug) return;
          const ms = Math.round(attempt.endedAt - attempt.leasedAt);
          const counts = { records: tally.records, links: discovered.length };
          logOf(attempt).debug("task.settled", { outcome: outcome.kind, ...counts, ms });
        }
      : undefined,
    lost: ({ grant }) => log.warn("worker.lease_lost", { taskId: grant.taskId }),
  };
}

function fieldsOf(outcome: FetchOutcome): LogFields {
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
