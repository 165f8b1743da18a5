/** The actions of `trawl schedule`. */
import { runOut, scheduleOut } from "../../control/views/schedule.ts";
import type { CatchUp, Overlap } from "../../domain/schedule.ts";
import { TrawlError } from "../../errors.ts";
import { scheduleSchema } from "../../schedule/schedule-schema.ts";
import type { PublicSchedule } from "../../store/schedule-store.ts";
import { issueText, uniqueIssues } from "../../submit/schema-errors.ts";
import { type CrawlFlags, readTarget } from "../crawl/targets.ts";
import type { ScheduleControl } from "../plane/control-plane.ts";
import { type PlaneFlags, type PlaneSession, runOnPlane } from "../plane/run-on-plane.ts";
import type { Screen } from "../terminal.ts";
import { addedText, changedText, runText, schedulesTable, scheduleText } from "./show-schedules.ts";

export type ScheduleFlags = CrawlFlags &
  PlaneFlags & {
    cron?: string;
    timeZone?: string;
    every?: string;
    overlap?: Overlap;
    catchUp?: CatchUp;
    maxCatchUp?: number;
    paused?: boolean;
    queue?: string;
    priority?: number;
  };

type Work = { schedules: ScheduleControl; screen: Screen; flags: ScheduleFlags; now: number };
type Action = (work: Work, schedule: PublicSchedule) => Promise<void>;

/** Actions on one schedule. */
const ACTIONS: Readonly<Record<string, Action>> = {
  async show({ schedules, screen, flags, now }, schedule) {
    const [next, runs] = await Promise.all([schedules.next(schedule.id, 5), schedules.listRuns(schedule.id, 10)]);
    const iso = next.map((at) => new Date(at).toISOString());
    if (flags.json === true) return json(screen, { ...scheduleOut(schedule), next: iso, runs: runs.map(runOut) });
    return screen.out(scheduleText(schedule, { next, runs, now, width: screen.outColumns() }));
  },
  async run({ schedules, screen, flags }, schedule) {
    const occurrence = await schedules.runNow(schedule.id);
    return flags.json === true ? json(screen, runOut(occurrence)) : screen.err(runText(occurrence, schedule, screen));
  },
  pause: async (work, schedule) => changed(work, await work.schedules.pause(schedule.id)),
  resume: async (work, schedule) => changed(work, await work.schedules.resume(schedule.id)),
  async remove({ schedules, screen, flags }, schedule) {
    const { id } = schedule;
    await schedules.remove(id);
    return flags.json === true
      ? json(screen, { id, removed: true })
      : screen.err(`${id} is removed; its jobs are kept\n`);
  },
};

export async function runSchedule(action: string, targets: readonly string[], flags: ScheduleFlags): Promise<void> {
  if (action === "add") return add(targets, flags);
  const [idOrName] = targets;
  const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  const isList = action === "list" && idOrName === undefined;
  if (!isList && act === undefined) {
    throw usage(`trawl schedule: unknown action ${action}; use list, add, ${Object.keys(ACTIONS).join(", ")}`);
  }
  if (act !== undefined && (idOrName === undefined || targets.length > 1)) {
    throw usage(`pass the id or name of one schedule: trawl schedule ${action} ID`);
  }
  await runOnPlane({ flags }, async (session) => {
    const work = workOf(session, flags);
    return act === undefined ? list(work) : act(work, await getSchedule(work.schedules, idOrName ?? ""));
  });
}

async function add(targets: readonly string[], flags: ScheduleFlags): Promise<void> {
  const { cron, timeZone, every, overlap, catchUp, maxCatchUp, paused, queue, priority, name } = flags;
  if (cron === undefined && every === undefined) {
    throw usage('--cron or --every is missing: --cron "0 6 * * *" [--time-zone Europe/Berlin], or --every 15m');
  }
  const { job } = await readTarget(targets, flags);
  const input = { name, cron, timeZone, every, overlap, catchUp, maxCatchUp, paused };
  const parsed = scheduleSchema.omit({ job: true }).safeParse(input, { error: issueText });
  if (!parsed.success) {
    const problems = uniqueIssues(parsed.error.issues).map(({ path, message }) => `${path.join(".")}: ${message}`);
    throw new TrawlError("BAD_SCHEDULE", { op: "cli.schedule", message: problems.join("; ") });
  }
  const routed = {
    ...job,
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority }),
  };
  await runOnPlane({ flags }, async (session) => {
    const { schedules, screen, now } = workOf(session, flags);
    const schedule = await schedules.add({ ...parsed.data, job: scheduleSchema.shape.job.parse(routed) });
    if (flags.json === true) return json(screen, scheduleOut(schedule));
    return screen.err(addedText(schedule, now, { screen, isServed: session.isServed }));
  });
}

function workOf({ plane, screen, now }: PlaneSession, flags: ScheduleFlags): Work {
  return { schedules: plane.schedules, screen, flags, now: now() };
}

async function list({ schedules, screen, flags, now }: Work): Promise<void> {
  const found = await schedules.list();
  if (flags.json === true) return json(screen, { schedules: found.map(scheduleOut) });
  if (found.length > 0) return screen.out(schedulesTable(found, now, screen.outColumns()));
  screen.err(`no schedules yet; create one with: ${screen.command} schedule add <url> --every 1d\n`);
}

/** Finds a schedule by its id, or by a name that only one schedule has. */
async function getSchedule(schedules: ScheduleControl, idOrName: string): Promise<PublicSchedule> {
  const named = (await schedules.list()).filter(({ id, name }) => id === idOrName || name === idOrName);
  const [first, ...others] = named;
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined) return schedules.get(idOrName); // throws NOT_FOUND
  const ids = named.map(({ id }) => id).join(", ");
  throw new TrawlError("NOT_FOUND", {
    op: "cli.schedule",
    message: `${named.length} schedules are named ${idOrName}; pass one of their ids: ${ids}`,
  });
}

async function changed({ screen, flags, now }: Work, schedule: PublicSchedule): Promise<void> {
  if (flags.json === true) return json(screen, scheduleOut(schedule));
  screen.err(changedText(schedule, now, screen));
}

function json(screen: Screen, value: unknown): Promise<void> {
  return screen.out(`${JSON.stringify(value)}\n`);
}

function usage(message: string): TrawlError {
  return new TrawlError("BAD_USAGE", { op: "cli.schedule", message });
}
