/** How jobs went, as text: numbers, what failed and what took long, and how to ask about one page. */
import { formatDuration } from "../../domain/duration.ts";
import { shortProcess } from "../../runtime/process-id.ts";
import { createRedact } from "../../runtime/redact.ts";
import { showable } from "../../runtime/showable.ts";
import { formatBytes, formatCount, plural, type Screen, steps, table } from "../terminal.ts";
import type { JobTrace } from "./job-trace.ts";

const { text: safe } = createRedact([]);

export function jobTraceText(trace: JobTrace, screen: Screen): string {
  const { job, requestId, waits } = trace;
  const { counts, tally } = job;
  const age = job.finishedAt === undefined ? "" : ` after ${formatDuration(job.finishedAt - job.createdAt)}`;
  const waiting = counts.queued + counts.delayed + counts.leased;
  const numbers = [
    plural(tally.pages, "page"),
    `${formatBytes(tally.bytes)}`,
    plural(tally.records, "record"),
    `${formatCount(counts.dead)} given up on`,
    `${formatCount(waiting)} to go`,
  ].join(", ");
  return [
    `${screen.paint.bold(showable(`job ${job.id}`))}  ${showable(safe(job.name))}\n`,
    `${showable(`submitted ${new Date(job.createdAt).toISOString()}${requestId === undefined ? "" : ` by request ${requestId}`}`)}\n`,
    `${job.state}${age}: ${numbers}\n`,
    waits.map((words) => `  ${showable(safe(words))}\n`).join(""),
    failedText(trace, screen),
    deadText(trace, screen),
    slowText(trace, screen),
    nextText(trace, screen),
  ].join("");
}

function failedText({ tries }: JobTrace, { outColumns }: Screen): string {
  if (tries.length === 0) return "";
  const rows = tries.map(({ fate, because, status, tries: count, sample }) => [
    "",
    formatCount(count),
    fate,
    because,
    status === undefined ? "" : String(status),
    safe(sample),
  ]);
  return `\ntries that ended without a page, with one of each\n${table(rows, { right: [1], width: outColumns() })}`;
}

function deadText({ dead }: JobTrace, { outColumns }: Screen): string {
  if (dead.length === 0) return "";
  const rows = dead.map(({ taskId, reason, status, url, history }) => [
    "",
    `task ${taskId}`,
    reason,
    status === undefined ? "" : String(status),
    plural(history.length, "try", "tries"),
    safe(url),
  ]);
  return `\ngiven up on\n${table(rows, { width: outColumns() })}`;
}

function slowText({ slowest }: JobTrace, { outColumns }: Screen): string {
  const rows = slowest.flatMap(({ taskId, status, tookMs, url, run }) => {
    if (run === undefined) return [];
    const whole = formatDuration(run.endedAt - run.leasedAt);
    return [
      [
        "",
        `task ${taskId}`,
        whole,
        `fetched in ${formatDuration(tookMs)}`,
        String(status),
        shortProcess(run.worker),
        safe(url),
      ],
    ];
  });
  return rows.length === 0 ? "" : `\nlongest from lease to result\n${table(rows, { width: outColumns() })}`;
}

/** By its URL where that is short and shows no secret, else by its task. */
function nextText({ dead, slowest }: JobTrace, screen: Screen): string {
  const page = dead[0] ?? slowest[0];
  if (page === undefined) return "";
  const isPlain = page.url === safe(page.url) && /^[\w:/.~-]{1,60}$/.test(page.url);
  return `\n${steps([["one of them", `trace ${isPlain ? page.url : page.taskId}`]], screen)}`;
}
