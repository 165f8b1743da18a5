/** `trawl jobs` and `trawl job`: lists jobs and shows the state of one. */
import { type Command, Option } from "commander";
import type { JobDetailOut, JobOut, WebhookOut } from "../../client/wire-types.ts";
import { isFiltered } from "../../control/list-jobs.ts";
import { formatDuration } from "../../domain/duration.ts";
import { formatBytes, formatCount } from "../../domain/format-number.ts";
import { JOB_MOVES, type JobState, LEDGER_INCOME, LEDGER_STATES } from "../../domain/job.ts";
import { showable } from "../../runtime/showable.ts";
import { findNoPageCause } from "../failed-pages.ts";
import { wholeNumber } from "../flags.ts";
import { getJobOrNewest } from "../get-job-or-newest.ts";
import { findTopSites, topSitesText } from "../job-sites.ts";
import { type PlaneFlags, runOnPlane, withPlaneFlags } from "../plane/run-on-plane.ts";
import { proxyRows } from "../proxies/costs.ts";
import { roughAge, type Screen, table } from "../terminal.ts";

type ListFlags = PlaneFlags & { limit: number; state?: JobState; search?: string };

/** At most this many running jobs are counted for the note below the list. */
const MAX_RUNNING = 500;

export function addJobs(program: Command): void {
  withPlaneFlags(program.command("jobs"))
    .description("list jobs, newest first")
    .addOption(new Option("--state <state>", "only jobs in this state").choices(Object.keys(JOB_MOVES)))
    .option("--search <words>", "only jobs with all of these words in their name, id, request id or start URLs")
    .option("--limit <n>", "maximum number of jobs", wholeNumber("--limit", 1), 20)
    .action((flags: ListFlags) =>
      runOnPlane({ flags }, async ({ plane, screen, now }) => {
        const filter = { state: flags.state, q: flags.search };
        const jobs = await plane.listJobs(flags.limit, filter);
        if (flags.json === true) await screen.out(`${JSON.stringify({ jobs })}\n`);
        else if (jobs.length === 0 && isFiltered(filter))
          screen.err(`no jobs match; list all with: ${screen.command} jobs\n`);
        else if (jobs.length === 0) screen.err(`no jobs yet; start one with: ${screen.command} crawl <url>\n`);
        else {
          await screen.out(jobsTable(jobs, now(), screen.outColumns()));
          const running = isFiltered(filter) ? [] : await plane.listJobs(MAX_RUNNING, { state: "running" });
          screen.err(moreRunning(jobs, running, screen));
        }
      }),
    );

  withPlaneFlags(program.command("job [id]"))
    .description("show a job: state, progress, results, busiest sites and webhook (default: the newest job)")
    .action((id: string | undefined, flags: PlaneFlags) =>
      runOnPlane({ flags }, async ({ plane, screen, now }) => {
        const job = await getJobOrNewest({ plane, screen }, id, flags);
        if (flags.json === true) return screen.out(`${JSON.stringify(job)}\n`);
        const [top, webhook, noPageCause] = await Promise.all([
          findTopSites(plane, job),
          plane.findWebhook(job.id),
          findNoPageCause(plane, job),
        ]);
        const note = noPageCause === undefined ? "" : showable(`${noPageCause}; see: ${screen.command} dead ${job.id}`);
        const delivery = webhook === undefined ? "" : `\n${webhookText(webhook, now(), screen)}`;
        return screen.out(
          jobText(job, note, now()) + proxiesText(job) + topSitesText(top, now(), screen.outColumns()) + delivery,
        );
      }),
    );
}

/** A note about running jobs that the list does not show because newer, ended jobs fill it. */
function moreRunning(listed: readonly JobOut[], running: readonly JobOut[], { command }: Screen): string {
  const ids = new Set(listed.map(({ id }) => id));
  const others = running.filter(({ id }) => !ids.has(id)).length;
  if (others === 0) return "";
  const many = `${others}${running.length === MAX_RUNNING ? " or more" : ""}`;
  return `${many} more running; list them with: ${command} jobs --state running\n`;
}

function jobsTable(jobs: readonly JobOut[], now: number, width: number): string {
  const rows = jobs.map(({ id, state, tally, counts, createdAt, name, archived }) => [
    id,
    archived ? `${state}, archived` : state,
    formatCount(tally.pages),
    formatCount(counts.queued + counts.delayed + counts.leased),
    formatCount(counts.dead),
    `${roughAge(now - Date.parse(createdAt))} ago`,
    name,
  ]);
  const heading = ["JOB", "STATE", "PAGES", "WAITING", "FAILED", "STARTED", "NAME"];
  return table([heading, ...rows], { right: [2, 3, 4, 5], width });
}

/** `note`: a line below the state; may be empty. */
function jobText(job: JobOut, note: string, now: number): string {
  const { id, name, state, counts, tally, createdAt, finishedAt, archived } = job;
  const age = formatDuration((finishedAt === null ? now : Date.parse(finishedAt)) - Date.parse(createdAt));
  const results = [
    ["pages", `${formatCount(tally.pages)} (${formatBytes(tally.bytes)})`],
    ["records", formatCount(tally.records)],
    ["invalid", formatCount(tally.invalid)],
  ];
  const ledger = [
    ...LEDGER_INCOME.map((way, index) => [index === 0 ? "in" : "", way, formatCount(counts[way])]),
    ...LEDGER_STATES.map((way, index) => [index === 0 ? "out" : "", way, formatCount(counts[way])]),
  ];
  return [
    `${showable(`${id}  ${name}`)}\n`,
    `${state}${finishedAt === null ? `, started ${age} ago` : ` after ${age}`}\n`,
    archived ? "archived: results can be read, but the job cannot be resumed or replayed\n" : "",
    note === "" ? "\n" : `${note}\n\n`,
    table(results.map((row) => ["", ...row])),
    "\nledger: URLs in and out (both sides add up to the same total)\n",
    table(
      ledger.map((row) => ["", ...row]),
      { right: [3] },
    ),
  ].join("");
}

function proxiesText({ proxies }: JobDetailOut): string {
  const rows = proxyRows(proxies, "");
  return rows.length === 0 ? "" : `\nproxies\n${table(rows)}`;
}

function webhookText(
  { host, delivered, waiting, dead, lastFailure, deliveryJobs }: WebhookOut,
  now: number,
  { command }: Screen,
): string {
  const counts = `${formatCount(delivered)} delivered, ${formatCount(waiting)} waiting, ${formatCount(dead)} failed`;
  const deliveries = deliveryJobs.at(-1); // undefined after the delivery jobs are archived
  const hasFailure = lastFailure !== null && waiting + dead > 0;
  const rows = [
    ["", `to ${host}`, counts],
    ...(hasFailure
      ? [["", "last failure", `${roughAge(now - Date.parse(lastFailure.at))} ago: ${showable(lastFailure.detail)}`]]
      : []),
    ...(dead > 0 && deliveries !== undefined ? [["", "retry", `${command} dead ${deliveries} --replay`]] : []),
  ];
  return `webhook\n${table(rows)}`;
}
