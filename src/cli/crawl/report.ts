/** What a person is told when a crawl ends: what came out, where it is, what went wrong, what to type next. */
import { formatDuration } from "../../domain/duration.ts";
import type { DeadGroup } from "../../frontier/frontier-admin.ts";
import type { Session } from "../session.ts";
import { formatBytes, formatCount, type Screen, table } from "../terminal.ts";
import type { CrawlEnd } from "./run-crawl.ts";

type Output = { out: string | undefined; written: number | undefined };

const GROUPS_SHOWN = 5;

export async function report(session: Session, end: CrawlEnd, output: Output): Promise<string> {
  const { screen, trawl, config } = session;
  const { job } = end;
  const groups = job.counts.dead === 0 ? [] : await trawl.frontier.groupDead({ jobId: job.id }, GROUPS_SHOWN + 1);
  const rows = [
    ["  records", recordsWords(end, output)],
    [
      "  pages",
      `${formatCount(job.tally.pages)} (${formatBytes(job.tally.bytes)}) in ${config.store.replace(/^sqlite:/, "")}`,
    ],
    ...failureRows(groups, job.counts.dead),
    ...(job.counts.refused === 0
      ? []
      : [["  refused", `${formatCount(job.counts.refused)} URLs, by robots.txt or a limit`]]),
  ];
  return `${headline(screen, end)}\n${table(rows)}${nextSteps(screen, end, output)}`;
}

function headline({ paint }: Screen, { job, interrupted, seconds }: CrawlEnd): string {
  const time = formatDuration(seconds * 1000);
  const speed = seconds > 0 ? `, ${(job.tally.pages / seconds).toFixed(1)} pages/s` : "";
  if (interrupted) return `${paint.yellow("stopped")} after ${time}: nothing is lost${speed}`;
  if (job.state === "finished") return `${paint.green("done")} in ${time}${speed}`;
  return `${paint.red(job.state)} after ${time}: ${job.state === "failed" ? "no page could be fetched" : "what waited was dropped"}`;
}

function recordsWords({ job }: CrawlEnd, { out, written }: Output): string {
  const { records, invalid } = job.tally;
  const kept =
    invalid === 0 ? "" : `, ${formatCount(invalid)} invalid ones kept apart (trawl records ${job.id} --invalid)`;
  if (out === undefined) return `${formatCount(records)}${kept}`;
  return `${formatCount(written ?? 0)} in ${out}${kept}`;
}

function failureRows(groups: readonly DeadGroup[], total: number): string[][] {
  if (total === 0) return [];
  const shown = groups.slice(0, GROUPS_SHOWN).map(({ reason, status, count, sample }) => {
    return ["", `${formatCount(count)} × ${reason}${status === undefined ? "" : ` ${status}`}, such as ${sample}`];
  });
  return [
    ["  failed", `${formatCount(total)} dead letters:`],
    ...shown,
    ...(groups.length > GROUPS_SHOWN ? [["", "…"]] : []),
  ];
}

function nextSteps({ paint }: Screen, { job, interrupted }: CrawlEnd, { out }: Output): string {
  const steps: string[][] = [];
  if (interrupted) steps.push(["go on", `trawl crawl --resume ${job.id}`]);
  if (out === undefined) steps.push(["records", `trawl records ${job.id} --out records.csv`]);
  if (job.counts.dead > 0) steps.push(["failures", `trawl dead ${job.id}`]);
  return steps.length === 0 ? "" : table(steps.map(([what, command]) => [`  ${what}`, paint.cyan(command ?? "")]));
}
