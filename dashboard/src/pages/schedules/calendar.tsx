/** What is to run in the week to come: a column a day; on a phone one day under the other. */

import type { UpcomingOut } from "../../../../src/api/wire-schedules.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api } from "../../session.ts";
import { Loading } from "../../ui/empty.tsx";
import { plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { DAYS, type Planned, type Week, weekOf } from "./week.ts";

const EVERY_MS = 30_000;
/** Runs of one schedule that are worth a line each in a week. */
const EACH = 28;
const SHOWN_A_DAY = 8;

export function Calendar() {
  const asked = usePolled(upcoming, EVERY_MS);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <Card title="The next 7 days" actions={<span class="quiet">times in {zone}</span>}>
      <Problem error={asked.error} onRetry={asked.reload} />
      {asked.value === undefined ? asked.error === undefined && <Loading /> : <WeekView week={asked.value} />}
    </Card>
  );
}

async function upcoming(signal: AbortSignal): Promise<Week> {
  const found: UpcomingOut[] = [];
  for await (const one of api().schedules.upcoming({ days: DAYS, each: EACH, signal })) found.push(one);
  return weekOf(found, Date.now());
}

function WeekView({ week }: { week: Week }) {
  const { days, often } = week;
  return (
    <>
      {often.length > 0 && (
        <p class="card-body often">
          <span class="quiet">Many times a day:</span>
          {often.map(({ id, name }) => (
            <a key={id} class="run-chip" href={hrefOf(["schedules", id])}>
              <Scraped text={name} most={60} />
            </a>
          ))}
        </p>
      )}
      <ol class="week">
        {days.map(({ startAt, runs }, nth) => (
          <li key={startAt} class={runs.length === 0 ? "day is-free" : "day"}>
            <h3>{nth === 0 ? "Today" : dayName(startAt)}</h3>
            {runs.length === 0 ? <p class="quiet">–</p> : <Runs runs={runs} />}
          </li>
        ))}
      </ol>
    </>
  );
}

function Runs({ runs }: { runs: readonly Planned[] }) {
  const more = runs.length - SHOWN_A_DAY;
  return (
    <ul class="runs">
      {runs.slice(0, SHOWN_A_DAY).map(({ id, name, at }) => (
        <li key={`${id} ${at}`}>
          <a class="run-chip" href={hrefOf(["schedules", id])}>
            <time dateTime={new Date(at).toISOString()}>{clock(at)}</time>
            <Scraped text={name} most={60} />
          </a>
        </li>
      ))}
      {more > 0 && <li class="quiet">and {plural(more, "run")} more</li>}
    </ul>
  );
}

function dayName(at: number): string {
  return new Date(at).toLocaleDateString(undefined, { weekday: "short", day: "numeric", month: "short" });
}

function clock(at: number): string {
  return new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}
