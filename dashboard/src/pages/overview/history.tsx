/** Charts of the fleet over time: history from the store, with the live state as the last point. */
import { useMemo } from "preact/hooks";
import type { HistoryOut, HistoryPointOut, PaceOut } from "../../../../src/client/wire-types.ts";
import { fleet } from "../../live.ts";
import { usePolled } from "../../polled.ts";
import { route, setQuery } from "../../router.ts";
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
const DEFAULT_RANGE: Range = "15m";
const OPTIONS = (Object.keys(RANGES) as Range[]).map((value) => ({ value, label: RANGES[value].label }));

const CHARTS: readonly {
  label: string;
  tip: string;
  format: (value: number) => string;
  max?: number;
  isWhole?: boolean;
  series: readonly { label: string; color: 1 | 2 | 3 | 4; of: keyof HistoryPointOut & keyof Live }[];
}[] = [
  {
    label: "Pages per second",
    tip: "Pages that all workers processed.",
    format: decimal,
    series: [{ label: "pages/s", color: 1, of: "pagesPerSecond" }],
  },
  {
    label: "Success rate",
    tip: "The share of attempts that succeeded. The others are retried later or become dead letters.",
    format: percent,
    max: 1,
    series: [{ label: "success", color: 1, of: "success" }],
  },
  {
    label: "Latency",
    tip: "How long an attempt takes from lease to result. p50 is the median; 95 % of attempts take no longer than p95.",
    format: duration,
    series: [
      { label: "p50", color: 1, of: "p50Ms" },
      { label: "p95", color: 2, of: "p95Ms" },
    ],
  },
  {
    label: "Waiting",
    tip: "URLs on all queues, including those that are not due yet.",
    format: short,
    isWhole: true,
    series: [{ label: "waiting", color: 1, of: "waiting" }],
  },
  {
    label: "In flight",
    tip: "Tasks that workers are processing.",
    format: short,
    isWhole: true,
    series: [{ label: "in flight", color: 1, of: "inFlight" }],
  },
  {
    label: "Workers",
    tip: "Worker processes that sent a heartbeat recently.",
    format: short,
    isWhole: true,
    series: [{ label: "workers", color: 1, of: "workers" }],
  },
];

export function History() {
  const range = rangeIn(route.value.query.range);
  const { ms, everyMs } = RANGES[range];
  const history = usePolled(
    (signal) => {
      const now = Date.now();
      const span = { from: new Date(now - ms).toISOString(), to: new Date(now).toISOString() };
      return api().history(span, { signal });
    },
    everyMs,
    [range],
  );
  const show = (value: Range) => setQuery({ range: value === DEFAULT_RANGE ? undefined : value });
  return (
    <Card
      title="History"
      class="history"
      actions={<Choice label="Time range" options={OPTIONS} value={range} onChange={show} />}
    >
      <Problem error={history.error} onRetry={history.reload} />
      <Charts history={history.value} ms={ms} />
    </Card>
  );
}

/** The range in the address; the default if it is invalid. */
function rangeIn(text: string | undefined): Range {
  return OPTIONS.find(({ value }) => value === text)?.value ?? DEFAULT_RANGE;
}

type Live = PaceOut & { workers: number };

function Charts({ history, ms }: { history: HistoryOut | undefined; ms: number }) {
  const now = fleet.value;
  const live = now === undefined ? undefined : { ...now.pace, workers: now.workers };
  const to = Date.now();
  // The last bucket is incomplete, so the live values replace it.
  const points = useMemo(() => history?.points.slice(0, -1) ?? [], [history]);
  const times = useMemo(() => [...points.map(({ at }) => Date.parse(at)), to], [points, live]);
  return (
    <div class="charts">
      {CHARTS.map(({ series, ...chart }) => (
        <Chart
          key={chart.label}
          {...chart}
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
