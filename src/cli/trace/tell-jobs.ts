/** How jobs went, as text: numbers, what failed and what took long, and how to ask about one page. */
import type { JobTraceOut } from "../../api/wire-trace.ts";
import { formatBytes, formatCount, plural } from "../../domain/counted.ts";
import { formatDuration } from "../../domain/duration.ts";
import { shortProcess } from "../../runtime/process-id.ts";
import { showable } from "../../runtime/showable.ts";
import { type Screen, steps, table } from "../terminal.ts";

export function jobTraceText(trace: JobTraceOut, screen: Screen): string {
  const { waits } = trace;
  const { id, name, state, requestId, counts, tally, createdAt, finishedAt } = trace.job;
  const age = finishedAt === null ? "" : ` after ${formatDuration(Date.parse(finishedAt) - Date.parse(createdAt))}`;
  const waiting = counts.queued + counts.delayed + counts.leased;
  const numbers = [
    plural(tally.pages, "page"),
    `${formatBytes(tally.bytes)}`,
    plural(tally.records, "record"),
    `${formatCount(counts.dead)} given up on`,
    `${formatCount(waiting)} to go`,
  ].join(", ");
  return [
    `${screen.paint.bold(showable(`job ${id}`))}  ${showable(name)}\n`,
    `${showable(`submitted ${createdAt}${requestId === null ? "" : ` by request ${requestId}`}`)}\n`,
    `${state}${age}: ${numbers}\n`,
    waits.map((words) => `  ${showable(words)}\n`).join(""),
    failedText(trace, screen),
    deadText(trace, screen),
    slowText(trace, screen),
    nextText(trace, screen),
  ].join("");
}

function failedText({ tries }: JobTraceOut, { outColumns }: Screen): string {
  if (tries.length === 0) return "";
  const rows = tries.map(({ fate, because, status, tries: count, sample }) => [
    "",
    formatCount(count),
    fate,
    because,
    status === null ? "" : String(status),
    sample,
  ]);
  return `\ntries that ended without a page, with one of each\n${table(rows, { right: [1], width: outColumns() })}`;
}

function deadText({ dead }: JobTraceOut, { outColumns }: Screen): string {
  if (dead.length === 0) return "";
  const rows = dead.map(({ taskId, reason, status, url, history }) => [
    "",
    `task ${taskId}`,
    reason,
    status === null ? "" : String(status),
    plural(history.length, "try", "tries"),
    url,
  ]);
  return `\ngiven up on\n${table(rows, { width: outColumns() })}`;
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
  return rows.length === 0 ? "" : `\nlongest from lease to result\n${table(rows, { width: outColumns() })}`;
}

/** By its URL where that is short and no secret is masked in it, else by its task. */
function nextText({ dead, slowest }: JobTraceOut, screen: Screen): string {
  const page = dead[0] ?? slowest[0];
  if (page === undefined) return "";
  const isPlain = /^[\w:/.~-]{1,60}$/.test(page.url);
  return `\n${steps([["one of them", `trace ${isPlain ? page.url : page.taskId}`]], screen)}`;
}
