/** `trawl crawl`: run a job to completion here. */
import { type Command, Option } from "commander";
import { extractorOf } from "../../compose.ts";
import { hasEnded } from "../../domain/job.ts";
import { TrawlError } from "../../errors.ts";

import { EACH } from "../../extract/rules.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { isSameWork, newJobId, resolveJob } from "../../submit/resolve-job.ts";
import { submitJob } from "../../submit/submit-job.ts";
import { report } from "../crawl/report.ts";
import { type CrawlEnd, getJob, runCrawl } from "../crawl/run-crawl.ts";
import { type CrawlFlags, readTarget, type Target } from "../crawl/targets.ts";
import { checkOutput, exportTo } from "../export-to.ts";
import { collect, wholeNumber } from "../flags.ts";
import { jobJson } from "../job-json.ts";
import { inSession, type PlaceFlags, type Session, withPlaces } from "../session.ts";
import { INTERRUPTED, type Stops } from "../stops.ts";

type Flags = CrawlFlags &
  PlaceFlags & {
    out?: string;
    resume?: string | true;
    strict?: boolean;
    quiet?: boolean;
    concurrency?: number;
    userAgent?: string;
  };

const EXAMPLES = `
Examples:
  trawl crawl https://books.toscrape.com/ --out pages.jsonl
  trawl crawl https://shop.example/ -e title=h1 -e 'price=.price|number' --include '**/product/**' --out products.csv
  trawl crawl https://a.example/ --follow none | jq .title
  trawl crawl spider.ts --max-pages 500
  trawl crawl --resume                  go on with the crawl that was interrupted last

Without -e each page yields title, description, text and links. Only the start URLs' own sites are followed.
Exit codes: 0 done, 1 the work failed (or --strict and something did), 2 usage, 3 broker or store, 130 interrupted.`;

export function addCrawl(program: Command, stops: Stops): void {
  withPlaces(program.command("crawl [targets...]"))
    .description("crawl URLs, a spider (spider.ts), a job (job.json) or a list (urls.txt, -) to completion, here")
    .option(
      "-e, --extract <name=rule>",
      "a field of the record: title=h1, 'price=.p|number', 'tags[]=.tag', 'img=img@src' (repeatable)",
      collect,
      [],
    )
    .option("--follow <selector>", "whose links to follow (default a[href]); none: only the URLs given")
    .addOption(new Option("--scope <where>", "how far links may lead").choices(["site", "domain", "any"]))
    .option("--include <glob>", "follow only URLs like this: **/catalogue/** (repeatable)", collect, [])
    .option("--exclude <glob>", "do not follow URLs like this (repeatable)", collect, [])
    .option("--max-pages <n>", "fetch at most this many URLs", wholeNumber("--max-pages", 1))
    .option("--max-depth <n>", "follow links at most this deep", wholeNumber("--max-depth", 0))
    .option("--max-seconds <n>", "stop after this long", wholeNumber("--max-seconds", 1))
    .option("--rate <rate>", "requests to one site: 4/s, 10/m, unlimited (default 4/s)")
    .option("--burst <n>", "requests to a site at once after a quiet time (default 1)", wholeNumber("--burst", 1))
    .option("--per-site <n>", "requests to one site under way at once (default 4)", wholeNumber("--per-site", 1))
    .option("-c, --concurrency <n>", "requests under way at once in all (default 32)", wholeNumber("--concurrency", 1))
    .option("--retries <n>", "tries after the first (default 4)", wholeNumber("--retries", 0))
    .option("--ignore-robots", "do not ask for or obey robots.txt: only for sites that are yours")
    .option("--user-agent <text>", "how to introduce ourselves; name a way to reach you")
    .option("--header <name: value>", "send this header too (repeatable)", collect, [])
    .option("--keep-bodies", "keep every page's body, compressed, once per content")
    .option("--render <when>", "never: pages are fetched over HTTP, without a browser")
    .option("--name <text>", "what to call the job")
    .option("--out <file>", "write the records here when done: .jsonl or .csv")
    .option("--resume [job]", "go on with an interrupted crawl: the last one, or the one named")
    .option("--strict", "end with 1 if anything failed")
    .option("--quiet", "no progress")
    .addHelpText("after", EXAMPLES)
    .action(async (targets: string[], flags: Flags) => {
      process.exitCode = await crawl(targets, flags, stops);
    });
}

async function crawl(targets: readonly string[], flags: Flags, stops: Stops): Promise<number> {
  if (flags.out !== undefined) await checkOutput(flags.out);
  const given = givenTargets(targets, flags);
  const target = given.length > 0 || flags.resume === undefined ? await readTarget(given, flags) : undefined;
  const settings = { concurrency: flags.concurrency, userAgent: flags.userAgent };
  return inSession({ flags, settings }, async (session) => {
    const spec = flags.resume === undefined ? undefined : await findResumed(session, flags, target);
    const chosen = spec ?? (await begin(session, requireTarget(target), flags));
    return runAndReport(session, stops, { ...chosen, out: flags.out ?? chosen.out }, flags);
  });
}

