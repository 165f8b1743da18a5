/** Operations on schedules: create, change, pause, run now. Used by the API and the command line. */
import { randomBytes } from "node:crypto";
import { canonicalUrl } from "../domain/canonical-url.ts";
import type { OccurrenceKey } from "../domain/schedule.ts";
import { TrawlError } from "../errors.ts";
import type { Occurrence, Schedule } from "../store/schedule-store.ts";
import type { JobInput } from "../submit/job-schema.ts";
import { newJobId, parseJob, resolveJob } from "../submit/resolve-job.ts";
import { startEntries, urlOfEntry } from "../submit/url-entry.ts";
import { type FireDeps, fireOccurrence } from "./fire-occurrence.ts";
import { judgeDue } from "./judge-due.ts";
import { withKeptSecrets } from "./kept-secrets.ts";
import { occurrencesOf } from "./occurrences.ts";
import { type ScheduleChange, type ScheduleInput, timingFrom, type WhenInput } from "./schedule-schema.ts";
import type { SchedulerOptions } from "./scheduler.ts";
import { restoreWebhookSecret } from "./webhook-secret.ts";

export type Schedules = {
  /** Throws BAD_SCHEDULE, BAD_JOB or BAD_SELECTOR. */
  add(input: ScheduleInput, tenant: string | undefined): Promise<Schedule>;
  /** Throws NOT_FOUND, also for a schedule of another tenant. */
  get(id: string, tenant: string | undefined): Promise<Schedule>;
  change(schedule: Schedule, input: ScheduleChange): Promise<Schedule>;
  pause(schedule: Schedule): Promise<Schedule>;
  /** Occurrences during the pause are not caught up. */
  resume(schedule: Schedule): Promise<Schedule>;
  /** Adds and fires an occurrence now, even if the schedule is paused. The overlap policy applies. */
  runNow(schedule: Schedule): Promise<Occurrence>;
  remove(schedule: Schedule): Promise<void>;
  /** Sorted by id. If `tenant` is undefined, the schedules of all tenants. */
  list(tenant: string | undefined, limit: number, afterId: string): Promise<readonly Schedule[]>;
  /** The next occurrences, as if the schedule were not paused. */
  next(schedule: Schedule, max: number): number[];
  /** The next occurrences of a new schedule. Throws BAD_SCHEDULE. */
  preview(when: WhenInput, max: number): number[];
  /** The occurrences of each schedule until an instant, sorted by schedule id. A paused schedule has none. */
  upcoming(tenant: string | undefined, window: Window): Promise<readonly Upcoming[]>;
  /** The past occurrences, newest first. */
  listRuns(schedule: Schedule, limit: number, beforeAt: number): Promise<readonly Occurrence[]>;
};

type Window = { until: number; each: number; limit: number; afterId: string };
/** `more`: there are more occurrences than listed. */
type Upcoming = { schedule: Schedule; occurrences: readonly number[]; more: boolean };

type Policies = Pick<Schedule, "overlap" | "catchUp" | "maxCatchUp" | "paused">;
const DEFAULTS: Policies = { overlap: "skip", catchUp: "one", maxCatchUp: 10, paused: false };

type Options = Pick<SchedulerOptions, "claimMs" | "graceMs">;
/** The maximum number of attempts, if other processes change the schedule at the same time. */
const TRIES = 20;

