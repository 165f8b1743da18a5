/** `trawl dead`: lists failed URLs, grouped or one by one, and replays or discards them. */
import type { Command } from "commander";
import type { JobOut } from "../../client/wire-types.ts";
import { jobArchived } from "../../control/catalogue.ts";
import { lastCause } from "../../domain/attempt-cause.ts";
import { crawlOfQueue } from "../../domain/crawl-queue.ts";
import { formatCount, plural } from "../../domain/format-number.ts";
import { DEAD_REASONS, type DeadReason } from "../../domain/task.ts";
import { pageUrlOf } from "../../domain/task-url.ts";
import { TrawlError } from "../../errors.ts";
import type { DeadFilter } from "../../frontier/frontier-admin.ts";
import { showable } from "../../runtime/showable.ts";
import { findNewestMessages } from "../failed-pages.ts";
import { wholeNumber } from "../flags.ts";
import { getJobOrNewest } from "../get-job-or-newest.ts";

import { type PlaneFlags, type PlaneSession, runOnPlane, withPlaneFlags } from "../plane/run-on-plane.ts";
import { type Screen, shorten, steps, table, withCommand } from "../terminal.ts";

type Flags = PlaneFlags & {
  reason?: string;
  site?: string;
  status?: number;
  list?: boolean;
  replay?: boolean;
  discard?: boolean;
  perSecond: number;
  limit: number;
  all?: boolean;
};

export function addDead(program: Command): void {
  withPlaneFlags(program.command("dead [job]"))
    .description(
      "show a job's failed URLs by reason, site and status; replay or discard them (default: the newest job)",
    )
    .option("--all", "failed URLs of all jobs")
    .option("--reason <reason>", `only this reason: ${Object.keys(DEAD_REASONS).join(", ")}`)
    .option("--site <site>", "only this site: a host, with its port unless it is 80 or 443")
    .option("--status <n>", "only this HTTP status", wholeNumber("--status", 100))
    .option("--list", "list each URL with its failed attempts, instead of counts by reason, site and status")
    .option("--limit <n>", "maximum number of URLs or groups to show", wholeNumber("--limit", 1), 50)
    .option("--replay", "queue the failed URLs again; not those of cancelled or archived jobs")
    .option(
      "--per-second <n>",
      "with --replay: how many URLs become due per second",
      wholeNumber("--per-second", 1),
      10,
    )
    .option(
      "--discard",
      "remove the failed URLs, so that they are no longer shown or replayed; the job still counts them as failed",
    )
    .action((jobId: string | undefined, flags: Flags) =>
      runOnPlane({ flags }, (session) => dead(session, jobId, flags)),
    );
}

async function dead(session: PlaneSession, jobId: string | undefined, flags: Flags): Promise<void> {
  const { plane } = session;
  if (flags.replay === true && flags.discard === true) {
    throw new TrawlError("BAD_USAGE", {
      op: "cli.dead",
      message: "--replay and --discard cannot be combined; use only one of them",
    });
  }
  if (flags.all === true && jobId !== undefined) {
    throw new TrawlError("BAD_USAGE", { op: "cli.dead", message: `--all selects all jobs; remove --all or ${jobId}` });
  }
  const conditions = conditionsOf(flags);
  const job = flags.all === true ? undefined : await getJobOrNewest(session, jobId, flags);
  const filter = job === undefined ? conditions : { ...conditions, jobId: job.id };
  if (flags.replay === true) {
    if (job?.archived === true) throw jobArchived(job.id, "cli.dead");
    const replayed = await plane.replayDead(filter, flags.perSecond);
    return print(session, flags, { replayed }, `${plural(replayed, "URL")} queued again; ${afterReplay(job)}`);
  }
  if (flags.discard === true) {
    const discarded = await plane.discardDead(filter);
    return print(session, flags, { discarded }, `${plural(discarded, "failed URL")} discarded`);
  }
  if (job?.archived === true) session.screen.err("the job is archived; its list of failed URLs was removed\n");
  return flags.list === true ? list(session, filter, flags) : group(session, filter, flags);
}