/** `--resume URL` reads the URL as the flag's own: give it back. */
function givenTargets(targets: readonly string[], { resume }: Flags): readonly string[] {
  return typeof resume === "string" && !JOB_ID.test(resume) ? [resume, ...targets] : targets;
}

const JOB_ID = /^j[0-9a-z]+$/;

async function begin(session: Session, { job, urls }: Target, flags: Flags): Promise<JobSpec> {
  const spec = specOf(session, { job, urls }, flags);
  extractorOf(spec); // a bad selector is said before anything is queued
  await submitAll(session, spec, urls);
  return spec;
}

function specOf({ config, trawl }: Session, { job, urls }: Target, flags: Flags): JobSpec {
  const id = newJobId(trawl.clock.now());
  // A queue of its own: this process works on this crawl, and no other process does.
  return resolveJob(job, config, { id, queue: `crawl:${id}`, typedHosts: hostsOf(urls), out: flags.out });
}

async function submitAll({ trawl }: Session, spec: JobSpec, urls: readonly string[]): Promise<void> {
  const { frontier, clock } = trawl;
  const answer = await submitJob({ frontier, now: clock.now }, spec, urls);
  if (answer.full === undefined) return;
  throw new TrawlError("BROKER_FULL", {
    op: "cli.crawl",
    message: `the broker took ${answer.full.taken} of ${urls.length} URLs and is full; raise TRAWL_MAX_PENDING and run again with --resume`,
    detail: { taken: answer.full.taken },
  });
}

/** The interrupted crawl to go on with; undefined where the target has never been begun. */
async function findResumed(session: Session, flags: Flags, target: Target | undefined): Promise<JobSpec | undefined> {
  const { frontier } = session.trawl;
  const job = await findJob(session, flags, target);
  if (job === undefined) {
    if (target !== undefined) return undefined;
    throw new TrawlError("NOTHING_TO_RESUME", {
      op: "cli.crawl",
      message: "no crawl has been begun in this broker; start one: trawl crawl <url>",
    });
  }
  const spec = job.spec as JobSpec;
  if (job.state === "paused") await frontier.resume(job.id);
  if (!job.sealed) await submitAll(session, spec, target?.urls ?? spec.urls);
  return spec;
}

async function findJob(session: Session, flags: Flags, target: Target | undefined): Promise<JobView | undefined> {
  if (typeof flags.resume === "string" && JOB_ID.test(flags.resume)) return getJob(session, flags.resume);
  const jobs = (await session.trawl.frontier.listJobs(1000)).filter((job) => job.state !== "cancelled");
  if (target === undefined) return jobs.find((job) => !hasEnded(job.state)) ?? jobs[0];
  const wanted = specOf(session, target, flags);
  return jobs.find((job) => isSameWork(job.spec as JobSpec, wanted));
}

function requireTarget(target: Target | undefined): Target {
  if (target !== undefined) return target;
  throw new TrawlError("BAD_USAGE", { op: "cli.crawl", message: "nothing to crawl: give a URL" });
}

/** Hosts a person named by running this: they may be on private networks. */
function hostsOf(urls: readonly string[]): string[] {
  return [...new Set(urls.map((url) => new URL(url).hostname))].slice(0, HOSTS_MOST);
}

const HOSTS_MOST = 1000;

async function runAndReport(session: Session, stops: Stops, spec: JobSpec, flags: Flags): Promise<number> {
  const { screen } = session;
  const stream = flags.out === undefined && spec.out === undefined && flags.json !== true && !process.stdout.isTTY;
  const { id: jobId, queue, typedHosts: allowHosts, out } = spec;
  const end = await runCrawl(session, stops, { jobId, queue, allowHosts, stream, quiet: flags.quiet === true });
  const written = out === undefined ? undefined : await exportTo(session, jobId, out, columnsOf(spec));
  if (flags.quiet !== true) screen.err(await report(session, end, { out, written }));
  if (flags.json === true) {
    const { pages, records, invalid } = end.job.tally;
    const seconds = Number(end.seconds.toFixed(3));
    screen.out(
      `${JSON.stringify({ ...jobJson(end.job), pages, records, invalid, seconds, ...(out === undefined ? {} : { out }) })}\n`,
    );
  }
  return exitCode(end, flags);
}

function exitCode({ job, interrupted }: CrawlEnd, { strict }: Flags): number {
  if (interrupted) return INTERRUPTED;
  if (job.state !== "finished") return 1;
  return strict === true && job.counts.dead > 0 ? 1 : 0;
}

/** The columns of a CSV where the job names its fields. */
function columnsOf({ extract }: JobSpec): readonly string[] | undefined {
  return extract === undefined ? undefined : Object.keys(extract).filter((name) => name !== EACH);
}
