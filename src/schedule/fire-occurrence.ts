/**
 * Fires one claimed occurrence: submits its job, unless the previous run is in progress and the overlap policy is
 * `skip` or `queue`. Called by schedulers, and for manual runs. If the process crashes, the occurrence stays claimed
 * until the claim expires. Then another process continues:
 *
 * - If the decision to fire was not stored, it decides again.
 * - If the decision was stored, it submits the job and never skips it. The job id is derived from the schedule and the
 *   occurrence, so a second submission, even by the first process after its claim expired, finds the job and adds
 *   nothing.
 */
import { hash } from "node:crypto";
import { hasEnded } from "../domain/job.ts";
import type { JobSpec } from "../domain/job-spec.ts";
import type { OccurrenceKey, SkipReason } from "../domain/schedule.ts";
import { isTrawlError } from "../errors.ts";
import type { Frontier } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import { type Tracing, traceSubmission } from "../runtime/tracing.ts";
import type { RequestBodies } from "../store/bodies/bodies.ts";
import type { Occurrence, OccurrenceClaim, Schedule, ScheduleStore } from "../store/schedule-store.ts";
import { submitList } from "../submit/broker-intake.ts";
import type { JobInput } from "../submit/job-schema.ts";
import { type JobDefaults, parseJob, resolveJob } from "../submit/resolve-job.ts";
import { startEntries } from "../submit/url-entry.ts";
import { setOfSchedule, withTenant } from "../submit/with-tenant.ts";

export type FireDeps = {
  scheduleStore: ScheduleStore;
  frontier: Frontier & FrontierAdmin;
  requestBodies: RequestBodies;
  clock: Clock;
  log: Log;
  openTracing(): Promise<Tracing>;
  jobDefaults: JobDefaults;
  /** Throws BAD_SELECTOR if the job's rules cannot be compiled. */
  checkRules(spec: JobSpec): void;
  /** Returns why a job of the tenant with this many URLs cannot be submitted now. If it can, counts it in the quota. */
  findObstacle(tenant: string, jobId: string, urls: number): Promise<OccurrenceObstacle | undefined>;
  /** Records the owner of a job, before the job is created. */
  recordOwner(tenant: string, jobId: string): Promise<void>;
  /** Stores the webhook, before the job is created. */
  registerWebhook(webhook: JobInput["webhook"], jobId: string): Promise<string | undefined>;
};

/** A used-up quota or a missing key. `isPermanent`: the job can never be submitted, however long it waits. */
export type OccurrenceObstacle = { because: string; isPermanent: boolean };

/** The delay before the next attempt of an occurrence that waits or could not be submitted. */
const RETRY_MS = 5_000;

/** Fires a claimed occurrence. Never rejects: an occurrence that could not be fired is released, and fired later. */
export async function fireOccurrence(deps: FireDeps, claim: OccurrenceClaim): Promise<void> {
  const { scheduleStore, clock, log } = deps;
  const { scheduleId, at } = claim.occurrence;
  try {
    await fire(deps, claim);
  } catch (cause) {
    log.warn("schedule.fire_failed", { scheduleId, occurrenceAt: at, cause });
    const waiting = `could not be submitted: ${(cause as Error).message}`;
    // If the release fails as well, the claim expires.
    await scheduleStore.release(claim, instant(clock) + RETRY_MS, waiting).catch(() => {});
  }
}

async function fire(deps: FireDeps, claim: OccurrenceClaim): Promise<void> {
  const { scheduleStore, clock, log } = deps;
  const { occurrence, schedule } = claim;
  const previousRun = await findPreviousRun(deps, occurrence);
  if (occurrence.state === "waiting") {
    if (schedule.paused && occurrence.kind === "timed") {
      await skip(deps, claim, "paused");
      return;
    }
    if (previousRun !== undefined && schedule.overlap !== "replace") {
      await skipOrWait(deps, claim, previousRun);
      return;
    }
    // With overlap `replace`, the new run uses the quota of the previous run.
    if (previousRun === undefined && (await isBlocked(deps, claim))) return;
    if (!(await scheduleStore.decide(claim))) return; // another process has claimed it
  }
  if (previousRun !== undefined && schedule.overlap === "replace") await cancel(deps, previousRun);
  const jobId = occurrenceJobId(occurrence);
  try {
    await submit(deps, claim, jobId);
  } catch (cause) {
    if (!isTrawlError(cause, "BAD_JOB", "BAD_SELECTOR", "BAD_SPIDER")) throw cause;
    // A retry would fail again: a setting that the job needs has changed.
    log.error("schedule.job_refused", { scheduleId: occurrence.scheduleId, occurrenceAt: occurrence.at, cause });
    await scheduleStore.settle(claim, { state: "failed", because: cause.message }, instant(clock));
    return;
  }
  if (await scheduleStore.settle(claim, { state: "fired", jobId }, instant(clock))) {
    log.info("schedule.fired", { scheduleId: occurrence.scheduleId, occurrenceAt: occurrence.at, jobId });
  }
}

