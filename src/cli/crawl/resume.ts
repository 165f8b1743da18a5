/** Finds the crawl that `--resume` continues, and prepares it to run. */

import { getLiveJob } from "../../control/catalogue.ts";
import { isCrawl } from "../../domain/crawl-queue.ts";
import { hasEnded } from "../../domain/job.ts";
import type { JobSpec } from "../../domain/job-spec.ts";
import { parseRate } from "../../domain/rate.ts";
import { TrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { isSameWork } from "../../submit/resolve-job.ts";
import type { CommandSession } from "../session.ts";
import { continueSubmission, specOf } from "./begin.ts";
import type { CrawlFlags, Target } from "./targets.ts";

/** `last`: with a target, the newest crawl of that target; otherwise, the newest crawl that has not ended. */
type Resume = { jobId: string } | "last";

/** A job id has letters and digits only; URLs and files have a dot, a slash or a colon, and standard input is `-`. */
const JOB_ID = /^[0-9A-Za-z]+$/;

/** Commander parses the URL in `--resume URL` as the value of the flag. It is handled as a target here. */
export function readResume(
  targets: readonly string[],
  { resume }: { resume?: string | true },
): { given: readonly string[]; resume: Resume | undefined } {
  if (resume === undefined) return { given: targets, resume: undefined };
  if (resume === true) return { given: targets, resume: "last" };
  if (!JOB_ID.test(resume)) return { given: [resume, ...targets], resume: "last" };
  if (targets.length === 0) return { given: [], resume: { jobId: resume } };
  throw new TrawlError("BAD_USAGE", {
    op: "cli.crawl",
    message: `--resume ${resume} continues an existing crawl and accepts no URLs; remove ${targets[0]}`,
  });
}

/** Throws BAD_USAGE for flags that would change which pages an existing job fetches, or how it stores them. */
export function refuseShapeFlags(flags: CrawlFlags): void {
  const { extract, include, exclude, header, follow, scope, maxPages, maxDepth, maxSeconds, name, retries } = flags;
  const { sitemap, since, ignoreRobots, keepBodies, recrawl, changedOnly, render, waitFor, requestId, parse } = flags;
  const lists = { "-e": extract, "--include": include, "--exclude": exclude, "--header": header };
  const singles = {
    "--user": flags.user,
    "--follow": follow,
    "--scope": scope,
    "--max-pages": maxPages,
    "--max-depth": maxDepth,
    "--max-seconds": maxSeconds,
    "--name": name,
    "--retries": retries,
    "--ignore-robots": ignoreRobots,
    "--no-adaptive": flags.adaptive === false ? true : undefined,
    "--keep-bodies": keepBodies,
    "--recrawl": recrawl,
    "--sitemap": sitemap,
    "--since": since,
    "--changed-only": changedOnly,
    "--render": render,
    "--wait-for": waitFor,
    "--parse": parse,
    "--request-id": requestId,
  };
  const given = [
    ...Object.entries(lists).filter(([, values]) => values.length > 0),
    ...Object.entries(singles).filter(([, value]) => value !== undefined),
  ].map(([flag]) => flag);
  if (given.length === 0) return;
  throw new TrawlError("BAD_USAGE", {
    op: "cli.crawl",
    message: `${given.join(", ")} cannot be changed with --resume; only --rate, --burst and --per-site can`,
  });
}

/** The crawl to continue; undefined if there is no crawl of the target. Throws NOTHING_TO_RESUME or JOB_ARCHIVED. */
export async function findResumed(
  session: CommandSession,
  resume: Resume,
  flags: CrawlFlags & { out?: string },
  target: Target | undefined,
): Promise<JobSpec | undefined> {
  const { frontier, catalogue } = session.trawl;
  const job =
    resume === "last"
      ? await findLast(session, target, flags.out)
      : await getLiveJob(catalogue, resume.jobId, "cli.crawl");
  if (job === undefined) return undefined;
  refuseSubmitted(job);
  const spec = job.spec;
  if (job.state === "paused") await frontier.resume(job.id);
  if (!hasEnded(job.state)) await applyPoliteness(session, spec, flags);
  if (!job.sealed) await continueSubmission(session, spec, target?.urls ?? keptUrls(spec));
  return spec;
}

/**
 * Throws BAD_USAGE for a job that was not created by `trawl crawl`: on its shared queue this process would also lease
 * tasks of other jobs.
 */
function refuseSubmitted(job: JobView): void {
  if (isCrawl(job)) return;
  throw new TrawlError("BAD_USAGE", {
    op: "cli.crawl",
    message: `job ${job.id} was submitted for workers on queue ${job.queue}; start one with: trawl worker --queues ${job.queue}`,
    detail: { jobId: job.id, queue: job.queue },
  });
}

/**
 * The stored URLs of a job whose submission starts again. Known URLs count as duplicates. Throws BAD_USAGE for a long
 * list, which is not stored: the user has to pass it again.
 */
function keptUrls({ id, urls, urlCount }: JobSpec): readonly string[] {
  if (urls.length === urlCount) return urls;
  throw new TrawlError("BAD_USAGE", {
    op: "cli.crawl",
    message: `crawl ${id} stopped before all of its ${urlCount} URLs were queued; pass the same list again: trawl crawl --resume LIST.txt`,
    detail: { jobId: id },
  });
}

async function findLast(
  session: CommandSession,
  target: Target | undefined,
  out: string | undefined,
): Promise<JobView | undefined> {
  const known = await session.trawl.frontier.listJobs(1000);
  const jobs = known.filter((job) => job.state !== "cancelled" && isCrawl(job));
  if (target !== undefined) {
    const wanted = specOf(session, target, { out });
    return jobs.find((job) => isSameWork(job.spec, wanted));
  }
  const open = jobs.find((job) => !hasEnded(job.state));
  if (open === undefined) throw nothingToResume(jobs[0]);
  return open;
}

/** The error if no crawl can be resumed. `ended`: the newest crawl, which has ended. */
function nothingToResume(ended: JobView | undefined): TrawlError {
  const why =
    ended === undefined
      ? "this broker has no crawl; start one with: trawl crawl <url>"
      : `all crawls have ended; list them with: trawl jobs; to write the output of the newest crawl again, run: trawl crawl --resume ${ended.id}`;
  return new TrawlError("NOTHING_TO_RESUME", { op: "cli.crawl", message: `nothing to resume: ${why}` });
}

/** Applies --rate, --burst and --per-site, the only flags that can change a crawl that has started. */
async function applyPoliteness(
  { trawl }: CommandSession,
  { id, politeness }: JobSpec,
  flags: CrawlFlags,
): Promise<void> {
  const { rate, burst, perSite } = flags;
  if (rate === undefined && burst === undefined && perSite === undefined) return;
  const intervalMs = rate === undefined ? politeness.policy.intervalMs : parseRate(rate);
  if (intervalMs === undefined) {
    throw new TrawlError("BAD_USAGE", {
      op: "cli.crawl",
      message: `--rate must be a rate such as 4/s or 10/m, or unlimited, not ${rate}`,
    });
  }
  const { policy } = politeness;
  await trawl.frontier.setPolicy(id, { intervalMs, burst: burst ?? policy.burst, perSite: perSite ?? policy.perSite });
}
