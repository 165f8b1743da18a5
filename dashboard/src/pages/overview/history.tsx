/** What the fleet did over time: from the store, with what is going on now as the last point. */
import { useMemo } from "preact/hooks";
import type { HistoryOut, HistoryPointOut, PaceOut } from "../../../../src/api/wire-history.ts";
import { fleet } from "../../live.ts";
import { usePolled } from "../../polled.ts";
import { place, setQuery } from "../../router.ts";
import { api } from "../../session.ts";
import { Chart } from "../../ui/chart.tsx";
import { decimal, duration, percent, short } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Choice } from "../../ui/tabs.tsx";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const RANGES = {
  "15m": { label: "15 min", ms: 15 * MINUTE, everyMs: 10_000 },
  "1h": { label: "1 h", ms: HOUR, everyMs: 10_000 },
  "24h": { label: "24 h", ms: 24 * HOUR, everyMs: MINUTE },
  "7d": { label: "7 d", ms: 7 * 24 * HOUR, everyMs: 5 * MINUTE },
  "30d": { label: "30 d", ms: 30 * 24 * HOUR, everyMs: 5 * MINUTE },
} as const;
type Range = keyof typeof RANGES;
const USUAL: Range = "15m";
const OPTIONS = (Object.keys(RANGES) as Range[]).map((value) => ({ value, label: RANGES[value].label }));

const CHARTS: readonly {
  label: string;
  tip: string;
  format: (value: number) => string;
  most?: number;
  isWhole?: boolean;
  series: readonly { label: string; ink: 1 | 2 | 3 | 4; of: keyof HistoryPointOut & keyof Live }[];
}[] = [
  {
    label: "Pages a second",
    tip: "Pages that were read, of all workers.",
    format: decimal,
    series: [{ label: "pages/s", ink: 1, of: "pagesPerSecond" }],
  },
  {
    label: "Success",
    tip: "Which share of all tries ended as they should. The rest is tried again later, or given up on.",
    format: percent,
    most: 1,
    series: [{ label: "success", ink: 1, of: "success" }],
  },
  {
    label: "Latency",
    tip: "How long a try takes from lease to result. Half of them take no longer than p50, 95 of 100 no longer than p95.",
    format: duration,
    series: [
      { label: "p50", ink: 1, of: "p50Ms" },
      { label: "p95", ink: 2, of: "p95Ms" },
    ],
  },
  {
    label: "Waiting",
    tip: "URLs on all queues, due or not yet.",
    format: short,
    isWhole: true,
    series: [{ label: "waiting", ink: 1, of: "waiting" }],
  },
  {
    label: "In flight",
    tip: "Tasks that workers have under way.",
    format: short,
    isWhole: true,
    series: [{ label: "in flight", ink: 1, of: "inFlight" }],
  },
  {
    label: "Workers",
    tip: "Processes that were heard of lately.",
    format: short,
    isWhole: true,
    series: [{ label: "workers", ink: 1, of: "workers" }],
  },
];

export function History() {
  const range = rangeIn(place.value.query.range);
  const { ms, everyMs } = RANGES[range];
  const asked = usePolled(
    (signal) => {
      const now = Date.now();
      const span = { from: new Date(now - ms).toISOString(), to: new Date(now).toISOString() };
      return api().history(span, { signal });
    },
    everyMs,
    [range],
  );
  const show = (value: Range) => setQuery({ range: value === USUAL ? undefined : value });
  return (
    <Card
      title="History"
      class="history"
      actions={<Choice label="How far back" options={OPTIONS} value={range} onChange={show} />}
    >
      <Problem error={asked.error} onRetry={asked.reload} />
      <Charts history={asked.value} ms={ms} />
    </Card>
  );
}

/** An address may be typed by anybody. */
function rangeIn(asked: string | undefined): Range {
  return OPTIONS.find(({ value }) => value === asked)?.value ?? USUAL;
}

type Live = PaceOut & { workers: number };

function Charts({ history, ms }: { history: HistoryOut | undefined; ms: number }) {
  const now = fleet.value;
  const live = now === undefined ? undefined : { ...now.pace, workers: now.workers };
  const to = Date.now();
  // The last point is still filling: what goes on now stands in its place.
  const points = useMemo(() => history?.points.slice(0, -1) ?? [], [history]);
  const times = useMemo(() => [...points.map(({ at }) => Date.parse(at)), to], [points, live]);
  return (
    <div class="charts">
      {CHARTS.map(({ series, ...looks }) => (
        <Chart
          key={looks.label}
          {...looks}
          times={times}
          to={to}
          from={to - ms}
          series={series.map(({ of, ...line }) => ({
            ...line,
            values: [...points.map((point) => point[of]), live?.[of] ?? null],
          }))}
        />
      ))}
    </div>
  );
}
