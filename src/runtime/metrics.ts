/**
 * Counters, gauges and histograms for Prometheus. Every metric is declared with the values of its labels: a fixed set,
 * or a maximum number. Other values are counted as `other`, so the number of series does not grow with the crawl.
 * Snapshots are plain JSON that processes exchange and sum.
 */

/** The values of a label: a fixed set, or any values up to a maximum number. */
export type LabelValues = readonly string[] | { readonly max: number };

type Declaration = {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels?: Readonly<Record<string, LabelValues>>;
  /** Upper bounds of a histogram, ascending, without the infinite one. */
  readonly buckets?: readonly number[];
  /** How gauges of several processes are merged. */
  readonly merge?: "sum" | "max";
};
export type Declarations = Readonly<Record<string, Declaration>>;

/** A series: its labels in order, and its value. For a histogram: the count of each bucket, then the sum. */
type Series = readonly [labels: readonly string[], values: readonly number[]];
export type Snapshot = Readonly<Record<string, readonly Series[]>>;

export type Metrics<Name extends string> = {
  /** Adds to a counter. */
  add(name: Name, amount: number, ...labels: readonly string[]): void;
  /** Sets a gauge. */
  set(name: Name, value: number, ...labels: readonly string[]): void;
  /** Adds a value to a histogram. */
  observe(name: Name, value: number, ...labels: readonly string[]): void;
  /** Removes all series of a gauge. */
  clear(name: Name): void;
  snapshot(): Snapshot;
};

export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The label value for undeclared values. */
export const OTHER = "other";

type MutableSeries = { labels: readonly string[]; values: number[] };
type Metric = Declaration & {
  declaredValues: readonly LabelValues[];
  seenValues: Set<string>[];
  series: Map<string, MutableSeries>;
};

const LABEL_SEPARATOR = "\u0001";

export function createMetrics<const D extends Declarations>(declarations: D): Metrics<keyof D & string> {
  const all = new Map(Object.entries(declarations).map(([name, declaration]) => [name, metricOf(declaration)]));
  for (const metric of all.values()) createZeroSeries(metric);

  function seriesOf(name: string, labels: readonly string[]): MutableSeries {
    const metric = all.get(name);
    if (metric === undefined) throw new Error(`metric ${name} is not declared`);
    const series = metric.series.get(labels.join(LABEL_SEPARATOR));
    return series ?? addSeries(metric, replaceUnknownValues(metric, labels));
  }

  return {
    add(name, amount, ...labels) {
      const { values } = seriesOf(name, labels);
      values[0] = (values[0] ?? 0) + amount;
    },
    set(name, value, ...labels) {
      seriesOf(name, labels).values[0] = value;
    },
    observe(name, value, ...labels) {
      const { values } = seriesOf(name, labels);
      const at = bucketOf(all.get(name)?.buckets ?? [], value);
      values[at] = (values[at] ?? 0) + 1;
      const sum = values.length - 1;
      values[sum] = (values[sum] ?? 0) + value;
    },
    clear(name) {
      const metric = all.get(name);
      metric?.series.clear();
      for (const seen of metric?.seenValues ?? []) seen.clear();
    },
    snapshot: () =>
      Object.fromEntries(
        [...all].map(([name, { series }]) => [
          name,
          [...series.values()].map(({ labels, values }) => [labels, [...values]]),
        ]),
      ),
  };
}

/** Merges snapshots: counters and histograms are summed, and gauges are merged as declared. */
export function mergeSnapshots(declarations: Declarations, snapshots: readonly Snapshot[]): Snapshot {
  return Object.fromEntries(
    Object.entries(declarations).map(([name, { type, merge }]) => {
      const isMax = type === "gauge" && merge === "max";
      const sums = new Map<string, MutableSeries>();
      for (const [labels, values] of snapshots.flatMap((snapshot) => snapshot[name] ?? [])) {
        const key = labels.join(LABEL_SEPARATOR);
        const known = sums.get(key)?.values;
        const joined = values.map((value, at) =>
          isMax ? Math.max(known?.[at] ?? value, value) : value + (known?.[at] ?? 0),
        );
        sums.set(key, { labels, values: joined });
      }
      return [name, [...sums.values()].map(({ labels, values }) => [labels, values])];
    }),
  );
}

