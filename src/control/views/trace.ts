/** Traces as the API returns them and as `--json` prints them, with secrets redacted. */
import type { JobState } from "../../domain/job.ts";
import type { TaskKind } from "../../domain/task.ts";
import type { Explanation, Visibility } from "../../frontier/frontier-admin.ts";
import { createRedact } from "../../runtime/redact.ts";
import type { AttemptOutcome } from "../../store/store.ts";
import type { JobTrace } from "../../trace/job-trace.ts";
import type { Lease, Timeline } from "../../trace/timeline.ts";
import { type LineKind, timelineLines } from "../../trace/timeline-lines.ts";
import type { Trace } from "../../trace/trace.ts";
import { type DeadOut, deadOut } from "./dead-letter.ts";
import { type JobOut, jobOut } from "./job.ts";

type LeaseRun = {
  token: number;
  worker: string | null;
  step: TaskKind | null;
  attempt: number | null;
  leasedAt: string | null;
  endedAt: string | null;
};

export type LeaseOut =
  | (LeaseRun & {
      kind: "attempt";
      outcome: AttemptOutcome;
      because: string;
      status: number | null;
      detail: string | null;
    })
  | (LeaseRun & {
      kind: "page";
      pageId: number;
      status: number;
      bytes: number;
      sentAt: string;
      fetchedAt: string;
      tookMs: number;
      location: string | null;
      records: number;
      invalid: number;
      bodyRef: string | null;
    })
  | { kind: "lost"; token: number };

export type TimelineOut = {
  url: string;
  job: string;
  jobState: JobState;
  requestId: string | null;
  submittedAt: string;
  state: Explanation["tasks"][number]["state"] | null;
  /** Sentences that say why the URL waits. Empty once it has ended. */
  waits: string[];
  lines: { at: string | null; kind: LineKind; text: string }[];
  tasks: { taskId: string; step: TaskKind; leases: LeaseOut[] }[];
};

export type JobTraceOut = {
  job: JobOut;
  /** Sentences that say why the job waits. Empty once it has ended. */
  waits: string[];
  /** Attempts that ended without a page, in groups. */
  attempts: {
    outcome: AttemptOutcome;
    because: string;
    status: number | null;
    count: number;
    /** The URL of one of the attempts. */
    sample: string;
  }[];
  slowest: {
    taskId: string;
    url: string;
    status: number;
    tookMs: number;
    worker: string | null;
    leaseMs: number | null;
  }[];
  dead: DeadOut[];
};

export type TraceOut = {
  timelines: TimelineOut[];
  jobs: JobTraceOut[];
  /** The number of results that were left out. */
  more: number;
};

const redact = createRedact([]);

/** The names of workers are included only if `visibility` is "all". */
export function traceOut(
  { timelines, jobs, more }: Trace,
  { now, visibility }: { now: number; visibility: Visibility },
): TraceOut {
  return {
    timelines: timelines.map((timeline) => redact.value(timelineOut(timeline, visibility)) as TimelineOut),
    jobs: jobs.map((trace) => redact.value(jobTraceOut(trace, now, visibility)) as JobTraceOut),
    more,
  };
}

function timelineOut(timeline: Timeline, visibility: Visibility): TimelineOut {
  const { url, job, requestId, tasks, state, waits } = timeline;
  return {
    url,
    job: job.id,
    jobState: job.state,
    requestId: requestId ?? null,
    submittedAt: iso(job.createdAt),
    state: state ?? null,
    waits: [...waits],
    lines: timelineLines(timeline, visibility).map(({ at, kind, text }) => ({ at: isoOrNull(at), kind, text })),
    tasks: tasks.map(({ taskId, step, leases }) => ({
      taskId,
      step,
      leases: leases.map((lease) => leaseOut(lease, visibility)),
    })),
  };
}

function jobTraceOut(
  { job, waits, attempts, slowest, dead }: JobTrace,
  now: number,
  visibility: Visibility,
): JobTraceOut {
  return {
    job: jobOut(job, now),
    waits: [...waits],
    attempts: attempts.map(({ status = null, ...group }) => ({ ...group, status })),
    slowest: slowest.map(({ taskId, url, status, tookMs, run }) => ({
      taskId,
      url,
      status,
      tookMs: Math.round(tookMs),
      worker: workerOut(run?.worker, visibility),
      leaseMs: run === undefined ? null : Math.round(run.endedAt - run.leasedAt),
    })),
    dead: dead.map(deadOut),
  };
}

function leaseOut(lease: Lease, visibility: Visibility): LeaseOut {
  const { token } = lease;
  if (lease.kind === "lost") return { kind: "lost", token };
  const { step = null, attempt = null } = lease;
  const worker = workerOut(lease.worker, visibility);
  const run = { token, worker, step, attempt, leasedAt: isoOrNull(lease.leasedAt), endedAt: isoOrNull(lease.endedAt) };
  if (lease.kind === "attempt") {
    const { outcome, because, status = null, detail = null } = lease;
    return { kind: "attempt", ...run, outcome, because, status, detail };
  }
  const { id, status, bodyBytes, bodyRef = null, records, invalid, fetchedAt, tookMs, headers } = lease.page;
  return {
    kind: "page",
    ...run,
    pageId: id,
    status,
    bytes: bodyBytes,
    sentAt: iso(fetchedAt - tookMs),
    fetchedAt: iso(fetchedAt),
    tookMs: Math.round(tookMs),
    location: headers.location ?? null,
    ...{ records, invalid, bodyRef },
  };
}

function workerOut(worker: string | undefined, visibility: Visibility): string | null {
  return visibility === "own" ? null : (worker ?? null);
}

function isoOrNull(at: number | undefined): string | null {
  return at === undefined ? null : iso(at);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
