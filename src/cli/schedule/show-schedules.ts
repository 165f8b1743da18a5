/** Formats schedules and their runs. Times are in the time zone of the schedule. */
import { SKIP_REASONS, type SkipReason, type Timing } from "../../domain/schedule.ts";
import { showable } from "../../runtime/showable.ts";
import { timingText } from "../../schedule/schedule-schema.ts";
import type { Occurrence, PublicSchedule } from "../../store/schedule-store.ts";
import { roughAge, type Screen, steps, table } from "../terminal.ts";

export function schedulesTable(schedules: readonly PublicSchedule[], now: number, width: number): string {
  const rows = schedules.map((schedule) => [
    schedule.id,
    nextText(schedule, now),
    timingText(schedule.timing),
    schedule.name,
  ]);
  return table([["SCHEDULE", "NEXT", "WHEN", "NAME"], ...rows], { width });
}

type ScheduleTextOptions = { next: readonly number[]; runs: readonly Occurrence[]; now: number; width: number };

export function scheduleText(schedule: PublicSchedule, { next, runs, now, width }: ScheduleTextOptions): string {
  const { id, name, timing, overlap, catchUp, maxCatchUp, paused } = schedule;
  const facts = [
    ["when", timingText(timing)],
    ["overlap", overlap],
    ["catch-up", catchUp === "all" ? `all, at most ${maxCatchUp}` : catchUp],
    ...next.map((at, index) => [index > 0 ? "" : paused ? "if resumed" : "next", localTime(at, timing)]),
  ];
  const history = runs.map((occurrence) => [
    localTime(occurrence.at, timing),
    occurrence.state,
    occurrence.jobId ?? because(occurrence),
  ]);
  return [
    `${showable(`${id}  ${name}`)}\n`,
    `${paused ? "paused" : `runs ${nextText(schedule, now)}`}\n\n`,
    table(facts, { width }),
    "\n",
    history.length === 0 ? "no runs yet\n" : table([["RUN", "STATE", "JOB"], ...history], { width }),
  ].join("");
}

export function addedText(
  schedule: PublicSchedule,
  now: number,
  { screen, isServed }: { screen: Screen; isServed: boolean },
): string {
  const { id, name, paused } = schedule;
  const first = paused
    ? "is paused"
    : `runs ${nextText(schedule, now)}${isServed ? "" : "; a server (trawl serve) must be running at that time"}`;
  return showable(`${id}  ${name} ${first}`).concat(
    "\n",
    steps([["run now", `schedule run ${id}`], ...(isServed ? [] : [["start server", "serve"] as const])], screen),
  );
}

export function changedText(schedule: PublicSchedule, now: number, { command }: Screen): string {
  const { id, paused } = schedule;
  const state = paused ? `is paused; resume with: ${command} schedule resume ${id}` : `runs ${nextText(schedule, now)}`;
  return `${id} ${state}\n`;
}

export function runText(occurrence: Occurrence, { id }: PublicSchedule, { command }: Screen): string {
  if (occurrence.state === "fired")
    return `submitted as job ${occurrence.jobId}; show it with: ${command} job ${occurrence.jobId}\n`;
  return showable(`${occurrence.state}: ${because(occurrence)}; history: ${command} schedule show ${id}`).concat("\n");
}

function because({ because: why = "" }: Occurrence): string {
  return Object.hasOwn(SKIP_REASONS, why) ? SKIP_REASONS[why as SkipReason] : why;
}

function nextText({ nextAt, paused }: PublicSchedule, now: number): string {
  if (paused) return "paused";
  if (nextAt === undefined) return "never";
  return nextAt <= now ? "now" : `in ${roughAge(nextAt - now)}`;
}

/** `Mon 2026-11-16 06:00:00 GMT+1`, in the time zone of the schedule. */
function localTime(at: number, timing: Timing): string {
  const timeZone = timing.kind === "cron" ? timing.timeZone : "UTC";
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const { weekday, year, month, day, hour, minute, second, timeZoneName } = part;
  return `${weekday} ${year}-${month}-${day} ${hour}:${minute}:${second} ${timeZoneName}`;
}