/** The part of a snapshot that remains valid after its process has ended: counters and histograms. */
export function withoutGauges(declarations: Declarations, snapshot: Snapshot): Snapshot {
  return Object.fromEntries(Object.entries(snapshot).filter(([name]) => declarations[name]?.type !== "gauge"));
}

/** Formats a snapshot in the Prometheus text format 0.0.4. Metrics without series are omitted. */
export function expose(declarations: Declarations, snapshot: Snapshot): string {
  const lines: string[] = [];
  for (const [name, declaration] of Object.entries(declarations)) {
    const series = snapshot[name] ?? [];
    if (series.length === 0) continue;
    lines.push(`# HELP ${name} ${escapeHelp(declaration.help)}`, `# TYPE ${name} ${declaration.type}`);
    const names = Object.keys(declaration.labels ?? {});
    for (const one of series) lines.push(...samples(name, declaration, names, one));
  }
  return lines.map((line) => `${line}\n`).join("");
}

function samples(
  name: string,
  { type, buckets = [] }: Declaration,
  names: readonly string[],
  series: Series,
): string[] {
  const [values, numbers] = series;
  const labels = names.map((label, at) => `${label}="${escapeValue(values[at] ?? "")}"`);
  const sample = (suffix: string, own: readonly string[], value: number) =>
    `${name}${suffix}${own.length === 0 ? "" : `{${own.join(",")}}`} ${shown(value)}`;
  if (type !== "histogram") return [sample("", labels, numbers[0] ?? 0)];
  let below = 0;
  const counts = [...buckets, Number.POSITIVE_INFINITY].map((bound, at) => {
    below += numbers[at] ?? 0;
    return sample("_bucket", [...labels, `le="${shown(bound)}"`], below);
  });
  return [...counts, sample("_sum", labels, numbers.at(-1) ?? 0), sample("_count", labels, below)];
}

function shown(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeValue(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

function metricOf(declaration: Declaration): Metric {
  const declaredValues = Object.values(declaration.labels ?? {});
  const seenValues = declaredValues.map(() => new Set<string>());
  return { ...declaration, declaredValues, seenValues, series: new Map() };
}

/** A metric with more label combinations than this gets no zero series. */
const MAX_ZERO_SERIES = 100;

/** Creates counters and histograms with the value 0, so that Prometheus sees their first event as an increase. */
function createZeroSeries(metric: Metric): void {
  if (metric.type === "gauge") return;
  let combinations: string[][] = [[]];
  for (const set of metric.declaredValues) {
    if (!isClosed(set)) return;
    combinations = combinations.flatMap((before) => set.map((value) => [...before, value]));
  }
  if (combinations.length > MAX_ZERO_SERIES) return;
  for (const labels of combinations) addSeries(metric, labels);
}

function addSeries(metric: Metric, labels: readonly string[]): MutableSeries {
  const key = labels.join(LABEL_SEPARATOR);
  const known = metric.series.get(key);
  if (known !== undefined) return known;
  const length = metric.type === "histogram" ? (metric.buckets?.length ?? 0) + 2 : 1;
  const created = { labels, values: new Array<number>(length).fill(0) };
  metric.series.set(key, created);
  return created;
}

/** Returns the labels, with `other` for undeclared values and for values above the maximum number. */
function replaceUnknownValues({ declaredValues, seenValues }: Metric, labels: readonly string[]): string[] {
  if (labels.length !== declaredValues.length)
    throw new Error(`expected ${declaredValues.length} labels, got ${labels.length}`);
  return labels.map((value, at) => {
    const [set, seen] = [declaredValues[at], seenValues[at]];
    if (set === undefined || seen === undefined) return OTHER;
    if (isClosed(set)) return set.includes(value) ? value : OTHER;
    if (seen.has(value) || seen.size < set.max) {
      seen.add(value);
      return value;
    }
    return OTHER;
  });
}

function isClosed(set: LabelValues): set is readonly string[] {
  return Array.isArray(set);
}

/** The bucket of a value. A linear search, because buckets are few and most values are in the first ones. */
function bucketOf(bounds: readonly number[], value: number): number {
  let at = 0;
  while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
  return at;
}
