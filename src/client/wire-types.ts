/** The types of requests and responses, for programs that use the client: scripts, the dashboard, the command line. */

export type { ExplanationOut } from "../api/wire/explain.ts";
export type { CommandOut, WorkerOut } from "../api/wire/fleet.ts";
export type { HistoryOut } from "../api/wire/history.ts";
export type { JobErrorsOut, NewJobOut, SubmissionOut, WrittenJobOut } from "../api/wire/jobs.ts";
export type { MeOut } from "../api/wire/keys.ts";
export type { ProxiesOut } from "../api/wire/proxies.ts";
export type {
  ExtractionPreviewOut,
  InvalidOut,
  OnePageOut,
  PageOut,
  RecordOut,
  ScrapeOut,
} from "../api/wire/results.ts";
export type { UpcomingOut } from "../api/wire/schedules.ts";
export type { SiteDetailOut, SitePolicyOut } from "../api/wire/sites.ts";
export type { JobChange } from "../control/change-job.ts";
export type { DeadGroupOut, DeadOut } from "../control/views/dead-letter.ts";
export type { QueueOut, SiteOut } from "../control/views/fleet.ts";
export type { HistoryPointOut, PaceOut } from "../control/views/history.ts";
export type { JobDetailOut, JobOut, JobSiteOut } from "../control/views/job.ts";
export type { KeyOut } from "../control/views/key.ts";
export type { RunOut, ScheduleOut } from "../control/views/schedule.ts";
export type { JobTraceOut, LeaseOut, TimelineOut, TraceOut } from "../control/views/trace.ts";
export type { WebhookOut } from "../control/views/webhook.ts";
export type { WrittenJob as JobInput } from "../submit/job-schema.ts";
