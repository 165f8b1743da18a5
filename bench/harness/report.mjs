/** Formats runs and verdicts as text. */
import { findCpuRatio } from "./judge.mjs";

const HEADINGS = ["contestant", "pages", "pages/s", "CPU s/1k pages", "peak RSS MB", "CPU vs floor"];
const VERDICTS = { pass: "pass", fail: "FAIL", unknown: "unknown" };

export function formatRun(run, rounds) {
  const lead = `round ${run.round}/${rounds} ${run.contestant.padEnd(7)}`;
  const notes = run.notes.map((note) => `\n  note: ${note}`).join("");
  if (run.problems.length > 0) return `${lead} FAILED: ${run.problems.join("\n  and ")}${notes}`;
  const parts = [
    `${group(run.pages)} pages in ${run.wallS.toFixed(1)} s`,
    `${group(run.pagesPerS)} pages/s`,
    `${run.cpuSPer1kPages.toFixed(3)} CPU s/1k`,
    `${Math.round(run.peakRssMb)} MB`,
    "each page once",
  ];
  return `${lead} ${parts.join(", ")}${notes}`;
}

/**
 * Median, with minimum and maximum over the rounds in brackets. `pagesOf` returns the number of pages of a contestant's
 * site.
 */
export function formatTable(summary, pagesOf) {
  const rows = summary.map((entry) => {
    const pages = group(pagesOf(entry.name));
    if (entry.figures === undefined)
      return [entry.name, pages, `failed ${entry.failed} of ${entry.runs}`, "-", "-", "-"];
    const { pagesPerS, cpuSPer1kPages, peakRssMb } = entry.figures;
    const ratio = findCpuRatio(summary, entry.name, "floor");
    return [
      entry.name,
      pages,
      formatSpread(pagesPerS, group),
      formatSpread(cpuSPer1kPages, (value) => value.toFixed(3)),
      formatSpread(peakRssMb, group),
      ratio === undefined ? "-" : `${ratio.toFixed(2)}x`,
    ];
  });
  return alignColumns([HEADINGS, ...rows]);
}

export function formatVerdicts(verdicts) {
  return verdicts.map(({ bar, verdict, result }) => `${VERDICTS[verdict]}  ${bar}: ${result}`).join("\n");
}

export function formatSpread({ median, min, max }, format) {
  return `${format(median)} (${format(min)}-${format(max)})`;
}

export function group(value) {
  return Math.round(value).toLocaleString("en-US");
}

export function alignColumns(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd : cell.padStart).call(cell, widths[column]));
  return rows.map((row) => line(row).join("  ").trimEnd()).join("\n");
}