/** The job of the last occurrence that was fired before this one, if the job has not ended. */
async function findPreviousRun(
  { scheduleStore, frontier }: FireDeps,
  occurrence: Occurrence,
): Promise<string | undefined> {
  const jobId = (await scheduleStore.findFiredBefore(occurrence))?.jobId;
  const job = jobId === undefined ? undefined : await frontier.findJob(jobId);
  return job === undefined || hasEnded(job.state) ? undefined : job.id;
}

async function skipOrWait(deps: FireDeps, claim: OccurrenceClaim, previousRun: string): Promise<void> {
  if (claim.schedule.overlap === "skip") return skip(deps, claim, "overlap");
  const { scheduleStore, clock } = deps;
  await scheduleStore.release(claim, instant(clock) + RETRY_MS, `waits for the previous run: job ${previousRun}`);
}

/**
 * Returns true if a quota or a missing key prevents the occurrence. In that case the occurrence is released with the
 * reason, and later occurrences of the schedule wait for it. If the obstacle is permanent, the occurrence fails.
 */
async function isBlocked(deps: FireDeps, claim: OccurrenceClaim): Promise<boolean> {
  const { scheduleStore, clock, log } = deps;
  const { occurrence, schedule } = claim;
  if (schedule.tenant === undefined) return false;
  const urls = startEntries(parseJob(schedule.job));
  const obstacle = await deps.findObstacle(schedule.tenant, occurrenceJobId(occurrence), urls.length);
  if (obstacle === undefined) return false;
  log.warn("schedule.quota_reached", {
    scheduleId: occurrence.scheduleId,
    occurrenceAt: occurrence.at,
    because: obstacle.because,
  });
  const { because } = obstacle;
  if (!obstacle.isPermanent) await scheduleStore.release(claim, instant(clock) + RETRY_MS, `waits for ${because}`);
  else if (await scheduleStore.decide(claim))
    await scheduleStore.settle(claim, { state: "failed", because }, instant(clock));
  return true;
}

async function skip(
  { scheduleStore, clock, log }: FireDeps,
  claim: OccurrenceClaim,
  because: SkipReason,
): Promise<void> {
  const { scheduleId, at } = claim.occurrence;
  if (!(await scheduleStore.settle(claim, { state: "skipped", because }, instant(clock)))) return;
  log.info("schedule.skipped", { scheduleId, occurrenceAt: at, because });
}

async function cancel({ frontier }: FireDeps, jobId: string): Promise<void> {
  try {
    await frontier.cancel(jobId);
  } catch (cause) {
    if (!isTrawlError(cause, "JOB_ENDED", "NOT_FOUND")) throw cause; // with these two codes, the job has ended already
  }
}

async function submit(deps: FireDeps, { occurrence, schedule }: OccurrenceClaim, jobId: string): Promise<void> {
  const { frontier, clock, requestBodies } = deps;
  const findJob = async (id: string) => {
    const job = await frontier.findJob(id);
    return job === undefined ? undefined : { ...job, archived: false };
  };
  const before = await findJob(jobId);
  if (before?.sealed === true) return;
  const spec = before?.spec ?? specOf(deps, schedule, occurrence, jobId);
  const job = parseJob(schedule.job);
  const [urls, { webhook }] = [startEntries(job), job];
  const submitDeps = {
    ...{ frontier, lookUp: findJob, now: () => clock.now(), requestBodies },
    async admit() {
      if (schedule.tenant !== undefined) await deps.recordOwner(schedule.tenant, jobId);
    },
    addWebhook: () => deps.registerWebhook(webhook, jobId),
  };
  const attributes = { "trawl.job.id": jobId, "trawl.schedule.id": occurrence.scheduleId };
  try {
    const { full, accepted, duplicates } = await traceSubmission(
      await deps.openTracing(),
      { requestId: spec.requestId, attributes },
      () => submitList(submitDeps, spec, urls, "occurrence"),
    );
    if (full !== undefined) {
      throw new Error(`the broker is full; ${accepted + duplicates} of ${urls.length} URLs are queued`);
    }
  } catch (cause) {
    // Another process has sealed or cancelled the job.
    if (!isTrawlError(cause, "JOB_ENDED")) throw cause;
  }
}

function specOf(deps: FireDeps, schedule: Schedule, { scheduleId, at }: Occurrence, jobId: string): JobSpec {
  const job = parseJob(schedule.job);
  const recrawlSet = setOfSchedule(scheduleId);
  const context = { id: jobId, requestId: `r${jobId}`, queue: undefined, typedHosts: [], out: undefined, recrawlSet };
  const resolved = resolveJob({ ...job, name: job.name ?? schedule.name }, deps.jobDefaults, context);
  const spec = { ...withTenant(resolved, schedule.tenant), slot: { scheduleId, at } };
  deps.checkRules(spec);
  return spec;
}

/** The id of the occurrence's job. Every process that fires the occurrence computes the same id. */
function occurrenceJobId({ scheduleId, at, kind }: OccurrenceKey): string {
  return `js${hash("sha256", `${scheduleId}\n${kind}\n${at}`).slice(0, 24)}`;
}

/** The current time in whole milliseconds, as the store requires. */
function instant(clock: Clock): number {
  return Math.floor(clock.now());
}
