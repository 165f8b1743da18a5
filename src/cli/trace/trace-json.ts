/** Traces as `--json` prints them. */

import { jobOut } from "../../api/job-out.ts";
import { createRedact } from "../../runtime/redact.ts";
import { rounded } from "../../runtime/rounded.ts";
import type { JobTrace } from "./job-trace.ts";
import type { Lease, Story } from "./story.ts";

const redact = createRedact([]);

export function storiesJson(stories: readonly Story[]): string {
  return line({
    stories: stories.map(({ url, job, requestId, tasks, state, waits }) => ({
      url,
      job: job.id,
      requestId: requestId ?? null,
      submittedAt: iso(job.createdAt),
      state: state ?? null,
      waits,
      tasks: tasks.map(({ taskId, step, leases }) => ({ taskId, step, leases: leases.map(leaseJson) })),
    })),
  });
}

export function jobsJson(traces: readonly JobTrace[], now: number): string {
  return line({
    jobs: traces.map(({ job, waits, tries, slowest, dead }) => ({
      ...jobOut(job, now),
      waits,
      tries,
      slowest: slowest.map(({ taskId, url, status, tookMs, run }) => ({
        taskId,
        url,
        status,
        tookMs,
        worker: run?.worker,
        leaseMs: run === undefined ? undefined : run.endedAt - run.leasedAt,
      })),
      dead: dead.map(({ taskId, url, reason, status, history }) => ({ taskId, url, reason, status, history })),
    })),
  });
}

function leaseJson(lease: Lease): object {
  if (lease.kind === "lost") return lease;
  const times = { leasedAt: isoOf(lease.leasedAt), endedAt: isoOf(lease.endedAt) };
  if (lease.kind === "try") return { ...lease, ...times };
  const { page, ...run } = lease;
  const { status, bodyBytes, bodyRef, records, invalid, fetchedAt, tookMs, headers } = page;
  const sentAt = iso(fetchedAt - tookMs);
  const kept = { bodyRef: bodyRef ?? null, records, invalid, location: headers.location };
  return { ...run, ...times, sentAt, fetchedAt: iso(fetchedAt), tookMs, status, bytes: bodyBytes, ...kept };
}

function line(value: object): string {
  return `${JSON.stringify(redact.value(value), rounded)}\n`;
}

function isoOf(at: number | undefined): string | undefined {
  return at === undefined ? undefined : iso(at);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
