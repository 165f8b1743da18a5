/** `trawl crawl`: run a job to completion here. */
import type { Command } from "commander";
import { TrawlError } from "../../errors.ts";
import { EACH } from "../../extract/rules.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { beginCrawl } from "../crawl/begin.ts";
import { report } from "../crawl/report.ts";
import { findResumed, readResume, refuseShapeFlags } from "../crawl/resume.ts";
import { type CrawlEnd, runCrawl } from "../crawl/run-crawl.ts";
import { type CrawlFlags, readTarget } from "../crawl/targets.ts";
import { checkOutput, exportTo } from "../export-to.ts";
import { wholeNumber } from "../flags.ts";
import { withJobFlags } from "../job-flags.ts";
import { jobJson } from "../job-json.ts";
import { inSession, type PlaceFlags, type Session, withPlaces } from "../session.ts";
import { INTERRUPTED, type Stops } from "../stops.ts";
import { getJob } from "../watch-job.ts";

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
  trawl crawl https://shop.example/ -e title=h1 -e 'price=.price|number' \\
    --include '**/product/**' --out products.csv
  trawl crawl https://a.example/ --follow none | jq .title
  trawl crawl spider.ts --max-pages 500
  trawl crawl --resume          go on with the crawl interrupted last

Without -e each page yields title, description, text and links. Only the start
URLs' own sites are followed.
Exit codes: 0 done, 1 the work failed (or --strict and something did), 2 usage,
3 broker or store, 130 interrupted.`;

export function addCrawl(program: Command, stops: Stops): void {
  withJobFlags(withPlaces(program.command("crawl [targets...]")))
    .description("crawl URLs, a spider (spider.ts), a job (job.json) or a list (urls.txt, -) to completion, here")
    .option("-c, --concurrency <n>", "requests under way at once in all (default 32)", wholeNumber("--concurrency", 1))
    .option("--user-agent <text>", "how to introduce ourselves; name a way to reach you")
    .option("--out <file>", "write the records here when done: .jsonl, .json or .csv")
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
  const { given, resume } = readResume(targets, flags);
  const target = given.length > 0 || resume === undefined ? await readTarget(given, flags) : undefined;
  if (target === undefined) refuseShapeFlags(flags);
  const settings = { concurrency: flags.concurrency, userAgent: flags.userAgent };
  return inSession({ flags, settings, isPatient: true }, async (session) => {
    const resumed = resume === undefined ? undefined : await findResumed(session, resume, flags, target);
    const spec = resumed ?? (await beginCrawl(session, target, flags.out));
    return runAndReport(session, stops, { ...spec, out: flags.out ?? spec.out }, flags);
  });
}

async function runAndReport(session: Session, stops: Stops, spec: JobSpec, flags: Flags): Promise<number> {
  const { screen } = session;
  const stream = flags.out === undefined && spec.out === undefined && flags.json !== true && !process.stdout.isTTY;
  const { id: jobId, queue, typedHosts: allowHosts, out } = spec;
  await checkStore(session, jobId);
  const end = await runCrawl(session, stops, { jobId, queue, allowHosts, stream, quiet: flags.quiet === true });
  await checkStore(session, jobId);
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

/** A store that has lost records must not pass for a finished crawl. */
async function checkStore(session: Session, jobId: string): Promise<void> {
  const { tally, spec } = await getJob(session, jobId);
  const stored = await session.trawl.store.countRecords(jobId);
  if (!(spec as JobSpec).keep.records || stored >= tally.records) return;
  throw new TrawlError("STORE_INCOMPLETE", {
    op: "cli.crawl",
    message: `store ${session.config.store} holds ${stored} of the ${tally.records} records of ${jobId}: its file was removed or replaced; bring it back, or crawl again`,
    detail: { jobId, stored, records: tally.records },
  });
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
