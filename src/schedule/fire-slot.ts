/**
 * Fires one claimed slot: submits its job, unless the run before is still under way and the schedule says to skip or wait.
 * Called by every scheduler, and by whoever asks for a run now. A crash leaves the slot claimed until that lapses; then
 * somebody else goes on:
 *
 * - before it was decided on: it is judged anew;
 * - after: it is submitted, never skipped. The job's id comes of the schedule and the slot, so that a second submission,
 *   even by a holder that was only slow, finds the job there and adds nothing.
 */
import { hash } from "node:crypto";
import { hasEnded } from "../domain/job.ts";
import type { SkipReason, SlotKey } from "../domain/schedule.ts";
import { isTrawlError } from "../errors.ts";
import type { Frontier } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import { type Tracing, traceSubmission } from "../runtime/tracing.ts";
import type { Schedule, ScheduleBook, Slot, SlotClaim } from "../store/schedule-book.ts";
import type { JobInput } from "../submit/job-schema.ts";
import type { JobSpec } from "../submit/job-spec.ts";
import { type JobDefaults, parseJob, resolveJob } from "../submit/resolve-job.ts";
import { submitJob } from "../submit/submit-job.ts";
import { setOfSchedule, withTenant } from "../submit/with-tenant.ts";

export type FireDeps = {
  book: ScheduleBook;
  frontier: Frontier & FrontierAdmin;
  clock: Clock;
  log: Log;
  openTracing(): Promise<Tracing>;
  jobDefaults: JobDefaults;
  /** Whether a job's rules can be read. Throws BAD_SELECTOR. */
  checkRules(spec: JobSpec): void;
  /** What keeps a tenant's slot of so many URLs from being fired, and takes what it needs where nothing does. */
  findObstacle(tenant: string, jobId: string, urls: number): Promise<SlotObstacle | undefined>;
  /** Notes whose a job is; before it is made, so that none is without. */
  noteOwner(tenant: string, jobId: string): Promise<void>;
  /** Notes whom it is to tell; before it is made as well. */
  noteWebhook(webhook: JobInput["webhook"], jobId: string): Promise<void>;
};

/** A quota, or the want of a key, in words; `isForGood`: waiting does not help. */
export type SlotObstacle = { because: string; isForGood: boolean };

/** How soon a slot is looked at again that waits for the run before, or could not be submitted. */
const AGAIN_MS = 5_000;

/** Never rejects: a slot that could not be fired for now is tried again. */
export async function fireSlot(deps: FireDeps, claim: SlotClaim): Promise<void> {
  const { book, clock, log } = deps;
  const { scheduleId, at } = claim.slot;
  try {
    await fire(deps, claim);
  } catch (cause) {
    log.warn("schedule.fire_failed", { scheduleId, slotAt: at, cause });
    const waiting = `could not be submitted: ${(cause as Error).message}`;
    // Should that fail as well, the claim lapses.
    await book.release(claim, instant(clock) + AGAIN_MS, waiting).catch(() => {});
  }
}

async function fire(deps: FireDeps, claim: SlotClaim): Promise<void> {
  const { book, clock, log } = deps;
  const { slot, schedule } = claim;
  const runBefore = await findRunBefore(deps, slot);
  if (slot.state === "waiting") {
    if (schedule.paused && slot.kind === "timed") {
      await skip(deps, claim, "paused");
      return;
    }
    if (runBefore !== undefined && schedule.overlap !== "replace") {
      await stepAside(deps, claim, runBefore);
      return;
    }
    // One that replaces the run before has what that had.
    if (runBefore === undefined && (await isHeldUp(deps, claim))) return;
    if (!(await book.decide(claim))) return; // it has gone to another
  }
  if (runBefore !== undefined && schedule.overlap === "replace") await cancel(deps, runBefore);
  const jobId = slotJobId(slot);
  try {
    await submit(deps, claim, jobId);
  } catch (cause) {
    if (!isTrawlError(cause, "BAD_JOB", "BAD_SELECTOR", "BAD_SPIDER")) throw cause;
    // It will not be better the next time: what the job needs has changed since it was written.
    log.error("schedule.job_refused", { scheduleId: slot.scheduleId, slotAt: slot.at, cause });
    await book.settle(claim, { state: "failed", because: cause.message }, instant(clock));
    return;
  }
  if (await book.settle(claim, { state: "fired", jobId }, instant(clock))) {
    log.info("schedule.fired", { scheduleId: slot.scheduleId, slotAt: slot.at, jobId });
  }
}

