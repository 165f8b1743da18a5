/** Schedules as people read them. Their slots are told by the clocks they go by. */
import { SKIP_REASONS, type SkipReason, type Timing } from "../../domain/schedule.ts";
import { showable } from "../../runtime/showable.ts";
import { timingWords } from "../../schedule/schedule-schema.ts";
import type { ShownSchedule, Slot } from "../../store/schedule-book.ts";
import { roughAge, type Screen, steps, table } from "../terminal.ts";

export function schedulesTable(schedules: readonly ShownSchedule[], now: number, width: number): string {
  const rows = schedules.map((schedule) => [
    schedule.id,
    nextWords(schedule, now),
    timingWords(schedule.timing),
    schedule.name,
  ]);
  return table([["SCHEDULE", "NEXT", "WHEN", "NAME"], ...rows], { width });
}

type Shown = { next: readonly number[]; runs: readonly Slot[]; now: number; width: number };

export function scheduleText(schedule: ShownSchedule, { next, runs, now, width }: Shown): string {
  const { id, name, timing, overlap, catchUp, catchUpMost, paused } = schedule;
  const facts = [
    ["when", timingWords(timing)],
    ["overlap", overlap],
    ["catch-up", catchUp === "all" ? `all, at most ${catchUpMost}` : catchUp],
    ...next.map((at, index) => [index > 0 ? "" : paused ? "would be" : "next", localWords(at, timing)]),
  ];
  const history = runs.map((slot) => [localWords(slot.at, timing), slot.state, slot.jobId ?? because(slot)]);
  return [
    `${showable(`${id}  ${name}`)}\n`,
    `${paused ? "paused" : `runs ${nextWords(schedule, now)}`}\n\n`,
    table(facts, { width }),
    "\n",
    history.length === 0 ? "no runs yet\n" : table([["RUN", "STATE", "JOB"], ...history], { width }),
  ].join("");
}

export function addedText(
  schedule: ShownSchedule,
  now: number,
  { screen, isServed }: { screen: Screen; isServed: boolean },
): string {
  const { id, name, paused } = schedule;
  const first = paused
    ? "is paused"
    : `runs ${nextWords(schedule, now)}${isServed ? "" : ", while a trawl serve is there to fire it"}`;
  return showable(`${id}  ${name} ${first}`).concat(
    "\n",
    steps([["run it now", `schedule run ${id}`], ...(isServed ? [] : [["fire schedules", "serve"] as const])], screen),
  );
}

export function changedText(schedule: ShownSchedule, now: number, { command }: Screen): string {
  const { id, paused } = schedule;
  const state = paused ? `is paused; go on with: ${command} schedule resume ${id}` : `runs ${nextWords(schedule, now)}`;
  return `${id} ${state}\n`;
}

export function runText(slot: Slot, { id }: ShownSchedule, { command }: Screen): string {
  if (slot.state === "fired") return `submitted as ${slot.jobId}; look at it with: ${command} job ${slot.jobId}\n`;
  return showable(`${slot.state}: ${because(slot)}; see: ${command} schedule show ${id}`).concat("\n");
}

function because({ because: why = "" }: Slot): string {
  return Object.hasOwn(SKIP_REASONS, why) ? SKIP_REASONS[why as SkipReason] : why;
}

function nextWords({ nextAt, paused }: ShownSchedule, now: number): string {
  if (paused) return "paused";
  if (nextAt === undefined) return "never";
  return nextAt <= now ? "now" : `in ${roughAge(nextAt - now)}`;
}

/** `Mon 2026-11-16 06:00:00 GMT+1`: by the clocks that the schedule goes by. */
function localWords(at: number, timing: Timing): string {
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
