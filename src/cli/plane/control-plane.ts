/**
 * The operations that commands use. There are two implementations: `direct-plane.ts` uses the broker and the store,
 * `remote-plane.ts` calls a server over HTTP. A command prints the same output with both.
 */

import type {
  HistoryPointOut,
  JobDetailOut,
  JobOut,
  JobSiteOut,
  QueueOut,
  SiteOut,
  TraceOut,
  WebhookOut,
} from "../../client/wire-types.ts";
import type { JobChange } from "../../control/change-job.ts";
import type { ControlAction } from "../../control/control-job.ts";
import type { Explained } from "../../control/explain-target.ts";
import type { JobFilter } from "../../control/list-jobs.ts";
import type { KeyInput } from "../../control/new-key.ts";
import type { JobSpec } from "../../domain/job-spec.ts";
import type { OperatorCommand } from "../../frontier/frontier.ts";
import type { DeadFilter, DeadLetter, ExplainTarget, WorkerView } from "../../frontier/frontier-admin.ts";
import { jobNotFound } from "../../frontier/job-errors.ts";
import type { CommandResult } from "../../frontier/worker-commands.ts";
import type { ScheduleInput } from "../../schedule/schedule-schema.ts";
import type { ApiKey } from "../../store/key-store.ts";
import type { Occurrence, PublicSchedule } from "../../store/schedule-store.ts";
import type { Store } from "../../store/store.ts";
import type { JobInput } from "../../submit/job-schema.ts";
import type { Intake } from "../../submit/submit-urls.ts";
import type { DeadGroupWithCause } from "../../trace/dead-causes.ts";
import type { TraceTarget } from "../../trace/find-traced.ts";

export type ControlPlane = {
  findJob(id: string): Promise<JobDetailOut | undefined>;
  /** The jobs that match the filter, newest first. */
  listJobs(limit: number, filter: JobFilter): Promise<readonly JobOut[]>;
  /** Throws NOT_FOUND, JOB_ARCHIVED, JOB_ENDED or CRAWL_STOPPED. */
  controlJob(id: string, verb: ControlAction): Promise<JobOut>;
  /** Throws NOT_FOUND, JOB_ENDED or LIMIT_FIXED. */
  changeJob(id: string, change: JobChange): Promise<JobOut>;
  /**
   * Deletes a job and its results. `isWhole` is true if everything is removed. Otherwise, the server removes the rest
   * later.
   */
  deleteJob(id: string, options: { cancel: boolean; signal: AbortSignal }): Promise<{ isWhole: boolean }>;
  /** Sorted by name. */
  listJobSites(job: JobOut, limit: number): Promise<readonly JobSiteOut[]>;
  findWebhook(jobId: string): Promise<WebhookOut | undefined>;
  listDead(filter: DeadFilter, limit: number): Promise<readonly DeadLetter[]>;
  groupDead(filter: DeadFilter, limit: number): Promise<readonly DeadGroupWithCause[]>;
  /** Queues all matching dead letters again. Returns their number. */
  replayDead(filter: DeadFilter, perSecond: number): Promise<number>;
  discardDead(filter: DeadFilter): Promise<number>;
  explain(target: ExplainTarget): Promise<Explained>;
  /** Throws NOT_FOUND. */
  trace(target: TraceTarget): Promise<TraceOut>;
  listWorkers(): Promise<readonly WorkerView[]>;
  /** `name`: a worker or a supervisor. Throws NOT_FOUND, BAD_REQUEST or COMMAND_REFUSED. */
  sendWorkerCommand(name: string, command: OperatorCommand): Promise<CommandResult>;
  /** The queues that have waiting tasks or are served by a worker. */
  listQueues(): Promise<readonly QueueOut[]>;
  /** First the sites with waiting URLs, the longest queue first; then, up to `limit`, other sites by name. */
  listTopSites(limit: number): Promise<readonly SiteOut[]>;
  /** The last ten minutes of the fleet, one point per ten seconds. */
  readHistory(): Promise<readonly HistoryPointOut[]>;
  records: Pick<Store, "readRecords" | "readInvalid">;
  keys: KeyControl;
  schedules: ScheduleControl;
  /** Opens a new job, or an existing one, for URLs. */
  openIntake(request: IntakeRequest): Promise<Intake>;
  /** How often a command that follows a job should poll it. */
  pollEveryMs: number;
};

export type KeyControl = {
  list(): Promise<readonly ApiKey[]>;
  add(draft: KeyInput): Promise<{ key: ApiKey; secret: string }>;
  revoke(id: string): Promise<ApiKey>;
};

export type ScheduleControl = {
  list(): Promise<readonly PublicSchedule[]>;
  /** Throws NOT_FOUND. */
  get(id: string): Promise<PublicSchedule>;
  add(input: ScheduleInput): Promise<PublicSchedule>;
  pause(id: string): Promise<PublicSchedule>;
  resume(id: string): Promise<PublicSchedule>;
  runNow(id: string): Promise<Occurrence>;
  remove(id: string): Promise<void>;
  next(id: string, max: number): Promise<readonly number[]>;
  /** Newest first. */
  listRuns(id: string, limit: number): Promise<readonly Occurrence[]>;
};

export type IntakeRequest = {
  /** The id of an existing job to continue. The other fields are then ignored. */
  resume: string | undefined;
  /** The job as this process would create it. */
  spec: JobSpec;
  /** The job as the user wrote it, without its URLs. Flags of the command line are applied. */
  job: JobInput;
  /** The valid URLs among the first DIGEST_URLS of the list. */
  urls: readonly string[];
  /** The idempotency key. */
  key: string | undefined;
  /** The request id that the user gave, if any. */
  requestId: string | undefined;
};

/** Throws NOT_FOUND. */
export async function getJob(plane: Pick<ControlPlane, "findJob">, jobId: string): Promise<JobDetailOut> {
  const job = await plane.findJob(jobId);
  if (job === undefined) throw jobNotFound(jobId, "cli");
  return job;
}

/** How far back `readHistory` reads. */
export const HISTORY_MS = 600_000;

/** The sites in `busy`, followed by other sites, up to `limit`. */
export async function withOtherSites<T extends { site: string }>(
  busy: readonly T[],
  limit: number,
  list: () => Promise<readonly T[]>,
): Promise<T[]> {
  if (busy.length >= limit) return [...busy];
  const known = new Set(busy.map(({ site }) => site));
  const others = (await list()).filter(({ site }) => !known.has(site));
  return [...busy, ...others].slice(0, limit);
}
