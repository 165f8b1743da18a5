/** Numbers over time, on a canvas: thousands of points cost what a few do. What the cursor is at stands in words above. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { theme } from "../theme.ts";
import { UNKNOWN } from "./format.ts";
import { Tip } from "./tip.tsx";

export type Series = {
  label: string;
  /** Of the palette in tokens.css. */
  ink: 1 | 2 | 3 | 4;
  /** One for each of the times; null where nothing is known. */
  values: readonly (number | null)[];
};

export type ChartProps = {
  label: string;
  /** Epoch ms, ascending. */
  times: readonly number[];
  series: readonly Series[];
  format: (value: number) => string;
  /** What the numbers are, for who asks. */
  tip: string;
  /** There are no halves of it. */
  isWhole?: boolean;
  /** The most there can be, such as 1 of a share; otherwise the most there is. */
  most?: number;
  height?: number;
  /** The whole of the range, also where there is nothing at its ends. */
  from: number;
  to: number;
};

const HEIGHT = 132;
/** So that a line along the top is drawn whole. */
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
  const shape = series.map((one) => `${one.label}${one.ink}`).join();
  const newest = useRef(props);
  newest.current = props;

  // Made anew only where its looks change; new numbers are given to the one that is there.
  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    const made = new uPlot(
      optionsOf(place, height, () => newest.current, setAt),
      columnsOf(newest.current),
      place,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: place.clientWidth, height }));
    observer.observe(place);
    return () => {
      observer.disconnect();
      made.destroy();
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
          <Tip says={props.tip}>{label}</Tip>
        </h3>
        {series.map((one) => (
          <span key={one.label} class="chart-key">
            {series.length > 1 && <i class={`ink ink-${one.ink}`} />}
            {series.length > 1 && one.label} <b>{words(one.values[shown], format)}</b>
          </span>
        ))}
        <time class="chart-at">{at === null ? "" : timeOf(props.times[at])}</time>
      </figcaption>
      <div
        ref={box}
        class="chart-box"
        role="img"
        aria-label={`${label}: ${series.map((one) => `${one.label} ${words(one.values[lastKnown(series)], format)}`).join(", ")}`}
        style={{ height: `${height}px` }}
      />
    </figure>
  );
}

function columnsOf({ times, series }: ChartProps): uPlot.AlignedData {
  return [times.map((at) => at / 1000), ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData;
}

function optionsOf(
  place: HTMLElement,
  height: number,
  props: () => ChartProps,
  onCursor: (at: number | null) => void,
): uPlot.Options {
  const style = getComputedStyle(place);
  const axis = {
    stroke: style.getPropertyValue("--chart-text"),
    grid: { stroke: style.getPropertyValue("--chart-line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  return {
    width: place.clientWidth,
    height,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { y: false, points: { size: 6 }, drag: { setScale: false, x: false } },
    scales: {
      x: { range: () => [props().from / 1000, props().to / 1000] },
      y: { range: (_plot, _low, high) => [0, (props().most ?? Math.max(1, high ?? 0)) * HEADROOM] },
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
      ...props().series.map(({ ink, label }) => {
        const stroke = style.getPropertyValue(`--ink-${ink}`);
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

/** A line takes two: what is known between two gaps is drawn as a point. */
function lonePoints(plot: uPlot, nth: number): number[] {
  const values = plot.data[nth] ?? [];
  const isKnown = (at: number) => values[at] !== null && values[at] !== undefined;
  return Array.from(values.keys()).filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1));
}

/** In one line: the time of a day, or the day. */
function tick(at: number, stepSeconds: number): string {
  const date = new Date(at * 1000);
  if (stepSeconds >= DAY_SECONDS) return date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
  return date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

function lastKnown(series: readonly Series[]): number {
  return Math.max(0, ...series.map(({ values }) => values.findLastIndex((value) => value !== null)));
}

function words(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? UNKNOWN : format(value);
}

function timeOf(at: number | undefined): string {
  return at === undefined ? "" : new Date(at).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
}
