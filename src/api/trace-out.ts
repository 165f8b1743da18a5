/** Traces as the API answers and as `--json` prints them, without secrets. Apart from the schemas, as job-out.ts is. */
import type { Hearing } from "../frontier/frontier-admin.ts";
import { createRedact } from "../runtime/redact.ts";
import type { JobTrace } from "../trace/job-trace.ts";
import type { Lease, Story } from "../trace/story.ts";
import { storyLines } from "../trace/story-lines.ts";
import type { Trace } from "../trace/trace.ts";
import { deadOut } from "./dead-out.ts";
import { jobOut } from "./job-out.ts";
import type { JobTraceOut, LeaseOut, StoryOut, TraceOut } from "./wire-trace.ts";

const redact = createRedact([]);

/** Who worked is for whom hears of all: workers are everybody's. */
export function traceOut(
  { stories, jobs, more }: Trace,
  { now, hearing }: { now: number; hearing: Hearing },
): TraceOut {
  return {
    stories: stories.map((story) => redact.value(storyOut(story, hearing)) as StoryOut),
    jobs: jobs.map((trace) => redact.value(jobTraceOut(trace, now, hearing)) as JobTraceOut),
    more,
  };
}

function storyOut(story: Story, hearing: Hearing): StoryOut {
  const { url, job, requestId, tasks, state, waits } = story;
  return {
    url,
    job: job.id,
    jobState: job.state,
    requestId: requestId ?? null,
    submittedAt: iso(job.createdAt),
    state: state ?? null,
    waits: [...waits],
    lines: storyLines(story, hearing).map(({ at, kind, words }) => ({ at: isoOf(at), kind, words })),
    tasks: tasks.map(({ taskId, step, leases }) => ({
      taskId,
      step,
      leases: leases.map((lease) => leaseOut(lease, hearing)),
    })),
  };
}

function jobTraceOut({ job, waits, tries, slowest, dead }: JobTrace, now: number, hearing: Hearing): JobTraceOut {
  return {
    job: jobOut(job, now),
    waits: [...waits],
    tries: tries.map(({ status = null, ...group }) => ({ ...group, status })),
    slowest: slowest.map(({ taskId, url, status, tookMs, run }) => ({
      taskId,
      url,
      status,
      tookMs: Math.round(tookMs),
      worker: workerOut(run?.worker, hearing),
      leaseMs: run === undefined ? null : Math.round(run.endedAt - run.leasedAt),
    })),
    dead: dead.map(deadOut),
  };
}

function leaseOut(lease: Lease, hearing: Hearing): LeaseOut {
  const { token } = lease;
  if (lease.kind === "lost") return { kind: "lost", token };
  const { step = null, attempt = null } = lease;
  const worker = workerOut(lease.worker, hearing);
  const run = { token, worker, step, attempt, leasedAt: isoOf(lease.leasedAt), endedAt: isoOf(lease.endedAt) };
  if (lease.kind === "try") {
    const { fate, because, status = null, detail = null } = lease;
    return { kind: "try", ...run, fate, because, status, detail };
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

function workerOut(worker: string | undefined, hearing: Hearing): string | null {
  return hearing === "own" ? null : (worker ?? null);
}

function isoOf(at: number | undefined): string | null {
  return at === undefined ? null : iso(at);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
