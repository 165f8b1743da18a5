/**
 * A time series chart on a canvas, so thousands of points are cheap. The value at the cursor is shown as text above it.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { theme } from "../theme.ts";
import { UNKNOWN } from "./format.ts";
import { Tip } from "./tip.tsx";

type Series = {
  label: string;
  /** A colour of the palette in tokens.css. */
  color: 1 | 2 | 3 | 4;
  /** One value per entry of `times`; null if unknown. */
  values: readonly (number | null)[];
};

type ChartProps = {
  label: string;
  /** Epoch ms, ascending. */
  times: readonly number[];
  series: readonly Series[];
  format: (value: number) => string;
  /** Explains the numbers. */
  tip: string;
  /** The values are integers. */
  isWhole?: boolean;
  /** The top of the scale, such as 1 for a share. Defaults to the largest value. */
  max?: number;
  height?: number;
  /** The time range of the axis, even if there are no values at its ends. */
  from: number;
  to: number;
};

const HEIGHT = 132;
/** Keeps a line at the top of the scale fully visible. */
const HEADROOM = 1.06;
const DAY_SECONDS = 86_400;
const WHOLE_STEPS = [1, 2, 5]
  .flatMap((step) => Array.from({ length: 10 }, (_, zeros) => step * 10 ** zeros))
  .sort((one, other) => one - other);

export function Chart(props: ChartProps) {
  const { label, series, format, height = HEIGHT } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [at, setAt] = useState<number | null>(null);
  const shape = series.map((one) => `${one.label}${one.color}`).join();
  const newest = useRef(props);
  newest.current = props;

  // The plot is rebuilt only if its appearance changes. New values update the existing plot.
  useEffect(() => {
    const parent = box.current;
    if (parent === null) return;
    const created = new uPlot(
      optionsOf(parent, height, () => newest.current, setAt),
      columnsOf(newest.current),
      parent,
    );
    plot.current = created;
    const observer = new ResizeObserver(() => created.setSize({ width: parent.clientWidth, height }));
    observer.observe(parent);
    return () => {
      observer.disconnect();
      created.destroy();
      plot.current = undefined;
    };
  }, [shape, height, theme.value]);
  useLayoutEffect(() => {
    plot.current?.setData(columnsOf(props));
  }, [props.times, series, props.from, props.to]);

  const shown = at ?? lastKnown(series);
  return (
    <figure class="chart">
      <figcaption class="chart-legend">
        <h3 class="chart-title">
          <Tip text={props.tip}>{label}</Tip>
        </h3>
        {series.map((one) => (
          <span key={one.label} class="chart-key">
            {series.length > 1 && <i class={`series series-${one.color}`} />}
            {series.length > 1 && one.label} <b>{valueText(one.values[shown], format)}</b>
          </span>
        ))}
        <time class="chart-at">{at === null ? "" : timeOf(props.times[at])}</time>
      </figcaption>
      <div
        ref={box}
        class="chart-box"
        role="img"
        aria-label={`${label}: ${series.map((one) => `${one.label} ${valueText(one.values[lastKnown(series)], format)}`).join(", ")}`}
        style={{ height: `${height}px` }}
      />
    </figure>
  );
}

function columnsOf({ times, series }: ChartProps): uPlot.AlignedData {
  return [times.map((at) => at / 1000), ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData;
}

function optionsOf(
  parent: HTMLElement,
  height: number,
  props: () => ChartProps,
  onCursor: (at: number | null) => void,
): uPlot.Options {
  const style = getComputedStyle(parent);
  const axis = {
    stroke: style.getPropertyValue("--chart-text"),
    grid: { stroke: style.getPropertyValue("--chart-line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  return {
    width: parent.clientWidth,
    height,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { y: false, points: { size: 6 }, drag: { setScale: false, x: false } },
    scales: {
      x: { range: () => [props().from / 1000, props().to / 1000] },
      y: { range: (_plot, _low, high) => [0, (props().max ?? Math.max(1, high ?? 0)) * HEADROOM] },
    },
    axes: [
      { ...axis, space: 70, size: 24, values: (_plot, times, _nth, _space, step) => times.map((at) => tick(at, step)) },
      {
        ...axis,
        size: 56,
        space: 36,
        ...(props().isWhole === true ? { incrs: WHOLE_STEPS } : {}),
        values: (_plot, values) => values.map((value) => props().format(value)),
      },
    ],
    series: [
      {},
      ...props().series.map(({ color, label }) => {
        const stroke = style.getPropertyValue(`--series-${color}`);
        return {
          label,
          stroke,
          width: 1.5,
          points: { show: false, filter: lonePoints, size: 4, fill: stroke },
          spanGaps: false,
        };
      }),
    ],
    hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? null)] },
  };
}

/** A line needs two values: a single value between two gaps is drawn as a point. */
function lonePoints(plot: uPlot, nth: number): number[] {
  const values = plot.data[nth] ?? [];
  const isKnown = (at: number) => values[at] !== null && values[at] !== undefined;
  return Array.from(values.keys()).filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1));
}

/** The label of the time axis: time of day, or the date. */
function tick(at: number, stepSeconds: number): string {
  const date = new Date(at * 1000);
  if (stepSeconds >= DAY_SECONDS) return date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
  return date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

function lastKnown(series: readonly Series[]): number {
  return Math.max(0, ...series.map(({ values }) => values.findLastIndex((value) => value !== null)));
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? UNKNOWN : format(value);
}

function timeOf(at: number | undefined): string {
  return at === undefined ? "" : new Date(at).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
}
