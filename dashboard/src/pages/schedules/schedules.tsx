/** The list of schedules, with a calendar of their next runs. */
import { useEffect } from "preact/hooks";
import type { ScheduleOut } from "../../../../src/client/wire-types.ts";
import { useIteratedRows } from "../../paged-rows.ts";
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
import { CATCH_UP_TEXT, OVERLAP_TEXT, timingText } from "./schedule-text.ts";
import "./schedules.css";

const NEW = "new";
const RELOAD_MS = 30_000;

export function Schedules({ rest: [id] }: PageProps) {
  if (id === NEW) return <NewSchedulePage />;
  return id === undefined ? <ScheduleList /> : <SchedulePage key={id} id={id} />;
}

function ScheduleList() {
  const paged = useIteratedRows((options) => api().schedules.list(options), []);
  const { rows, isLoading, loadMore, reload } = paged;
  const isShown = isVisible.value;
  // The next run of a schedule changes over time.
  useEffect(() => {
    if (!isShown) return;
    const timer = setInterval(reload, RELOAD_MS);
    return () => clearInterval(timer);
  }, [isShown, reload]);
  const isEmpty = rows.length === 0 && !isLoading && paged.error === undefined;
  const add = may("submit") && (
    <a class="button primary" href={hrefOf(["schedules", NEW])}>
      New schedule
    </a>
  );
  return (
    <Page title="Schedules" subtitle="Jobs that are submitted repeatedly." actions={add}>
      <Problem error={paged.error} onRetry={paged.reload} />
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
    <Empty title="No schedules yet.">
      <p>
        A schedule submits a job repeatedly, such as every morning or every 15 minutes.{" "}
        {may("submit")
          ? "Create one here, or run in a terminal:"
          : "Run in a terminal, with a key that has the scope submit:"}
      </p>
      <pre>trawl schedule add https://books.toscrape.com/ --cron '0 6 * * 1-5' --time-zone Europe/Berlin</pre>
    </Empty>
  );
}

const COLUMNS: readonly Column<ScheduleOut>[] = [
  { id: "name", title: "Name", rem: 10, grow: 2, cell: ({ name }) => <Scraped text={name} /> },
  {
    id: "when",
    title: "Timing",
    tip: "A cron expression with its time zone, or the interval between two runs.",
    rem: 9,
    grow: 2,
    from: "tablet",
    cell: (schedule) => timingText(schedule),
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
    tip: "When the next run is due. A paused schedule has none.",
    rem: 6,
    grow: 0,
    cell: ({ nextAt }) => <Ago at={nextAt} />,
  },
  {
    id: "overlap",
    title: "Overlap",
    tip: Object.entries(OVERLAP_TEXT)
      .map(([name, text]) => `${name}: ${text}`)
      .join("\n"),
    rem: 5,
    grow: 0,
    from: "desktop",
    cell: ({ overlap }) => overlap,
  },
  {
    id: "catchUp",
    title: "Catch-up",
    tip: Object.entries(CATCH_UP_TEXT)
      .map(([name, text]) => `${name}: ${text}`)
      .join("\n"),
    rem: 8,
    grow: 0,
    from: "desktop",
    cell: ({ catchUp, maxCatchUp }) => (catchUp === "all" ? `all, up to ${maxCatchUp}` : catchUp),
  },
];
