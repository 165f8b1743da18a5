/** One group per workload: every contestant crawls the same sites. */

import { formatSpread, group } from "../harness/report.mjs";
import { shareOf } from "../origin/judge-requests.mjs";
import { listContestants } from "./contestants.mjs";
import { runCrawl } from "./run.mjs";
import { resize, WORKLOADS } from "./workloads.mjs";

export function crawlGroups({ before }) {
  const contestants = listContestants(before);
  return Object.fromEntries(
    Object.entries(WORKLOADS).map(([name, workload]) => [name, groupOf({ name, workload, contestants })]),
  );
}

function groupOf({ name, workload, contestants }) {
  return {
    title: workload.title,
    contestants,
    columns: COLUMNS.filter(({ isForRates }) => isForRates !== true || workload.intervalMs !== undefined),
    workload: { name, ...workload },
    async run(contestantName, session) {
      const sized = resize(workload, session.options.pages);
      const origin = await session.openOrigin(sized);
      const contestant = contestants[contestantName];
      const { services, options, signal } = session;
      const result = await runCrawl({ contestant, workload: sized, origin, services, options, signal });
      return toRun(result);
    },
  };
}

/** Returns the figures of a run as flat numbers, which are summarised over the rounds. */
export function toRun({ problems, notes, gaps, servicesCpuSPer1k, judged, ...figures }) {
  if (problems.length > 0) return { problem: problems.join("; "), notes };
  const services = Object.entries(servicesCpuSPer1k).map(([name, cpuS]) => [`${name}CpuSPer1k`, cpuS]);
  const gapFigures =
    gaps === undefined ? {} : { gaps: gaps.gaps, shortGaps: gaps.short, shortestGapMs: gaps.shortestMs };
  const all = { ...figures, ...Object.fromEntries(services), ...gapFigures, missed: judged.missed };
  const isNumber = ([, value]) => Number.isFinite(value);
  return { figures: Object.fromEntries(Object.entries(all).filter(isNumber)), gapsBy: gaps?.by, notes };
}

/**
 * The speed of the contestant as a share of what it can reach; undefined without a rate. `all` are the summaries of all
 * groups.
 */
export function findShare({ figures, contestant }, { workload }, all) {
  if (figures.allowancePerS === undefined) return undefined;
  const unlimited = all.find((entry) => entry.group === workload.unlimited && entry.contestant === contestant)?.figures;
  return {
    share: shareOf({
      pagesPerS: figures.pagesPerS.median,
      allowancePerS: figures.allowancePerS.median,
      unlimitedPerS: unlimited?.pagesPerS.median,
    }),
    isAllowanceOnly: unlimited === undefined,
  };
}

const seconds = (value) => value.toFixed(2);
const percent = (share) => `${(share * 100).toFixed(1)} %`;

/** `read` returns the text of a cell, or undefined. */
const COLUMNS = [
  { heading: "pages/s", read: ({ figures }) => formatSpread(figures.pagesPerS, group) },
  {
    heading: "share of what can be reached",
    isForRates: true,
    read: (entry, definition, all) => {
      const found = findShare(entry, definition, all);
      return found && `${Math.round(found.share * 100)} %${found.isAllowanceOnly ? " of the allowance" : ""}`;
    },
  },
  {
    heading: "share per site, median / worst",
    isForRates: true,
    read: ({ figures }) =>
      figures.siteShareMedian && `${percent(figures.siteShareMedian.median)} / ${percent(figures.siteShareWorst.min)}`,
  },
  { heading: "CPU s/1k pages", read: ({ figures }) => formatSpread(figures.cpuSPer1k, seconds) },
  {
    heading: "Redis CPU s/1k",
    read: ({ figures }) => figures.redisCpuSPer1k && formatSpread(figures.redisCpuSPer1k, seconds),
  },
  {
    heading: "Redis scripts/page, s/1k",
    read: ({ figures }) =>
      figures.scriptsPerPage &&
      `${figures.scriptsPerPage.median.toFixed(3)}, ${figures.scriptSPer1k.median.toFixed(3)}`,
  },
  {
    heading: "PostgreSQL CPU s/1k",
    read: ({ figures }) => figures.postgresCpuSPer1k && formatSpread(figures.postgresCpuSPer1k, seconds),
  },
  { heading: "peak RSS MB", read: ({ figures }) => formatSpread(figures.peakRssMb, group) },
  {
    heading: "short gaps",
    isForRates: true,
    read: ({ figures, gapsBy }) =>
      figures.shortGaps &&
      `${group(figures.shortGaps.max)} of ${group(figures.gaps.max)}${gapsBy === "log" ? " (log)" : ""}`,
  },
];
