/** The charts of docs/benchmarks.md, from summaries. Pure. */
import { barChart } from "../charts/bar-chart.mjs";
import { findShare } from "../crawl/group.mjs";
import { group } from "../harness/report.mjs";
import { entriesOf } from "../harness/summary.mjs";

const UNLIMITED = ["one", "one-text", "many", "many-text"];
const LIMITED = ["one-300", "one-1000", "many-4", "many-10", "few-4"];
const TYPICAL = ["one", "many", "many-10"];

/** Lists `{ file, title, svg }`. A chart without any figure is left out. */
export function makeCharts(groups, summary) {
  const charts = [
    {
      file: "bench-speed.svg",
      title: "Pages per second without a rate limit",
      names: UNLIMITED,
      toBar: figure("pagesPerS", group),
    },
    {
      file: "bench-polite.svg",
      title: "Pages per second with a rate limit; the red line is what can be reached",
      names: LIMITED,
      toBar: polite,
      // The allowance of many-10 is thirty times that of few-4.
      isScaledByGroup: true,
    },
    {
      file: "bench-cpu.svg",
      title: "CPU seconds per 1,000 pages, without Redis and PostgreSQL",
      names: TYPICAL,
      toBar: figure("cpuSPer1k", seconds),
    },
    { file: "bench-memory.svg", title: "Peak memory in MB", names: TYPICAL, toBar: figure("peakRssMb", group) },
  ];
  return charts.map(draw).filter((one) => one !== undefined);

  function draw({ file, title, names, toBar, isScaledByGroup = false }) {
    const drawn = names
      .map((name) => ({ title: groups[name].title, bars: entriesOf(name, groups[name], summary) }))
      .filter(({ bars }) => bars.length > 0)
      .map(({ title: heading, bars }) => ({ title: heading, bars: bars.map((entry) => barOf(entry, toBar)) }));
    const hasFigures = drawn.some(({ bars }) => bars.some(({ value }) => value !== undefined));
    return hasFigures ? { file, title, svg: barChart({ title, groups: drawn, isScaledByGroup }) } : undefined;
  }

  function barOf(entry, toBar) {
    const { label, isTrawl = false } = groups[entry.group].contestants[entry.contestant];
    const isOurs = isTrawl && !entry.contestant.startsWith("before");
    if (entry.figures === undefined) return { label, isOurs, text: shorten(entry.reason) };
    return { label, isOurs, ...toBar(entry) };
  }

  function polite(entry) {
    const { share } = findShare(entry, groups[entry.group], summary);
    const { median, min, max } = entry.figures.pagesPerS;
    return { value: median, min, max, limit: median / share, text: `${group(median)}, ${Math.round(share * 100)} %` };
  }
}

function figure(name, format) {
  return ({ figures }) => {
    const { median, min, max } = figures[name];
    return { value: median, min, max, text: format(median) };
  };
}

function seconds(value) {
  return value.toFixed(2);
}

function shorten(reason) {
  return reason.length > 60 ? `${reason.slice(0, 59)}…` : reason;
}
