/** Formats the trace of a job: counts, failed attempts, failed URLs and slow pages. */
import type { JobTraceOut } from "../../client/wire-types.ts";
import { formatDuration } from "../../domain/duration.ts";
import { formatBytes, formatCount, plural } from "../../domain/format-number.ts";
import { shortProcess } from "../../runtime/process-identity.ts";
import { showable } from "../../runtime/showable.ts";
import { type Screen, steps, table, withCommand } from "../terminal.ts";

export function jobTraceText(trace: JobTraceOut, screen: Screen): string {
  const { waits } = trace;
  const { id, name, state, requestId, counts, tally, createdAt, finishedAt } = trace.job;
  const age = finishedAt === null ? "" : ` after ${formatDuration(Date.parse(finishedAt) - Date.parse(createdAt))}`;
  const waiting = counts.queued + counts.delayed + counts.leased;
  const numbers = [
    plural(tally.pages, "page"),
    `${formatBytes(tally.bytes)}`,
    plural(tally.records, "record"),
    `${formatCount(counts.dead)} failed`,
    `${formatCount(waiting)} waiting`,
  ].join(", ");
  return [
    `${screen.paint.bold(showable(`job ${id}`))}  ${showable(name)}\n`,
    `${showable(`submitted ${createdAt}${requestId === null ? "" : ` by request ${requestId}`}`)}\n`,
    `${state}${age}: ${numbers}\n`,
    waits.map((reason) => `  ${showable(withCommand(reason, screen))}\n`).join(""),
    failedText(trace, screen),
    deadText(trace, screen),
    slowText(trace, screen),
    nextText(trace, screen),
  ].join("");
}

function failedText({ attempts }: JobTraceOut, { outColumns }: Screen): string {
  if (attempts.length === 0) return "";
  const rows = attempts.map(({ outcome, because, status, count, sample }) => [
    "",
    formatCount(count),
    outcome,
    because,
    status === null ? "" : String(status),
    sample,
  ]);
  return `\nattempts without a page, with an example of each\n${table(rows, { right: [1], width: outColumns() })}`;
}

function deadText({ dead }: JobTraceOut, { outColumns }: Screen): string {
  if (dead.length === 0) return "";
  const rows = dead.map(({ taskId, reason, status, url, history }) => [
    "",
    `task ${taskId}`,
    reason,
    status === null ? "" : String(status),
    plural(history.length, "attempt"),
    url,
  ]);
  return `\nfailed\n${table(rows, { width: outColumns() })}`;
}

function slowText({ slowest }: JobTraceOut, { outColumns }: Screen): string {
  const rows = slowest.flatMap(({ taskId, status, tookMs, url, worker, leaseMs }) => {
    if (leaseMs === null) return [];
    const fetched = `fetched in ${formatDuration(tookMs)}`;
    return [
      [
        "",
        `task ${taskId}`,
        formatDuration(leaseMs),
        fetched,
        String(status),
        worker === null ? "" : shortProcess(worker),
        url,
      ],
    ];
  });
  return rows.length === 0 ? "" : `\nslowest pages, from lease to result\n${table(rows, { width: outColumns() })}`;
}

/** Suggests the trace of one page: by its URL if that is short and without masked secrets, else by its task. */
function nextText({ dead, slowest }: JobTraceOut, screen: Screen): string {
  const page = dead[0] ?? slowest[0];
  if (page === undefined) return "";
  const isPlain = /^[\w:/.~-]{1,60}$/.test(page.url);
  return `\n${steps([["one page", `trace ${isPlain ? page.url : page.taskId}`]], screen)}`;
}
