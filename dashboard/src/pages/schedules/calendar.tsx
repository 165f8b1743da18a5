/** The runs of the next seven days: one column per day, or one below the other on a phone. */
import type { UpcomingOut } from "../../../../src/client/wire-types.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api } from "../../session.ts";
import { Loading } from "../../ui/empty.tsx";
import { plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";

type PlannedRun = { id: string; name: string; at: number };
/** `frequent`: schedules with more than `RUNS_MAX` runs, which are shown on one line. */
type Week = { days: readonly { startAt: number; runs: readonly PlannedRun[] }[]; frequent: readonly UpcomingOut[] };

const DAYS = 7;
const POLL_MS = 30_000;
/** Schedules with more runs per week than this are not shown day by day. */
const RUNS_MAX = 28;
const SHOWN_PER_DAY = 8;

export function Calendar() {
  const week = usePolled(upcomingWeek, POLL_MS);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <Card title="Next 7 days" actions={<span class="muted">times in {zone}</span>}>
      <Problem error={week.error} onRetry={week.reload} />
      {week.value === undefined ? week.error === undefined && <Loading /> : <WeekView week={week.value} />}
    </Card>
  );
}

async function upcomingWeek(signal: AbortSignal): Promise<Week> {
  const upcoming: UpcomingOut[] = [];
  for await (const one of api().schedules.upcoming({ days: DAYS, each: RUNS_MAX, signal })) upcoming.push(one);
  return weekOf(upcoming, Date.now());
}

/** Groups runs by day in the time zone of the browser. Days start at local midnight, even when clocks change. */
export function weekOf(upcoming: readonly UpcomingOut[], now: number): Week {
  const starts = Array.from({ length: DAYS + 1 }, (_, nth) => midnight(now, nth));
  const runs = upcoming
    .filter(({ more }) => !more)
    .flatMap(({ id, name, runs: times }) => times.map((at) => ({ id, name, at: Date.parse(at) })))
    .sort((one, other) => one.at - other.at);
  const days = starts.slice(0, DAYS).map((startAt, nth) => {
    const endAt = starts[nth + 1] ?? startAt;
    return { startAt, runs: runs.filter(({ at }) => at >= startAt && at < endAt) };
  });
  return { days, frequent: upcoming.filter(({ more }) => more) };
}

function midnight(now: number, daysAhead: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + daysAhead).getTime();
}

function WeekView({ week }: { week: Week }) {
  const { days, frequent } = week;
  return (
    <>
      {frequent.length > 0 && (
        <p class="card-body frequent">
          <span class="muted">Many times a day:</span>
          {frequent.map(({ id, name }) => (
            <a key={id} class="run-chip" href={hrefOf(["schedules", id])}>
              <Scraped text={name} max={60} />
            </a>
          ))}
        </p>
      )}
      <ol class="week">
        {days.map(({ startAt, runs }, nth) => (
          <li key={startAt} class={runs.length === 0 ? "day is-empty" : "day"}>
            <h3>{nth === 0 ? "Today" : dayName(startAt)}</h3>
            {runs.length === 0 ? <p class="muted">–</p> : <Runs runs={runs} />}
          </li>
        ))}
      </ol>
    </>
  );
}

function Runs({ runs }: { runs: readonly PlannedRun[] }) {
  const more = runs.length - SHOWN_PER_DAY;
  return (
    <ul class="runs">
      {runs.slice(0, SHOWN_PER_DAY).map(({ id, name, at }) => (
        <li key={`${id} ${at}`}>
          <a class="run-chip" href={hrefOf(["schedules", id])}>
            <time dateTime={new Date(at).toISOString()}>{clock(at)}</time>
            <Scraped text={name} max={60} />
          </a>
        </li>
      ))}
      {more > 0 && <li class="muted">and {plural(more, "more run")}</li>}
    </ul>
  );
}

function dayName(at: number): string {
  return new Date(at).toLocaleDateString(undefined, { weekday: "short", day: "numeric", month: "short" });
}

function clock(at: number): string {
  return new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}
