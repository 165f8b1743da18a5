/** The report at the end of a crawl: results and their location, failures, and suggested next commands. */
import { maskedUrl } from "../../config/connection-url.ts";
import { formatDuration } from "../../domain/duration.ts";
import { formatBytes, formatCount, plural } from "../../domain/format-number.ts";
import { pageUrlOf } from "../../domain/task-url.ts";
import { PLAIN_LINKS } from "../../extract/link-selector.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { showable } from "../../runtime/showable.ts";
import { type DeadGroupWithCause, withCauses } from "../../trace/dead-causes.ts";
import { HANDLER_REASONS } from "../failed-pages.ts";
import { findProxyCosts, proxyRows } from "../proxies/costs.ts";
import type { CommandSession } from "../session.ts";
import { type Screen, shorten, steps, table } from "../terminal.ts";
import type { CrawlEnd } from "./run-crawl.ts";

type Output = { out: string | undefined; written: number | undefined };

const GROUPS_SHOWN = 5;
const SELECTORS_SHOWN = 5;

export async function report(session: CommandSession, end: CrawlEnd, output: Output): Promise<string> {
  const { screen, config } = session;
  const { job } = end;
  const isAnyDead = job.counts.dead > 0;
  const groups = isAnyDead ? await failedGroups(session, job.id) : [];
  const width = screen.isLive ? screen.columns() - LABEL_WIDTH : Number.POSITIVE_INFINITY;
  const handlerError = groups.some(({ reason }) => reason === "handler_failed")
    ? await findHandlerError(session, job.id)
    : undefined;
  const rows = [
    [`  ${LABEL}`, recordsText(end, output)],
    ["  pages", pagesText(end, config.store, await countUnchanged(session, job))],
    ...(job.counts.refused === 0
      ? []
      : [["  refused", `${plural(job.counts.refused, "link")}, because of robots.txt or a limit`]]),
    ...proxyRows(await findProxyCosts(session, job), "  proxies"),
    ...end.rates.map((text, nth) => [nth === 0 ? "  rate" : "", text]),
    ...failureRows(groups, job.counts.dead, width),
    ...unmatchedSelectors(end).map((selector, nth) => [
      nth === 0 ? "  follow" : "",
      shorten(showable(`${selector} matched no links`), width),
    ]),
    ...(handlerError === undefined ? [] : [["  error", shorten(showable(handlerError), width)]]),
  ];
  return `${headline(screen, end, groups)}\n${table(rows)}${nextSteps(screen, end, output)}`;
}

async function failedGroups({ trawl }: CommandSession, jobId: string): Promise<readonly DeadGroupWithCause[]> {
  const { groups } = await trawl.frontier.groupDead({ jobId }, GROUPS_SHOWN + 1);
  return withCauses(trawl.frontier, { jobId }, groups);
}

/** The longest label of the report. The labels of the suggested commands are padded to its length. */
const LABEL = "records";
const LABEL_WIDTH = `  ${LABEL}  `.length;

function headline({ paint }: Screen, end: CrawlEnd, groups: readonly DeadGroupWithCause[]): string {
  const { job, interrupted, seconds } = end;
  const time = formatDuration(seconds * 1000);
  const speed = seconds > 0 && isWholeRun(end) ? `, ${(job.tally.pages / seconds).toFixed(1)} pages/s` : "";
  if (interrupted) return `${paint.yellow("interrupted")} after ${time}; progress is saved`;
  if (job.state === "finished") return `${paint.green("complete")} in ${time}${speed}`;
  return `${paint.red(job.state)} after ${time}: ${job.state === "failed" ? failureText(groups) : "waiting URLs were dropped"}`;
}

function failureText(groups: readonly DeadGroupWithCause[]): string {
  const inHandler = groups.filter(({ reason }) => HANDLER_REASONS.includes(reason));
  if (inHandler.length === 0) return "no page could be fetched";
  return inHandler.length === groups.length ? "the handler failed on every page" : "no page could be processed";
}

/** The longest time between the creation of a job and the start of its run. */
const STARTING_MS = 2_000;

