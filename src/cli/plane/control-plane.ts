/**
 * What commands need of a control plane. There are two: `direct-plane.ts` works on broker and store themselves,
 * `remote-plane.ts` asks a server that has them. Commands know neither, and say the same with both.
 */
import type { JobChange } from "../../api/change-job.ts";
import type { Explained } from "../../api/explain-target.ts";
import type { JobFilter } from "../../api/job-filter.ts";
import type { KeyDraft } from "../../api/keys/new-key.ts";
import type { QueueOut, SiteOut } from "../../api/wire-fleet.ts";
import type { HistoryPointOut } from "../../api/wire-history.ts";
import type { TraceOut } from "../../api/wire-trace.ts";
import type { JobOut, JobSiteOut } from "../../api/wire-types.ts";
import type { WebhookOut } from "../../api/wire-webhooks.ts";
import type { AskedOrder } from "../../frontier/frontier.ts";
import type { DeadFilter, DeadGroup, DeadLetter, ExplainTarget, WorkerView } from "../../frontier/frontier-admin.ts";
import type { OrderAnswer } from "../../frontier/order-workers.ts";
import type { ScheduleInput } from "../../schedule/schedule-schema.ts";
import type { ApiKey } from "../../store/key-book.ts";
import type { ShownSchedule, Slot } from "../../store/schedule-book.ts";
import type { Store } from "../../store/store.ts";
import type { JobInput } from "../../submit/job-schema.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import type { Intake } from "../../submit/submit-stream.ts";
import type { TraceTarget } from "../../trace/find-traced.ts";

export type Steering = "pause" | "resume" | "cancel";

export type ControlPlane = {
  findJob(id: string): Promise<JobOut | undefined>;
  /** Newest first, those that fit. */
  listJobs(limit: number, filter: JobFilter): Promise<readonly JobOut[]>;
  steer(id: string, verb: Steering): Promise<JobOut>;
  /** Throws NOT_FOUND, JOB_ENDED or LIMIT_FIXED. */
  changeJob(id: string, change: JobChange): Promise<JobOut>;
  /** With all that came of it. `isWhole`: nothing of it is left; else the rest is removed after this. */
  deleteJob(id: string, options: { cancel: boolean; signal: AbortSignal }): Promise<{ isWhole: boolean }>;
  /** By name. */
  listJobSites(job: JobOut, limit: number): Promise<readonly JobSiteOut[]>;
  findWebhook(jobId: string): Promise<WebhookOut | undefined>;
  listDead(filter: DeadFilter, limit: number): Promise<readonly DeadLetter[]>;
  groupDead(filter: DeadFilter, limit: number): Promise<readonly DeadGroup[]>;
  /** All that the filter names; the answer is how many. */
  replayDead(filter: DeadFilter, perSecond: number): Promise<number>;
  discardDead(filter: DeadFilter): Promise<number>;
  explain(target: ExplainTarget): Promise<Explained>;
  /** Throws NOT_FOUND. */
  trace(target: TraceTarget): Promise<TraceOut>;
  listWorkers(): Promise<readonly WorkerView[]>;
  /** By the name of a worker, or of a supervisor. Throws NOT_FOUND, BAD_REQUEST or ORDER_REFUSED. */
  orderWorkers(name: string, order: AskedOrder): Promise<OrderAnswer>;
  /** Those on which something waits, and those that somebody serves. */
  listQueues(): Promise<readonly QueueOut[]>;
  /** Those for which most waits first; then, where these are few, others by name. */
  listTopSites(limit: number): Promise<readonly SiteOut[]>;
  /** What the fleet did in the last ten minutes, a point for every ten seconds. */
  readHistory(): Promise<readonly HistoryPointOut[]>;
  records: Pick<Store, "readRecords" | "readInvalid">;
  keys: KeyDesk;
  schedules: ScheduleDesk;
  /** Where a submission goes: a job of its own, or one that is there. */
  openIntake(asked: NewIntake): Promise<Intake>;
  /** How often a job that somebody follows is looked at. */
  lookEveryMs: number;
};

export type KeyDesk = {
  list(): Promise<readonly ApiKey[]>;
  add(draft: KeyDraft): Promise<{ key: ApiKey; secret: string }>;
  revoke(id: string): Promise<ApiKey>;
};

export type ScheduleDesk = {
  list(): Promise<readonly ShownSchedule[]>;
  /** Throws NOT_FOUND. */
  get(id: string): Promise<ShownSchedule>;
  add(input: ScheduleInput): Promise<ShownSchedule>;
  pause(id: string): Promise<ShownSchedule>;
  resume(id: string): Promise<ShownSchedule>;
  runNow(id: string): Promise<Slot>;
  remove(id: string): Promise<void>;
  next(id: string, most: number): Promise<readonly number[]>;
  /** Newest first. */
  listRuns(id: string, limit: number): Promise<readonly Slot[]>;
};

export type NewIntake = {
  /** The id of a job that is there already, and gone on with; of the rest, nothing counts then. */
  resume: string | undefined;
  /** As it would be made here. */
  spec: JobSpec;
  /** As written, with all choices that were made on the command line. */
  job: JobInput;
  /** All its URLs that are good, where they are few. */
  urls: readonly string[] | undefined;
  /** The same key again is the same job. */
  key: string | undefined;
  /** What is said of it is the caller's own word, if it gave one. */
  requestId: string | undefined;
};