/** The id of the job of the slot before, while that has not ended. */
async function findRunBefore({ book, frontier }: FireDeps, slot: Slot): Promise<string | undefined> {
  const jobId = (await book.findFiredBefore(slot))?.jobId;
  const job = jobId === undefined ? undefined : await frontier.findJob(jobId);
  return job === undefined || hasEnded(job.state) ? undefined : job.id;
}

async function stepAside(deps: FireDeps, claim: SlotClaim, runBefore: string): Promise<void> {
  if (claim.schedule.overlap === "skip") return skip(deps, claim, "overlap");
  const { book, clock } = deps;
  await book.release(claim, instant(clock) + AGAIN_MS, `waits for the run before: job ${runBefore}`);
}

/** A slot that a quota, or the want of a key, keeps from being fired waits, and tells why; those after it wait behind it. */
async function isHeldUp(deps: FireDeps, claim: SlotClaim): Promise<boolean> {
  const { book, clock, log } = deps;
  const { slot, schedule } = claim;
  if (schedule.tenant === undefined) return false;
  const { urls = [] } = parseJob(schedule.job);
  const obstacle = await deps.findObstacle(schedule.tenant, slotJobId(slot), urls.length);
  if (obstacle === undefined) return false;
  log.warn("schedule.quota_reached", { scheduleId: slot.scheduleId, slotAt: slot.at, because: obstacle.because });
  const { because } = obstacle;
  if (!obstacle.isForGood) await book.release(claim, instant(clock) + AGAIN_MS, `waits for ${because}`);
  else if (await book.decide(claim)) await book.settle(claim, { state: "failed", because }, instant(clock));
  return true;
}

async function skip({ book, clock, log }: FireDeps, claim: SlotClaim, because: SkipReason): Promise<void> {
  const { scheduleId, at } = claim.slot;
  if (!(await book.settle(claim, { state: "skipped", because }, instant(clock)))) return;
  log.info("schedule.skipped", { scheduleId, slotAt: at, because });
}

async function cancel({ frontier }: FireDeps, jobId: string): Promise<void> {
  try {
    await frontier.cancel(jobId);
  } catch (cause) {
    if (!isTrawlError(cause, "JOB_ENDED", "NOT_FOUND")) throw cause; // it ended by itself
  }
}

async function submit(deps: FireDeps, { slot, schedule }: SlotClaim, jobId: string): Promise<void> {
  const { frontier, clock } = deps;
  const before = await frontier.findJob(jobId);
  if (before?.sealed === true) return;
  const spec = (before?.spec as JobSpec | undefined) ?? specOf(deps, schedule, slot, jobId);
  const { urls = [], webhook } = parseJob(schedule.job);
  if (schedule.tenant !== undefined) await deps.noteOwner(schedule.tenant, jobId);
  await deps.noteWebhook(webhook, jobId);
  try {
    const traced = {
      requestId: spec.requestId,
      words: { "trawl.job.id": jobId, "trawl.schedule.id": slot.scheduleId },
    };
    const { full } = await traceSubmission(await deps.openTracing(), traced, () =>
      submitJob({ frontier, now: () => clock.now() }, spec, urls),
    );
    if (full !== undefined) throw new Error(`the broker is full; ${full.taken} of ${urls.length} URLs are queued`);
  } catch (cause) {
    // Somebody else has sealed it, or cancelled it, since.
    if (!isTrawlError(cause, "JOB_ENDED")) throw cause;
  }
}

function specOf(deps: FireDeps, schedule: Schedule, { scheduleId, at }: Slot, jobId: string): JobSpec {
  const job = parseJob(schedule.job);
  const recrawlSet = setOfSchedule(scheduleId);
  const context = { id: jobId, requestId: `r${jobId}`, queue: undefined, typedHosts: [], out: undefined, recrawlSet };
  const resolved = resolveJob({ ...job, name: job.name ?? schedule.name }, deps.jobDefaults, context);
  const spec = { ...withTenant(resolved, schedule.tenant), slot: { scheduleId, at } };
  deps.checkRules(spec);
  return spec;
}

/** The same whoever fires the slot. */
export function slotJobId({ scheduleId, at, kind }: SlotKey): string {
  return `js${hash("sha256", `${scheduleId}\n${kind}\n${at}`).slice(0, 24)}`;
}

/** The book keeps whole milliseconds. */
function instant(clock: Clock): number {
  return Math.floor(clock.now());
}
