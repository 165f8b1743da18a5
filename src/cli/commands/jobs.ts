/** `trawl jobs` and `trawl job`: what there is, and how it stands. */
import { type Command, Option } from "commander";
import { isFiltering } from "../../api/job-filter.ts";
import type { JobOut } from "../../api/wire-types.ts";
import type { WebhookOut } from "../../api/wire-webhooks.ts";
import { formatBytes, formatCount } from "../../domain/counted.ts";
import { formatDuration } from "../../domain/duration.ts";
import { JOB_MOVES, type JobState, LEDGER_INCOME, LEDGER_STATES } from "../../domain/job.ts";
import { showable } from "../../runtime/showable.ts";
import { wholeNumber } from "../flags.ts";
import { findTopSites, topSitesText } from "../job-sites.ts";
import { getJob } from "../plane/get-job.ts";
import { inPlane, type PlaneFlags, withPlane } from "../plane/in-plane.ts";
import { roughAge, table } from "../terminal.ts";

type ListFlags = PlaneFlags & { limit: number; state?: JobState; search?: string };

/** Running jobs that are counted. */
const RUNNING_MOST = 500;

export function addJobs(program: Command): void {
  withPlane(program.command("jobs"))
    .description("list jobs, newest first")
    .addOption(new Option("--state <state>", "those in this state").choices(Object.keys(JOB_MOVES)))
    .option("--search <words>", "those with all of these words in their name, their id or a URL of theirs")
    .option("--limit <n>", "how many", wholeNumber("--limit", 1), 20)
    .action((flags: ListFlags) =>
      inPlane({ flags }, async ({ plane, screen, now }) => {
        const filter = { state: flags.state, q: flags.search };
        const jobs = await plane.listJobs(flags.limit, filter);
        if (flags.json === true) await screen.out(`${JSON.stringify({ jobs })}\n`);
        else if (jobs.length === 0 && isFiltering(filter)) screen.err("no such jobs; trawl jobs lists them all\n");
        else if (jobs.length === 0) screen.err("no jobs yet; start one: trawl crawl <url>\n");
        else {
          await screen.out(jobsTable(jobs, now(), screen.outColumns()));
          const running = isFiltering(filter) ? [] : await plane.listJobs(RUNNING_MOST, { state: "running" });
          screen.err(moreRunning(jobs, running));
        }
      }),
    );

  withPlane(program.command("job <id>"))
    .description("show one job: its state, its ledger, what it brought in, its busiest sites")
    .action((id: string, flags: PlaneFlags) =>
      inPlane({ flags }, async ({ plane, screen, now }) => {
        const job = await getJob(plane, id);
        if (flags.json === true) return screen.out(`${JSON.stringify(job)}\n`);
        const [top, webhook] = await Promise.all([findTopSites(plane, job), plane.findWebhook(job.id)]);
        const told = webhook === undefined ? "" : `\n${webhookText(webhook, now())}`;
        return screen.out(jobText(job, now()) + topSitesText(top, now(), screen.outColumns()) + told);
      }),
    );
}

/** Where newer jobs that have ended hide some that run. */
function moreRunning(shown: readonly JobOut[], running: readonly JobOut[]): string {
  const known = new Set(shown.map(({ id }) => id));
  const others = running.filter(({ id }) => !known.has(id)).length;
  if (others === 0) return "";
  const many = `${others}${running.length === RUNNING_MOST ? " or more" : ""}`;
  return `${many} more ${others === 1 ? "runs" : "run"}: trawl jobs --state running\n`;
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
  const heading = ["JOB", "STATE", "PAGES", "WAITING", "FAILED", "BEGUN", "NAME"];
  return table([heading, ...rows], { right: [2, 3, 4, 5], width });
}

function jobText(job: JobOut, now: number): string {
  const { id, name, state, counts, tally, createdAt, finishedAt, archived } = job;
  const age = formatDuration((finishedAt === null ? now : Date.parse(finishedAt)) - Date.parse(createdAt));
  const brought = [
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
    `${state}${finishedAt === null ? `, begun ${age} ago` : ` after ${age}`}\n`,
    archived ? "archived: out of the broker; its results can be read, nothing of it runs again\n\n" : "\n",
    table(brought.map((row) => ["", ...row])),
    "\nledger: what came in is where it went\n",
    table(
      ledger.map((row) => ["", ...row]),
      { right: [3] },
    ),
  ].join("");
}

function webhookText({ host, delivered, waiting, dead, lastFailure, deliveryJobs }: WebhookOut, now: number): string {
  const counts = `${formatCount(delivered)} delivered, ${formatCount(waiting)} waiting, ${formatCount(dead)} given up on`;
  const deliveries = deliveryJobs.at(-1); // none once they have left the broker
  const isTroubled = lastFailure !== null && waiting + dead > 0;
  const rows = [
    ["", `to ${host}`, counts],
    ...(isTroubled
      ? [["", "last failure", `${roughAge(now - Date.parse(lastFailure.at))} ago: ${showable(lastFailure.detail)}`]]
      : []),
    ...(dead > 0 && deliveries !== undefined ? [["", "send again", `trawl dead ${deliveries} --replay`]] : []),
  ];
  return `webhook\n${table(rows)}`;
}
