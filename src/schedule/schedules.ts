/** What people do with schedules: make, change, pause, run now. The API and the command line share it. */
import { randomBytes } from "node:crypto";
import { canonicalUrl } from "../domain/canonical-url.ts";
import type { SlotKey } from "../domain/schedule.ts";
import { TrawlError } from "../errors.ts";
import type { Schedule, Slot } from "../store/schedule-book.ts";
import type { JobInput } from "../submit/job-schema.ts";
import { newJobId, parseJob, resolveJob } from "../submit/resolve-job.ts";
import { type FireDeps, fireSlot } from "./fire-slot.ts";
import { judgeDue } from "./judge-due.ts";
import { withKeptSecrets } from "./kept-secrets.ts";
import { withKeptWebhookSecret } from "./masked-webhook.ts";
import { type ScheduleChange, type ScheduleInput, timingFrom, type WhenInput } from "./schedule-schema.ts";
import type { SchedulerOptions } from "./scheduler.ts";
import { slotsOf } from "./slots.ts";

export type Schedules = {
  /** Throws BAD_SCHEDULE, BAD_JOB or BAD_SELECTOR. */
  add(input: ScheduleInput, tenant: string | undefined): Promise<Schedule>;
  /** Throws NOT_FOUND, also for another tenant's. */
  get(id: string, tenant: string | undefined): Promise<Schedule>;
  change(schedule: Schedule, input: ScheduleChange): Promise<Schedule>;
  pause(schedule: Schedule): Promise<Schedule>;
  /** Slots of the time in between are not missed: there were none. */
  resume(schedule: Schedule): Promise<Schedule>;
  /** A slot of its own, now, under the schedule's overlap policy; also of one that is paused. */
  runNow(schedule: Schedule): Promise<Slot>;
  remove(schedule: Schedule): Promise<void>;
  /** By id; of one tenant, or of all. */
  list(tenant: string | undefined, limit: number, afterId: string): Promise<readonly Schedule[]>;
  /** The next slots, where it is not paused; what it would have, where it is. */
  next(schedule: Schedule, most: number): number[];
  /** The next slots of one that is not made yet. Throws BAD_SCHEDULE. */
  preview(when: WhenInput, most: number): number[];
  /** Of those that are not paused, by id, the slots that come until an instant: so many of so many schedules. */
  upcoming(tenant: string | undefined, window: Window): Promise<readonly Upcoming[]>;
  /** What became of its slots, newest first. */
  listRuns(schedule: Schedule, limit: number, beforeAt: number): Promise<readonly Slot[]>;
};

export type Window = { until: number; each: number; limit: number; afterId: string };
/** `more`: there are more slots than are told. */
export type Upcoming = { schedule: Schedule; slots: readonly number[]; more: boolean };

type Policies = Pick<Schedule, "overlap" | "catchUp" | "catchUpMost" | "paused">;
const USUAL: Policies = { overlap: "skip", catchUp: "one", catchUpMost: 10, paused: false };

type Options = Pick<SchedulerOptions, "claimMs" | "graceMs">;
/** Others may change it at the same time; so many in a row do not. */
const TRIES = 20;