function recordsText({ job }: CrawlEnd, { out, written }: Output): string {
  const { records, invalid } = job.tally;
  const invalidText = invalid === 0 ? "" : `, and ${formatCount(invalid)} invalid (stored separately)`;
  return (out === undefined ? formatCount(records) : `${formatCount(written ?? 0)} in ${out}`) + invalidText;
}

/** The number of unchanged pages; undefined for a job without recrawl. */
async function countUnchanged({ trawl }: CommandSession, { id, spec }: JobView): Promise<number | undefined> {
  return spec.recrawl === undefined ? undefined : trawl.store.countUnchanged(id);
}

function pagesText({ job, interrupted }: CrawlEnd, store: string, unchanged: number | undefined): string {
  const { queued, delayed, leased } = job.counts;
  const waiting = interrupted ? `; ${plural(queued + delayed + leased, "URL")} waiting` : "";
  const { pages, bytes } = job.tally;
  const same = unchanged === undefined ? "" : `, ${formatCount(unchanged)} unchanged`;
  return `${formatCount(pages)}${same} (${formatBytes(bytes)}) in ${maskedUrl(store).replace(/^sqlite:/, "")}${waiting}`;
}

function failureRows(groups: readonly DeadGroupWithCause[], total: number, width: number): string[][] {
  if (total === 0) return [];
  // The dead letters may have been discarded; the ledger still counts them.
  if (groups.length === 0) return [["  failed", formatCount(total)]];
  const shown = groups.slice(0, GROUPS_SHOWN).map(({ reason, status, count, sample, cause }, index) => {
    const why = cause !== undefined ? `: ${showable(cause)}` : status === undefined ? "" : ` ${status}`;
    const text = `${formatCount(count)} × ${reason}${why}, for example `;
    return [index === 0 ? "  failed" : "", text + shorten(showable(pageUrlOf(sample)), width - text.length)];
  });
  return groups.length > GROUPS_SHOWN ? [...shown, ["", `… ${formatCount(total)} failed URLs in total`]] : shown;
}

/** The newest error of a handler, with the line of the user's code. */
async function findHandlerError({ trawl }: CommandSession, jobId: string): Promise<string | undefined> {
  const [letter] = await trawl.frontier.listDead({ jobId, reason: "handler_failed" }, 1);
  return letter?.history.at(-1)?.detail;
}

/**
 * Selectors that found no link in the whole crawl, usually because of a typing error or changed markup. Empty for an
 * interrupted or resumed crawl, because other runs may have matched them.
 */
function unmatchedSelectors(end: CrawlEnd): readonly string[] {
  const { job, interrupted, unmatched } = end;
  if (interrupted || job.tally.pages === 0 || !isWholeRun(end)) return [];
  const links = job.spec.spider === undefined ? job.spec.follow?.links : undefined;
  const isUnmatched = links !== undefined && links !== PLAIN_LINKS && job.counts.discovered === 0;
  return (isUnmatched ? [links] : unmatched).slice(0, SELECTORS_SHOWN);
}

/**
 * Whether the whole crawl ran in this process. A resumed crawl fetched some of its pages in an earlier run, whose
 * duration is not stored.
 */
function isWholeRun({ job, seconds }: CrawlEnd): boolean {
  return (job.finishedAt ?? 0) - job.createdAt < seconds * 1000 + STARTING_MS;
}

function nextSteps(screen: Screen, { job, interrupted }: CrawlEnd, { out }: Output): string {
  const { tally, counts } = job;
  const choices: [applies: boolean, what: string, command: string][] = [
    [interrupted, "resume", `crawl --resume ${job.id}`],
    [out === undefined && tally.records > 0, "export", `records ${job.id} --out records.csv`],
    [tally.invalid > 0, "invalid", `records ${job.id} --invalid`],
    [counts.dead > 0, "details", `dead ${job.id}`],
  ];
  const shown = choices.filter(([applies]) => applies);
  if (shown.length === 0) return "";
  return `\n${steps(
    shown.map(([, what, command]) => [what.padEnd(LABEL.length), command]),
    screen,
  )}`;
}
