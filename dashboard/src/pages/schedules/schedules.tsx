/** Schedules: what is to run when, what became of the last runs, and how to change it. */

import { useEffect } from "preact/hooks";
import type { ScheduleOut } from "../../../../src/api/wire-schedules.ts";
import { useListed } from "../../listed.ts";
import type { PageProps } from "../../pages.ts";
import { hrefOf } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { isVisible } from "../../visible.ts";
import { Calendar } from "./calendar.tsx";
import { NewSchedulePage } from "./new-schedule.tsx";
import { SchedulePage } from "./schedule-page.tsx";
import { CATCH_UP_WORDS, OVERLAP_WORDS, timingWords } from "./timing-words.ts";
import "./schedules.css";

const NEW = "new";
const EVERY_MS = 30_000;

export function Schedules({ rest: [id] }: PageProps) {
  if (id === NEW) return <NewSchedulePage />;
  return id === undefined ? <ScheduleList /> : <SchedulePage key={id} id={id} />;
}

function ScheduleList() {
  const listed = useListed((options) => api().schedules.list(options), []);
  const { rows, isLoading, loadMore, reload } = listed;
  const isShown = isVisible.value;
  // Runs come and go by themselves.
  useEffect(() => {
    if (!isShown) return;
    const timer = setInterval(reload, EVERY_MS);
    return () => clearInterval(timer);
  }, [isShown, reload]);
  const isEmpty = rows.length === 0 && !isLoading && listed.error === undefined;
  const add = may("submit") && (
    <a class="button primary" href={hrefOf(["schedules", NEW])}>
      New schedule
    </a>
  );
  return (
    <Page title="Schedules" says="Jobs that are submitted again and again." actions={add}>
      <Problem error={listed.error} onRetry={listed.reload} />
      {rows.length === 0 && isLoading && <Loading />}
      {isEmpty && <NoSchedules />}
      {rows.length > 0 && (
        <>
          <Calendar />
          <Table
            label="Schedules"
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => hrefOf(["schedules", id])}
            loadMore={loadMore}
            isLoading={isLoading}
          />
        </>
      )}
    </Page>
  );
}

function NoSchedules() {
  return (
    <Empty title="Nothing is scheduled.">
      <p>
        A schedule submits a job at its times: every morning, every 15 minutes.{" "}
        {may("submit") ? "Make one here, or in a terminal:" : "In a terminal, with a key that may submit:"}
      </p>
      <pre>trawl schedule add https://books.toscrape.com/ --cron '0 6 * * 1-5' --time-zone Europe/Berlin</pre>
    </Empty>
  );
}

const COLUMNS: readonly Column<ScheduleOut>[] = [
  { id: "name", title: "Name", rem: 10, grow: 2, cell: ({ name }) => <Scraped text={name} /> },
  {
    id: "when",
    title: "When",
    tip: "A cron and whose clock it goes by, or how much time lies between two runs.",
    rem: 9,
    grow: 2,
    from: "tablet",
    cell: (schedule) => timingWords(schedule),
  },
  {
    id: "state",
    title: "State",
    rem: 5,
    grow: 0,
    cell: ({ paused }) => (paused ? <Badge tone="warn">paused</Badge> : <Badge tone="good">active</Badge>),
  },
  {
    id: "next",
    title: "Next run",
    tip: "When its next slot is; none while it is paused.",
    rem: 6,
    grow: 0,
    cell: ({ nextAt }) => <Ago at={nextAt} />,
  },
  {
    id: "overlap",
    title: "Overlap",
    tip: Object.entries(OVERLAP_WORDS)
      .map(([name, words]) => `${name}: ${words}`)
      .join("\n"),
    rem: 5,
    grow: 0,
    from: "desk",
    cell: ({ overlap }) => overlap,
  },
  {
    id: "catchUp",
    title: "Catch-up",
    tip: Object.entries(CATCH_UP_WORDS)
      .map(([name, words]) => `${name}: ${words}`)
      .join("\n"),
    rem: 8,
    grow: 0,
    from: "desk",
    cell: ({ catchUp, catchUpMost }) => (catchUp === "all" ? `all, up to ${catchUpMost}` : catchUp),
  },
];
