/** Computes medians and verdicts of the API benchmark from its runs, and formats them. Pure. */

import { alignColumns, formatSpread, group } from "../harness/report.mjs";
import { spread } from "../harness/spread.mjs";

/** The minimum requests per second of the list cases, and the maximum time of a submission relative to `bare`. */
const BARS = { list: 1_000, "one-host": 2, "many-hosts": 3 };

/** One entry per case, broker and server, with the spread of each figure. */
export function summarise(runs) {
  const groups = new Map();
  for (const run of runs) {
    const key = `${run.case} ${run.broker} ${run.server}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()].map((group) => {
    const [{ figures, round: _, ...about }] = group;
    const names = Object.keys(figures);
    return {
      ...about,
      ...Object.fromEntries(names.map((name) => [name, spread(group.map((run) => run.figures[name]))])),
    };
  });
}

export function formatTables(summary) {
  const ms = (value) => value.toFixed(value < 10 ? 2 : 1);
  const lists = summary
    .filter(isList)
    .map((entry) => [
      ...[`${entry.case}, ${entry.broker}, ${entry.server}`, formatSpread(entry.perSecond, group)],
      ...[entry.p50, entry.p99, entry.cpuMs].map((figure) => formatSpread(figure, ms)),
    ]);
  const submissions = summary
    .filter((entry) => !isList(entry))
    .map((entry) => {
      const bare = bareOf(summary, entry);
      const times = (figure) => `${(entry[figure].median / bare[figure].median).toFixed(2)}x`;
      return [
        ...[`${entry.case}, ${entry.broker}, ${entry.server}`, formatSpread(entry.wallMs, ms)],
        ...[formatSpread(entry.cpuMs, ms), times("wallMs"), times("cpuMs")],
      ];
    });
  return [
    ...(lists.length > 0
      ? [alignColumns([["GET /v1/jobs", "requests/s", "p50 ms", "p99 ms", "CPU ms/request"], ...lists])]
      : []),
    ...(submissions.length > 0
      ? [alignColumns([["POST /v1/jobs", "wall ms", "CPU ms", "wall vs bare", "CPU vs bare"], ...submissions])]
      : []),
  ].join("\n\n");
}

/** Compares this checkout with the limits. Submissions are judged only on SQLite. */
export function judge(summary) {
  return summary
    .filter(({ server }) => server === "trawl")
    .flatMap((entry) => {
      if (isList(entry)) {
        const bar = `${entry.case} on ${entry.broker} answers at least ${group(BARS.list)} requests/s`;
        return [verdictOf(bar, entry.perSecond.median >= BARS.list, `${group(entry.perSecond.median)} requests/s`)];
      }
      if (entry.broker !== "sqlite") return [];
      const ratio = entry.wallMs.median / bareOf(summary, entry).wallMs.median;
      const bar = `${entry.case} on ${entry.broker} takes at most ${BARS[entry.case]}x the time of bare`;
      return [verdictOf(bar, ratio <= BARS[entry.case], `${ratio.toFixed(2)}x`)];
    });
}

function isList(entry) {
  return "perSecond" in entry;
}

function verdictOf(bar, isMet, result) {
  return { bar, verdict: isMet ? "pass" : "fail", result };
}

function bareOf(summary, entry) {
  return summary.find((other) => other.case === entry.case && other.server === "bare");
}