export function createSchedules(deps: FireDeps, { claimMs, graceMs }: Options): Schedules {
  const { book, clock } = deps;
  const now = () => Math.floor(clock.now());

  function checkJob(input: ScheduleInput["job"]): JobInput {
    const job = parseJob(input);
    const { urls = [] } = job;
    if (urls.length === 0) throw badJob("urls: a schedule submits a job with URLs to begin with; give at least one");
    const bad = urls.find((url) => canonicalUrl(url) === undefined);
    if (bad !== undefined) throw badJob(`urls: ${JSON.stringify(bad)} is not an absolute http(s) URL`);
    const ids = { id: newJobId(now()), requestId: "-", recrawlSet: "-" };
    const context = { ...ids, queue: undefined, typedHosts: [], out: undefined };
    deps.checkRules(resolveJob(job, deps.jobDefaults, context));
    // Each run would have another, which nobody is told.
    if (job.webhook !== undefined && job.webhook.secret === undefined) throw badJob(NO_SECRET);
    return job;
  }

  /** Makes a change on whatever the schedule is by then. */
  async function changing(id: string, work: (schedule: Schedule) => Schedule): Promise<Schedule> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const found = await book.find(id);
      if (found === undefined) throw missing(id);
      const changed = work(found);
      if (await book.change(changed)) return { ...changed, version: found.version + 1 };
    }
    throw new TrawlError("INTERNAL", { op: "schedule.change", message: `schedule ${id} changes all the time` });
  }

  /** Together with what is due before it, so that slots stay in order. */
  async function addNow(id: string): Promise<SlotKey> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const schedule = await book.find(id);
      if (schedule === undefined) throw missing(id);
      const at = Math.max(now(), schedule.doneUntil + 1);
      const { to, slots } = judgeDue({ schedule, openSlots: 0 }, at, graceMs);
      const key: SlotKey = { scheduleId: id, at, kind: "manual" };
      if (await book.advance(schedule, to, [...slots, { at, kind: "manual" }])) return key;
      // Made twice, because its answer got lost, it says no the second time. Whoever else asked in the same millisecond shares it.
      if ((await book.findSlot(key)) !== undefined) return key;
    }
    throw new TrawlError("INTERNAL", { op: "schedule.runNow", message: `schedule ${id} changes all the time` });
  }

  return {
    async add(input, tenant) {
      const { name, cron, timeZone, every, job } = input;
      const checked = checkJob(withKeptSecrets(job, undefined));
      const at = now();
      const chosen = policiesOf(input, USUAL);
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
        nextAt: chosen.paused ? undefined : slotsOf(timing).after(at),
      };
      await book.add(schedule);
      return { ...schedule, version: 1 };
    },
    async get(id, tenant) {
      const found = await book.find(id);
      if (found === undefined || (tenant !== undefined && found.tenant !== tenant)) throw missing(id);
      return found;
    },
    change({ id }, input) {
      const { name, cron, timeZone, every, job } = input;
      const at = now();
      return changing(id, (schedule) =>
        moved(
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
    resume: ({ id }) => changing(id, (schedule) => moved({ ...schedule, paused: false }, schedule, now())),
    async runNow({ id }) {
      const key = await addNow(id);
      // Slots of the schedule that came before have to go first; then its own turn comes.
      for (let tries = 0; tries < TRIES; tries += 1) {
        const [claim] = await book.claim({ now: Math.max(now(), key.at), claimMs, most: 1, scheduleId: id });
        if (claim === undefined) break;
        await fireSlot(deps, claim);
        if (claim.slot.at === key.at) break;
      }
      const slot = await book.findSlot(key);
      if (slot === undefined) throw missing(id);
      return slot;
    },
    async remove({ id }) {
      // It was there when it was looked up; where nothing is left to remove, this or another call has done it.
      await book.remove(id);
    },
    list: (tenant, limit, afterId) => book.list(tenant, limit, afterId),
    next: ({ timing }, most) => nextSlots(timing, now(), most),
    preview: (when, most) => nextSlots(timingFrom(when, now()), now(), most),
    async upcoming(tenant, { until, each, limit, afterId }) {
      const found = await book.list(tenant, limit, afterId);
      return found.map((schedule) => {
        const slots = schedule.paused ? [] : nextSlots(schedule.timing, now(), each + 1, until);
        return { schedule, slots: slots.slice(0, each), more: slots.length > each };
      });
    },
    listRuns: ({ id }, limit, beforeAt) => book.listSlots(id, limit, beforeAt),
  };
}

function nextSlots(timing: Schedule["timing"], from: number, most: number, until = Number.POSITIVE_INFINITY): number[] {
  const slots = slotsOf(timing);
  const found: number[] = [];
  for (let at = slots.after(from); at !== undefined && at <= until && found.length < most; at = slots.after(at)) {
    found.push(at);
  }
  return found;
}

function policiesOf(input: ScheduleChange, usual: Policies): Policies {
  return {
    overlap: input.overlap ?? usual.overlap,
    catchUp: input.catchUp ?? usual.catchUp,
    catchUpMost: input.catchUpMost ?? usual.catchUpMost,
    paused: input.paused ?? usual.paused,
  };
}

/** Where nothing is said of it, it stays: its anchor, too, and so its slots. */
function newTiming({ timing }: Schedule, { cron, timeZone, every }: WhenInput, now: number): Schedule["timing"] {
  if (every !== undefined) return timingFrom({ cron, timeZone, every }, now);
  if (cron === undefined && timeZone === undefined) return timing;
  const before = timing.kind === "cron" ? timing : undefined;
  return timingFrom({ cron: cron ?? before?.cron, timeZone: timeZone ?? before?.timeZone, every: undefined }, now);
}

/** Where its time changes, or it starts again, it counts from now on: nothing before is due. */
function moved(changed: Schedule, before: Schedule, now: number): Schedule {
  if (changed.paused) return { ...changed, nextAt: undefined };
  const isSame = !before.paused && JSON.stringify(changed.timing) === JSON.stringify(before.timing);
  if (isSame) return changed;
  const doneUntil = Math.max(before.doneUntil, now);
  return { ...changed, doneUntil, nextAt: slotsOf(changed.timing).after(doneUntil) };
}

const NO_SECRET =
  "webhook.secret: a schedule needs one of yours: whsec_ and base64 of 24 to 64 random bytes, such as of: openssl rand -base64 32";

/** What a schedule does not show, and so does not come back. */
function withKept(job: JobInput, before: JobInput): JobInput {
  return withKeptWebhookSecret(withKeptSecrets(job, before), before);
}

function nameOf({ urls: [first = ""] = [] }: JobInput): string {
  return first.replace(/^https?:\/\//, "").slice(0, 80);
}

function badJob(message: string): TrawlError {
  return new TrawlError("BAD_JOB", { op: "schedule.add", message: `job.${message}` });
}

function missing(id: string): TrawlError {
  return new TrawlError("NOT_FOUND", {
    op: "schedule.get",
    message: `there is no schedule ${id}; list them with trawl schedule list, or GET /v1/schedules`,
    detail: { scheduleId: id },
  });
}