export function createSchedules(deps: FireDeps, { claimMs, graceMs }: Options): Schedules {
  const { scheduleStore, clock } = deps;
  const now = () => Math.floor(clock.now());

  function checkJob(input: ScheduleInput["job"]): JobInput {
    const job = parseJob(input);
    const urls = startEntries(job);
    if (urls.length === 0) throw badJob("urls: is empty; the job of a schedule needs at least one start URL");
    const bad = urls.map(urlOfEntry).find((url) => canonicalUrl(url) === undefined);
    if (bad !== undefined) throw badJob(`urls: ${JSON.stringify(bad)} is not an absolute http(s) URL`);
    const ids = { id: newJobId(now()), requestId: "-", recrawlSet: "-" };
    const context = { ...ids, queue: undefined, typedHosts: [], out: undefined };
    deps.checkRules(resolveJob(job, deps.jobDefaults, context));
    // A generated secret would differ for each run, and the user would never see it.
    if (job.webhook !== undefined && job.webhook.secret === undefined) throw badJob(NO_SECRET);
    return job;
  }

  /** Applies a change to the current version. Retries if another process changes the schedule at the same time. */
  async function changing(id: string, work: (schedule: Schedule) => Schedule): Promise<Schedule> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const found = await scheduleStore.find(id);
      if (found === undefined) throw missing(id);
      const changed = work(found);
      if (await scheduleStore.change(changed)) return { ...changed, version: found.version + 1 };
    }
    throw new TrawlError("INTERNAL", {
      op: "schedule.change",
      message: `schedule ${id} was changed concurrently in each of ${TRIES} attempts; try again`,
    });
  }

  /** Adds a manual occurrence, together with the occurrences that are due before it, so that they stay in order. */
  async function addNow(id: string): Promise<OccurrenceKey> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const schedule = await scheduleStore.find(id);
      if (schedule === undefined) throw missing(id);
      const at = Math.max(now(), schedule.doneUntil + 1);
      const { to, occurrences } = judgeDue({ schedule, openOccurrences: 0 }, at, graceMs);
      const key: OccurrenceKey = { scheduleId: id, at, kind: "manual" };
      if (await scheduleStore.advance(schedule, to, [...occurrences, { at, kind: "manual" }])) return key;
      // `advance` also returns false if its first response was lost and the call was repeated. Then the occurrence
      // exists. Callers in the same millisecond share one occurrence.
      if ((await scheduleStore.findOccurrence(key)) !== undefined) return key;
    }
    throw new TrawlError("INTERNAL", {
      op: "schedule.runNow",
      message: `schedule ${id} was changed concurrently in each of ${TRIES} attempts; try again`,
    });
  }

  return {
    async add(input, tenant) {
      const { name, cron, timeZone, every, job } = input;
      const checked = checkJob(withKeptSecrets(job, undefined));
      const at = now();
      const chosen = policiesOf(input, DEFAULTS);
      const timing = timingFrom({ cron, timeZone, every }, at);
      const schedule = {
        id: `s${at.toString(36)}${randomBytes(5).toString("hex")}`,
        tenant,
        name: name ?? checked.name ?? nameOf(checked),
        timing,
        ...chosen,
        job: checked,
        createdAt: at,
        doneUntil: at,
        nextAt: chosen.paused ? undefined : occurrencesOf(timing).after(at),
      };
      await scheduleStore.add(schedule);
      return { ...schedule, version: 1 };
    },
    async get(id, tenant) {
      const found = await scheduleStore.find(id);
      if (found === undefined || (tenant !== undefined && found.tenant !== tenant)) throw missing(id);
      return found;
    },
    change({ id }, input) {
      const { name, cron, timeZone, every, job } = input;
      const at = now();
      return changing(id, (schedule) =>
        rescheduled(
          {
            ...schedule,
            ...policiesOf(input, schedule),
            name: name ?? schedule.name,
            job: job === undefined ? schedule.job : checkJob(withKept(job, schedule.job as JobInput)),
            timing: newTiming(schedule, { cron, timeZone, every }, at),
          },
          schedule,
          at,
        ),
      );
    },
    pause: ({ id }) => changing(id, (schedule) => ({ ...schedule, paused: true, nextAt: undefined })),
    resume: ({ id }) => changing(id, (schedule) => rescheduled({ ...schedule, paused: false }, schedule, now())),
    async runNow({ id }) {
      const key = await addNow(id);
      // Earlier occurrences of the schedule are fired first.
      for (let tries = 0; tries < TRIES; tries += 1) {
        const [claim] = await scheduleStore.claim({ now: Math.max(now(), key.at), claimMs, max: 1, scheduleId: id });
        if (claim === undefined) break;
        await fireOccurrence(deps, claim);
        if (claim.occurrence.at === key.at) break;
      }
      const occurrence = await scheduleStore.findOccurrence(key);
      if (occurrence === undefined) throw missing(id);
      return occurrence;
    },
    async remove({ id }) {
      // The caller has read the schedule before. If it no longer exists, a concurrent call has removed it.
      await scheduleStore.remove(id);
    },
    list: (tenant, limit, afterId) => scheduleStore.list(tenant, limit, afterId),
    next: ({ timing }, max) => nextOccurrences(timing, now(), max),
    preview: (when, max) => nextOccurrences(timingFrom(when, now()), now(), max),
    async upcoming(tenant, { until, each, limit, afterId }) {
      const found = await scheduleStore.list(tenant, limit, afterId);
      return found.map((schedule) => {
        const occurrences = schedule.paused ? [] : nextOccurrences(schedule.timing, now(), each + 1, until);
        return { schedule, occurrences: occurrences.slice(0, each), more: occurrences.length > each };
      });
    },
    listRuns: ({ id }, limit, beforeAt) => scheduleStore.listOccurrences(id, limit, beforeAt),
  };
}

