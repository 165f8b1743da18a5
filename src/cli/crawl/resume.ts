/** Finds the crawl that `--resume` goes on with, and makes it ready to run. */
import { hasEnded } from "../../domain/job.ts";
import { parseRate } from "../../domain/rate.ts";
import { TrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { getLiveJob } from "../../retain/catalogue.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { isSameWork } from "../../submit/resolve-job.ts";
import type { Session } from "../session.ts";
import { specOf, submitAll } from "./begin.ts";
import { isCrawl } from "./crawl-queue.ts";
import type { CrawlFlags, Target } from "./targets.ts";

/** `last`: the newest that has not ended, or, with a target, the same crawl as that. */
export type Resume = { jobId: string } | "last";

/** A job's id is one plain word; URLs and files have a dot, a slash or a colon, and standard input is a dash. */
const JOB_ID = /^[0-9A-Za-z]+$/;

/** `--resume URL` reads the URL as the flag's own word: give it back to the targets. */
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
    message: `--resume ${resume} goes on with that crawl and takes no URLs besides; leave out ${targets[0]}`,
  });
}

/** Flags that would change what a crawl fetches and keeps: too late for one that has begun. */
export function refuseShapeFlags(flags: CrawlFlags): void {
  const { extract, include, exclude, header, follow, scope, maxPages, maxDepth, maxSeconds, name, retries } = flags;
  const { ignoreRobots, keepBodies, recrawl, changedOnly, render, waitFor, requestId, parse } = flags;
  const lists = { "-e": extract, "--include": include, "--exclude": exclude, "--header": header };
  const singles = {
    "--follow": follow,
    "--scope": scope,
    "--max-pages": maxPages,
    "--max-depth": maxDepth,
    "--max-seconds": maxSeconds,
    "--name": name,
    "--retries": retries,
    "--ignore-robots": ignoreRobots,
    "--keep-bodies": keepBodies,
    "--recrawl": recrawl,
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
    message: `${given.join(", ")} shape a crawl when it begins and cannot be changed with --resume; --rate, --burst and --per-site can`,
  });
}

/** The crawl to go on with; undefined where the target has never been begun. Throws JOB_ARCHIVED. */
export async function findResumed(
  session: Session,
  resume: Resume,
  flags: CrawlFlags & { out?: string },
  target: Target | undefined,
): Promise<JobSpec | undefined> {
  const { frontier, catalogue } = session.trawl;
  const job =
    resume === "last"
      ? await findLast(session, target, flags.out)
      : await getLiveJob(catalogue, resume.jobId, "cli.crawl");
  if (job === undefined) {
    if (target !== undefined) return undefined;
    throw new TrawlError("NOTHING_TO_RESUME", {
      op: "cli.crawl",
      message: "no crawl has been begun in this broker; start one: trawl crawl <url>",
    });
  }
  refuseSubmitted(job);
  const spec = job.spec as JobSpec;
  if (job.state === "paused") await frontier.resume(job.id);
  if (!hasEnded(job.state)) await applyPoliteness(session, spec, flags);
  if (!job.sealed) await submitAll(session, spec, target?.urls ?? keptUrls(spec));
  return spec;
}

/** On a queue that workers share, this process would take the tasks of other jobs as well. */
function refuseSubmitted(job: JobView): void {
  if (isCrawl(job)) return;
  throw new TrawlError("BAD_USAGE", {
    op: "cli.crawl",
    message: `job ${job.id} was submitted to the queue ${job.queue}, which workers serve; run one: trawl worker --queues ${job.queue}`,
    detail: { jobId: job.id, queue: job.queue },
  });
}

/** A submission that was cut short is begun again: known URLs are duplicates. A long list has to be given again. */
function keptUrls({ id, urls, urlCount }: JobSpec): readonly string[] {
  if (urls.length === urlCount) return urls;
  throw new TrawlError("BAD_USAGE", {
    op: "cli.crawl",
    message: `the ${urlCount} URLs of crawl ${id} were not all queued when it stopped; give the same list again: trawl crawl --resume LIST.txt`,
    detail: { jobId: id },
  });
}

async function findLast(
  session: Session,
  target: Target | undefined,
  out: string | undefined,
): Promise<JobView | undefined> {
  const known = await session.trawl.frontier.listJobs(1000);
  const jobs = known.filter((job) => job.state !== "cancelled" && isCrawl(job));
  if (target === undefined) return jobs.find((job) => !hasEnded(job.state)) ?? jobs[0];
  const wanted = specOf(session, target, { out });
  return jobs.find((job) => isSameWork(job.spec as JobSpec, wanted));
}

/** Rates are the one thing that may change under way. */
export async function applyPoliteness(
  { trawl }: Session,
  { id, politeness }: JobSpec,
  flags: CrawlFlags,
): Promise<void> {
  const { rate, burst, perSite } = flags;
  if (rate === undefined && burst === undefined && perSite === undefined) return;
  const intervalMs = rate === undefined ? politeness.policy.intervalMs : parseRate(rate);
  if (intervalMs === undefined) {
    throw new TrawlError("BAD_USAGE", { op: "cli.crawl", message: `--rate takes 4/s, 10/m or unlimited, not ${rate}` });
  }
  const { policy } = politeness;
  await trawl.frontier.setPolicy(id, { intervalMs, burst: burst ?? policy.burst, perSite: perSite ?? policy.perSite });
}
