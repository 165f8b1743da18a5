/** What a person is told when a crawl ends: what came out, where it is, what went wrong, what to type next. */
import { shownPlace } from "../../config/place.ts";
import { formatBytes, formatCount, plural } from "../../domain/counted.ts";
import { formatDuration } from "../../domain/duration.ts";
import { pageUrlOf } from "../../domain/step-url.ts";
import type { DeadGroup, JobView } from "../../frontier/frontier-admin.ts";
import { showable } from "../../runtime/showable.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import type { Session } from "../session.ts";
import { type Screen, shorten, steps, table } from "../terminal.ts";
import type { CrawlEnd } from "./run-crawl.ts";

type Output = { out: string | undefined; written: number | undefined };

const GROUPS_SHOWN = 5;

export async function report(session: Session, end: CrawlEnd, output: Output): Promise<string> {
  const { screen, trawl, config } = session;
  const { job } = end;
  const isAnyDead = job.counts.dead > 0;
  const groups = isAnyDead ? (await trawl.frontier.groupDead({ jobId: job.id }, GROUPS_SHOWN + 1)).groups : [];
  const rows = [
    [`  ${LABEL}`, recordsWords(end, output)],
    ["  pages", pagesWords(end, config.store, await countUnchanged(session, job))],
    ...(job.counts.refused === 0
      ? []
      : [["  refused", `${plural(job.counts.refused, "link")}, by robots.txt or a limit`]]),
    ...failureRows(groups, job.counts.dead, screen.isLive ? screen.columns() - LABEL_WIDTH : Number.POSITIVE_INFINITY),
  ];
  return `${headline(screen, end)}\n${table(rows)}${nextSteps(screen, end, output)}`;
}

/** The longest; what may be typed next is lined up with them. */
const LABEL = "records";
const LABEL_WIDTH = `  ${LABEL}  `.length;

function headline({ paint }: Screen, { job, interrupted, seconds }: CrawlEnd): string {
  const time = formatDuration(seconds * 1000);
  // A resumed crawl fetched some of its pages in an earlier run, whose time nobody took.
  const isWhole = (job.finishedAt ?? 0) - job.createdAt < seconds * 1000 + STARTING_MS;
  const speed = seconds > 0 && isWhole ? `, ${(job.tally.pages / seconds).toFixed(1)} pages/s` : "";
  if (interrupted) return `${paint.yellow("stopped")} after ${time}: nothing is lost`;
  if (job.state === "finished") return `${paint.green("done")} in ${time}${speed}`;
  return `${paint.red(job.state)} after ${time}: ${job.state === "failed" ? "no page could be fetched" : "what waited was dropped"}`;
}

/** Between the creation of a job and the start of its run. */
const STARTING_MS = 2_000;

function recordsWords({ job }: CrawlEnd, { out, written }: Output): string {
  const { records, invalid } = job.tally;
  const apart = invalid === 0 ? "" : `, and ${formatCount(invalid)} invalid, kept apart`;
  return (out === undefined ? formatCount(records) : `${formatCount(written ?? 0)} in ${out}`) + apart;
}

/** Undefined where nothing is compared. */
async function countUnchanged({ trawl }: Session, { id, spec }: JobView): Promise<number | undefined> {
  return (spec as JobSpec).recrawl === undefined ? undefined : trawl.store.countUnchanged(id);
}

function pagesWords({ job, interrupted }: CrawlEnd, store: string, unchanged: number | undefined): string {
  const { queued, delayed, leased } = job.counts;
  const waiting = interrupted ? `; ${plural(queued + delayed + leased, "URL")} waiting` : "";
  const { pages, bytes } = job.tally;
  const same = unchanged === undefined ? "" : `, ${formatCount(unchanged)} unchanged`;
  return `${formatCount(pages)}${same} (${formatBytes(bytes)}) in ${shownPlace(store).replace(/^sqlite:/, "")}${waiting}`;
}

function failureRows(groups: readonly DeadGroup[], total: number, width: number): string[][] {
  if (total === 0) return [];
  // They may have been discarded: the ledger still counts them.
  if (groups.length === 0) return [["  failed", formatCount(total)]];
  const shown = groups.slice(0, GROUPS_SHOWN).map(({ reason, status, count, sample }, index) => {
    const words = `${formatCount(count)} × ${reason}${status === undefined ? "" : ` ${status}`}, such as `;
    return [index === 0 ? "  failed" : "", words + shorten(showable(pageUrlOf(sample)), width - words.length)];
  });
  return groups.length > GROUPS_SHOWN ? [...shown, ["", `… ${formatCount(total)} dead letters in all`]] : shown;
}

function nextSteps(screen: Screen, { job, interrupted }: CrawlEnd, { out }: Output): string {
  const { tally, counts } = job;
  const choices: [isSo: boolean, what: string, words: string][] = [
    [interrupted, "go on", `crawl --resume ${job.id}`],
    [out === undefined && tally.records > 0, "keep", `records ${job.id} --out records.csv`],
    [tally.invalid > 0, "invalid", `records ${job.id} --invalid`],
    [counts.dead > 0, "why", `dead ${job.id}`],
  ];
  const shown = choices.filter(([isSo]) => isSo);
  if (shown.length === 0) return "";
  return `\n${steps(
    shown.map(([, what, words]) => [what.padEnd(LABEL.length), words]),
    screen,
  )}`;
}