function nextOccurrences(
  timing: Schedule["timing"],
  from: number,
  max: number,
  until = Number.POSITIVE_INFINITY,
): number[] {
  const occurrences = occurrencesOf(timing);
  const found: number[] = [];
  for (
    let at = occurrences.after(from);
    at !== undefined && at <= until && found.length < max;
    at = occurrences.after(at)
  ) {
    found.push(at);
  }
  return found;
}

function policiesOf(input: ScheduleChange, fallback: Policies): Policies {
  return {
    overlap: input.overlap ?? fallback.overlap,
    catchUp: input.catchUp ?? fallback.catchUp,
    maxCatchUp: input.maxCatchUp ?? fallback.maxCatchUp,
    paused: input.paused ?? fallback.paused,
  };
}

/** The timing after a change. Without new values it is unchanged, including its anchor. */
function newTiming({ timing }: Schedule, { cron, timeZone, every }: WhenInput, now: number): Schedule["timing"] {
  if (every !== undefined) return timingFrom({ cron, timeZone, every }, now);
  if (cron === undefined && timeZone === undefined) return timing;
  const before = timing.kind === "cron" ? timing : undefined;
  return timingFrom({ cron: cron ?? before?.cron, timeZone: timeZone ?? before?.timeZone, every: undefined }, now);
}

/** Sets the next occurrence. After a new timing or a resume, occurrences before `now` are not due. */
function rescheduled(changed: Schedule, before: Schedule, now: number): Schedule {
  if (changed.paused) return { ...changed, nextAt: undefined };
  const isSame = !before.paused && JSON.stringify(changed.timing) === JSON.stringify(before.timing);
  if (isSame) return changed;
  const doneUntil = Math.max(before.doneUntil, now);
  return { ...changed, doneUntil, nextAt: occurrencesOf(changed.timing).after(doneUntil) };
}

const NO_SECRET =
  "webhook.secret: is missing; a schedule needs a secret that you choose: whsec_ followed by the base64 of 24 to 64 random bytes, for example from openssl rand -base64 32";

/** Restores the secrets that are not shown. */
function withKept(job: JobInput, before: JobInput): JobInput {
  return restoreWebhookSecret(withKeptSecrets(job, before), before);
}

function nameOf(job: JobInput): string {
  const first = job.urls?.[0] ?? startEntries(job)[0] ?? "";
  return urlOfEntry(first)
    .replace(/^https?:\/\//, "")
    .slice(0, 80);
}

function badJob(message: string): TrawlError {
  return new TrawlError("BAD_JOB", { op: "schedule.add", message: `job.${message}` });
}

function missing(id: string): TrawlError {
  return new TrawlError("NOT_FOUND", {
    op: "schedule.get",
    message: `there is no schedule ${id}; list all schedules with: trawl schedule list, or GET /v1/schedules`,
    detail: { scheduleId: id },
  });
}
