/** `trawl jobs` and `trawl job`: what there is, and how it stands. */
import type { Command } from "commander";
import { formatDuration } from "../../domain/duration.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { getJob } from "../crawl/run-crawl.ts";
import { wholeNumber } from "../flags.ts";
import { jobJson } from "../job-json.ts";
import { inSession, type PlaceFlags, withPlaces } from "../session.ts";
import { formatBytes, formatCount, shorten, table } from "../terminal.ts";

export function addJobs(program: Command): void {
  withPlaces(program.command("jobs"))
    .description("list jobs, newest first")
    .option("--limit <n>", "how many", wholeNumber("--limit", 1), 20)
    .action((flags: PlaceFlags & { limit: number }) =>
      inSession({ flags }, async ({ trawl, screen }) => {
        const jobs = await trawl.frontier.listJobs(flags.limit);
        if (flags.json === true) screen.out(`${JSON.stringify({ jobs: jobs.map(jobJson) })}\n`);
        else if (jobs.length === 0) screen.err("no jobs yet; start one: trawl crawl <url>\n");
        else screen.out(jobsTable(jobs));
      }),
    );

  withPlaces(program.command("job <id>"))
    .description("show one job: its state, its ledger, what it brought in")
    .action((id: string, flags: PlaceFlags) =>
      inSession({ flags }, async (session) => {
        const job = await getJob(session, id);
        session.screen.out(flags.json === true ? `${JSON.stringify(jobJson(job))}\n` : jobText(job));
      }),
    );
}

function jobsTable(jobs: readonly JobView[]): string {
  const rows = jobs.map(({ id, state, tally, counts, createdAt, name }) => [
    id,
    state,
    formatCount(tally.pages).padStart(9),
    formatCount(counts.queued + counts.delayed + counts.leased).padStart(9),
    formatCount(counts.dead).padStart(7),
    new Date(createdAt).toISOString().slice(0, 16).replace("T", " "),
    shorten(name, 40),
  ]);
  return table([["JOB", "STATE", "    PAGES", "  WAITING", " FAILED", "BEGUN (UTC)", "NAME"], ...rows]);
}

function jobText(job: JobView): string {
  const { counts, tally } = job;
  const endedAt = job.finishedAt ?? Date.now();
  const number = (count: number) => formatCount(count).padStart(12);
  const came = [
    ["submitted", number(counts.submitted)],
    ["discovered", number(counts.discovered)],
  ];
  const went = (["queued", "delayed", "leased", "done", "dead", "cancelled", "duplicate", "refused"] as const).map(
    (state) => [state, number(counts[state])],
  );
  return [
    `${job.id}  ${job.name}\n`,
    `${job.state}${job.finishedAt === undefined ? ", begun" : " after"} ${formatDuration(endedAt - job.createdAt)}${job.finishedAt === undefined ? " ago" : ""}\n\n`,
    `${formatCount(tally.pages)} pages (${formatBytes(tally.bytes)}), ${formatCount(tally.records)} records, ${formatCount(tally.invalid)} invalid\n\n`,
    "ledger: what came in is where it went\n",
    table(came.map((row) => ["  in ", ...row])),
    table(went.map((row) => ["  out", ...row])),
  ].join("");
}
