/** The charts of docs/benchmarks.md, from summaries. Pure. */
import { barChart } from "../charts/bar-chart.mjs";
import { findShare } from "../crawl/group.mjs";
import { group } from "../harness/report.mjs";

/** Lists `{ file, title, svg }`. A chart without any figure is left out. */
export function makeCharts(groups, summary) {
  const unlimited = ["one", "one-text", "many", "many-text"];
  const limited = ["one-300", "one-1000", "many-4", "many-10", "few-4"];
  const charts = [
    chart("bench-speed.svg", "Pages per second without a rate limit", unlimited, figure("pagesPerS", group)),
    chart(
      "bench-polite.svg",
      "Pages per second with a rate limit; the red line is what can be reached",
      limited,
      polite,
    ),
    chart(
      "bench-cpu.svg",
      "CPU seconds per 1,000 pages, without services",
      ["one", "many", "many-10"],
      figure("cpuSPer1k", seconds),
    ),
    chart("bench-memory.svg", "Peak memory in MB", ["one", "many", "many-10"], figure("peakRssMb", group)),
  ];
  return charts.filter((one) => one !== undefined);

  function chart(file, title, names, toBar) {
    const drawn = names.flatMap((name) => {
      const entries = summary.filter((entry) => entry.group === name);
      return entries.length === 0
        ? []
        : [{ title: groups[name].title, bars: entries.map((entry) => barOf(entry, toBar)) }];
    });
    const hasFigures = drawn.some(({ bars }) => bars.some(({ value }) => value !== undefined));
    return hasFigures ? { file, title, svg: barChart({ title, groups: drawn }) } : undefined;
  }

  function barOf(entry, toBar) {
    const { label, isTrawl = false } = groups[entry.group].contestants[entry.contestant] ?? { label: entry.contestant };
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