/** Says how the replayed URLs are fetched. Without a job, they may belong to crawls and to submitted jobs. */
function afterReplay(job: JobOut | undefined): string {
  if (job === undefined) return "workers fetch the URLs of submitted jobs; for a crawl, run: trawl crawl --resume JOB";
  // This includes the delivery job of a crawl: the processes of the crawl deliver its webhook events.
  const crawl = crawlOfQueue(job.queue);
  if (crawl !== undefined) return `fetch them with: trawl crawl --resume ${crawl}`;
  return `workers on queue ${job.queues.join(", ")} fetch them`;
}

function conditionsOf({ reason, site, status }: Flags): DeadFilter {
  if (reason !== undefined && !Object.hasOwn(DEAD_REASONS, reason)) {
    throw new TrawlError("BAD_USAGE", {
      op: "cli.dead",
      message: `--reason ${reason} is unknown; use one of ${Object.keys(DEAD_REASONS).join(", ")}`,
    });
  }
  return {
    ...(reason === undefined ? {} : { reason: reason as DeadReason }),
    ...(site === undefined ? {} : { site }),
    ...(status === undefined ? {} : { status }),
  };
}

async function list({ plane, screen }: PlaneSession, filter: DeadFilter, flags: Flags): Promise<void> {
  const letters = await plane.listDead(filter, flags.limit);
  if (flags.json === true) return screen.out(`${JSON.stringify({ dead: letters })}\n`);
  if (letters.length === 0) return screen.err("no failed URLs\n");
  for (const { url, jobId, reason, history } of letters) {
    const cause = lastCause(reason, history);
    await screen.out(`${showable(`${url}  ${reasonText(reason, cause)}  (job ${jobId})`)}\n`);
    for (const { at, because, status, detail } of history) {
      const why = [because, status, detail].filter((part) => part !== undefined).join("  ");
      await screen.out(`  ${new Date(at).toISOString()}  ${showable(why)}\n`);
    }
  }
}

async function group({ plane, screen }: PlaneSession, filter: DeadFilter, flags: Flags): Promise<void> {
  const groups = await plane.groupDead(filter, flags.limit);
  if (flags.json === true) return screen.out(`${JSON.stringify({ groups })}\n`);
  if (groups.length === 0) return screen.err("no failed URLs\n");
  // The table has no column for the site: the example URL contains it. With --json it is a field.
  const rows = groups.map(({ count, reason, status, sample, cause }) => [
    formatCount(count),
    showable(reasonText(reason, cause === `HTTP ${status}` ? undefined : cause)),
    status === undefined ? "-" : String(status),
    pageUrlOf(sample),
  ]);
  const heading = ["COUNT", "REASON", "STATUS", "EXAMPLE"];
  const messages = await findNewestMessages(plane, filter, groups);
  const [head = "", ...lines] = table([heading, ...rows], { right: [0], width: screen.outColumns() }).split("\n");
  const indent = " ".repeat(head.indexOf("REASON"));
  const withMessages = groups.flatMap((_, nth) => {
    const message = messages[nth];
    const line = lines[nth] ?? "";
    if (message === undefined) return [line];
    return [line, indent + shorten(showable(message), screen.outColumns() - indent.length)];
  });
  await screen.out(`${[head, ...withMessages].join("\n")}\n`);
  screen.err(hints(screen, filter.jobId ?? "--all"));
}

/** The reason and, if it is given, the cause. */
function reasonText(reason: string, cause: string | undefined): string {
  return cause === undefined ? reason : `${reason}: ${cause}`;
}

function hints(screen: Screen, job: string): string {
  const choices = [
    ["details", `dead ${job} --list`],
    ["retry", `dead ${job} --replay`],
  ] as const;
  return `\n${steps(choices, screen)}`;
}

async function print({ screen }: PlaneSession, { json }: Flags, result: object, message: string): Promise<void> {
  if (json === true) await screen.out(`${JSON.stringify(result)}\n`);
  else screen.err(`${showable(withCommand(message, screen))}\n`);
}
