/** `trawl dead`: what was given up on, grouped or in full, and what to do with it. */
import type { Command } from "commander";
import { formatCount } from "../../domain/counted.ts";
import { pageUrlOf } from "../../domain/step-url.ts";
import { DEAD_REASONS, type DeadReason } from "../../domain/task.ts";
import { TrawlError } from "../../errors.ts";
import type { DeadFilter } from "../../frontier/frontier-admin.ts";
import { jobArchived } from "../../retain/catalogue.ts";
import { showable } from "../../runtime/showable.ts";
import { isCrawl } from "../crawl/crawl-queue.ts";
import { wholeNumber } from "../flags.ts";
import { getJob } from "../plane/get-job.ts";
import { inPlane, type PlaneFlags, type PlaneSession, withPlane } from "../plane/in-plane.ts";
import { type Screen, steps, table } from "../terminal.ts";

type Flags = PlaneFlags & {
  reason?: string;
  site?: string;
  status?: number;
  list?: boolean;
  replay?: boolean;
  discard?: boolean;
  perSecond: number;
  limit: number;
};

export function addDead(program: Command): void {
  withPlane(program.command("dead [job]"))
    .description("show what was given up on, by reason, site and status; replay or discard it")
    .option("--reason <reason>", `only these: ${Object.keys(DEAD_REASONS).join(", ")}`)
    .option("--site <site>", "only of this site (host:port)")
    .option("--status <n>", "only with this HTTP status", wholeNumber("--status", 100))
    .option("--list", "one by one, with their history, instead of grouped")
    .option("--limit <n>", "how many rows", wholeNumber("--limit", 1), 50)
    .option("--replay", "queue them again; run them with: trawl crawl --resume JOB")
    .option("--per-second <n>", "replay so many a second", wholeNumber("--per-second", 1), 10)
    .option("--discard", "forget them (the job's ledger still counts them)")
    .action((jobId: string | undefined, flags: Flags) => inPlane({ flags }, (session) => dead(session, jobId, flags)));
}

async function dead(session: PlaneSession, jobId: string | undefined, flags: Flags): Promise<void> {
  const { plane } = session;
  if (flags.replay === true && flags.discard === true) {
    throw new TrawlError("BAD_USAGE", {
      op: "cli.dead",
      message: "--replay and --discard exclude each other: give one",
    });
  }
  const job = jobId === undefined ? undefined : await getJob(plane, jobId);
  const filter = filterOf(jobId, flags);
  if (flags.replay === true) {
    if (job?.archived === true) throw jobArchived(job.id, "cli.dead");
    const replayed = await plane.replayDead(filter, flags.perSecond);
    const isSubmitted = job !== undefined && !isCrawl(job);
    const next = isSubmitted
      ? `workers that serve ${job.queues.join(", ")} take them`
      : `run them: trawl crawl --resume ${jobId ?? "JOB"}`;
    return say(session, flags, { replayed }, `${formatCount(replayed)} queued again; ${next}`);
  }
  if (flags.discard === true) {
    const discarded = await plane.discardDead(filter);
    return say(session, flags, { discarded }, `${formatCount(discarded)} forgotten`);
  }
  if (job?.archived === true) session.screen.err("the job is archived: its dead letters went with it\n");
  return flags.list === true ? list(session, filter, flags) : group(session, filter, flags);
}

function filterOf(jobId: string | undefined, { reason, site, status }: Flags): DeadFilter {
  if (reason !== undefined && !Object.hasOwn(DEAD_REASONS, reason)) {
    throw new TrawlError("BAD_USAGE", {
      op: "cli.dead",
      message: `--reason ${reason} is not one; take ${Object.keys(DEAD_REASONS).join(", ")}`,
    });
  }
  return {
    ...(jobId === undefined ? {} : { jobId }),
    ...(reason === undefined ? {} : { reason: reason as DeadReason }),
    ...(site === undefined ? {} : { site }),
    ...(status === undefined ? {} : { status }),
  };
}

async function list({ plane, screen }: PlaneSession, filter: DeadFilter, flags: Flags): Promise<void> {
  const letters = await plane.listDead(filter, flags.limit);
  if (flags.json === true) return screen.out(`${JSON.stringify({ dead: letters })}\n`);
  if (letters.length === 0) return screen.err("no dead letters\n");
  for (const { url, jobId, reason, history } of letters) {
    await screen.out(`${showable(`${url}  ${reason}  (job ${jobId})`)}\n`);
    for (const { at, because, status, detail } of history) {
      const why = [because, status, detail].filter((part) => part !== undefined).join("  ");
      await screen.out(`  ${new Date(at).toISOString()}  ${showable(why)}\n`);
    }
  }
}

async function group({ plane, screen }: PlaneSession, filter: DeadFilter, flags: Flags): Promise<void> {
  const groups = await plane.groupDead(filter, flags.limit);
  if (flags.json === true) return screen.out(`${JSON.stringify({ groups })}\n`);
  if (groups.length === 0) return screen.err("no dead letters\n");
  // A sample's host says which site it is; --json has the site by itself.
  const rows = groups.map(({ count, reason, status, sample }) => [
    formatCount(count),
    reason,
    status === undefined ? "-" : String(status),
    pageUrlOf(sample),
  ]);
  const heading = ["COUNT", "REASON", "STATUS", "SUCH AS"];
  await screen.out(table([heading, ...rows], { right: [0], width: screen.outColumns() }));
  if (screen.isLive) screen.err(hints(screen, filter.jobId ?? "JOB"));
}

function hints(screen: Screen, job: string): string {
  const choices = [
    ["one by one", `dead ${job} --list`],
    ["try again", `dead ${job} --replay`],
  ] as const;
  return `\n${steps(choices, screen)}`;
}

async function say({ screen }: PlaneSession, { json }: Flags, answer: object, words: string): Promise<void> {
  if (json === true) await screen.out(`${JSON.stringify(answer)}\n`);
  else screen.err(`${showable(words)}\n`);
}
