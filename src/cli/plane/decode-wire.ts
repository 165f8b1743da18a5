/** Converts responses of a server to the types that commands use: instants as numbers, null as undefined. */

import type {
  DeadGroupOut,
  DeadOut,
  ExplanationOut,
  KeyOut,
  RecordOut,
  RunOut,
  ScheduleOut,
  WorkerOut,
} from "../../client/wire-types.ts";
import type { Explained } from "../../control/explain-target.ts";
import { parseDurationMs } from "../../domain/duration.ts";
import type { DeadLetter, WorkerView } from "../../frontier/frontier-admin.ts";
import type { ApiKey } from "../../store/key-store.ts";
import type { Occurrence, PublicSchedule } from "../../store/schedule-store.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { DeadGroupWithCause } from "../../trace/dead-causes.ts";

export function deadFrom({ status, diedAt, history, cause: _, ...letter }: DeadOut): DeadLetter {
  return {
    ...letter,
    status: status ?? undefined,
    diedAt: Date.parse(diedAt),
    history: history.map(({ at, because, status: httpStatus, detail }) => ({
      ...{ at: Date.parse(at), because },
      ...(httpStatus === null ? {} : { status: httpStatus }),
      ...(detail === null ? {} : { detail }),
    })),
  };
}

/** The order of the keys here is their order in the output of `--json`. */
export function deadGroupFrom({ reason, site, status, count, sample, cause }: DeadGroupOut): DeadGroupWithCause {
  return { reason, site, status: status ?? undefined, count, sample, cause: cause ?? undefined };
}

export function explainedFrom({ until, tasks, ...rest }: ExplanationOut): Explained {
  return {
    ...rest,
    until: instant(until),
    tasks: tasks.map(({ step, ...task }) => ({ ...task, ...(step === null ? {} : { step }) })),
  };
}

export function workerFrom(out: WorkerOut): WorkerView {
  const { worker, version, queues, unknownSpiders, supervisor, startedAt, command } = out;
  const seenAt = Date.parse(out.seenAt);
  const known = { worker, version, queues, unknownSpiders, seenAt, ...(command === null ? {} : { command }) };
  // Workers of older versions do not report vitals.
  if (startedAt === null) return known;
  const { concurrency, busy, done, failed, rssBytes, maxMemoryBytes, maxTasks, eventLoopUse, recent, state, commands } =
    out;
  const vitals = {
    ...{
      concurrency: concurrency ?? 0,
      busy: busy ?? 0,
      done: done ?? 0,
      failed: failed ?? 0,
      rssBytes: rssBytes ?? 0,
    },
    upMs: seenAt - Date.parse(startedAt),
    ...(supervisor === null ? {} : { supervisor }),
    ...(maxMemoryBytes === null ? {} : { maxMemoryBytes }),
    ...(maxTasks === null ? {} : { maxTasks }),
    ...(eventLoopUse === null ? {} : { eventLoopUse }),
    ...(recent ? { recent: { ...recent, latencies: [] } } : {}),
    ...(state === null ? {} : { state, commands }),
  };
  return { ...known, vitals };
}

export function keyFrom({ tenant, quotas, state, ...key }: KeyOut): ApiKey {
  return {
    ...key,
    tenant: tenant ?? undefined,
    quotas: {
      pending: quotas.pending ?? undefined,
      urlsPerSecond: quotas.urlsPerSecond ?? undefined,
      jobs: quotas.jobs ?? undefined,
    },
    createdAt: Date.parse(key.createdAt),
    expiresAt: instant(key.expiresAt),
    lastUsedAt: instant(key.lastUsedAt),
    revokedAt: instant(key.revokedAt),
  };
}

export function scheduleFrom({ cron, timeZone, every, nextAt, createdAt, ...schedule }: ScheduleOut): PublicSchedule {
  const madeAt = Date.parse(createdAt);
  return {
    ...schedule,
    timing:
      cron === null
        ? { kind: "every", everyMs: parseDurationMs(every ?? "") ?? 0, anchorAt: madeAt }
        : { kind: "cron", cron, timeZone: timeZone ?? "UTC" },
    nextAt: instant(nextAt),
    createdAt: madeAt,
  };
}

export function runFrom(scheduleId: string, { at, because, jobId, endedAt, ...run }: RunOut): Occurrence {
  return {
    ...run,
    scheduleId,
    at: Date.parse(at),
    because: because ?? undefined,
    jobId: jobId ?? undefined,
    endedAt: instant(endedAt),
  };
}

/** Keys that start with `_` are metadata; the others are the fields. The task id is not part of the response. */
export function recordFrom(id: number, out: RecordOut): StoredRecord {
  const { _url: url, _status: status, _fetchedAt, _job: jobId, _depth: depth, ...fields } = out;
  const record = { ...{ id, jobId, taskId: "", url, status, depth }, fetchedAt: Date.parse(_fetchedAt) };
  return { ...record, fields: fields as StoredRecord["fields"] };
}

function instant(text: string | null): number | undefined {
  return text === null ? undefined : Date.parse(text);
}
