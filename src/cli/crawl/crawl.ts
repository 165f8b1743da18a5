/** Runs what `trawl crawl` was given to its end, and tells how it went. */

import { jobOut } from "../../api/job-out.ts";
import { shownPlace } from "../../config/place.ts";
import { TrawlError } from "../../errors.ts";
import { EACH } from "../../extract/rules.ts";
import { getKnownJob } from "../../retain/catalogue.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { checkOutput, exportTo } from "../export-to.ts";
import { inSession, type PlaceFlags, placeWords, type Session } from "../session.ts";
import { INTERRUPTED, type Stops } from "../stops.ts";
import { wordsOf } from "../worker/process-flags.ts";
import type { PoolGroup } from "../worker/run-pool.ts";
import { beginCrawl } from "./begin.ts";
import { undeliveredText } from "./deliveries.ts";
import { report } from "./report.ts";
import { findResumed, readResume, refuseShapeFlags } from "./resume.ts";
import { type CrawlEnd, runCrawl } from "./run-crawl.ts";
import { type CrawlFlags, readTarget } from "./targets.ts";

export type CrawlCommandFlags = CrawlFlags &
  PlaceFlags & {
    out?: string;
    resume?: string | true;
    strict?: boolean;
    quiet?: boolean;
    concurrency?: number;
    processes?: number;
    userAgent?: string;
  };

/** The answer is the exit code. */
export async function crawl(targets: readonly string[], flags: CrawlCommandFlags, stops: Stops): Promise<number> {
  if (flags.out !== undefined) await checkOutput(flags.out);
  const { given, resume } = readResume(targets, flags);
  const target = given.length > 0 || resume === undefined ? await readTarget(given, flags) : undefined;
  if (target === undefined) refuseShapeFlags(flags);
  const settings = { concurrency: flags.concurrency, userAgent: flags.userAgent };
  return inSession({ flags, settings, isPatient: true }, async (session) => {
    const resumed = resume === undefined ? undefined : await findResumed(session, resume, flags, target);
    const spec = resumed ?? (await beginCrawl(session, target, flags));
    return runAndReport(session, stops, { ...spec, out: flags.out ?? spec.out }, flags);
  });
}

async function runAndReport(session: Session, stops: Stops, spec: JobSpec, flags: CrawlCommandFlags): Promise<number> {
  const { screen, trawl } = session;
  const stream = flags.out === undefined && spec.out === undefined && flags.json !== true && !process.stdout.isTTY;
  const { id: jobId, queue, typedHosts: allowHosts, out } = spec;
  await checkStore(session, jobId);
  const quiet = flags.quiet === true;
  // Whoever has not asked for processes is told of one only when it dies.
  const tellsProcesses = flags.processes !== undefined && !quiet;
  const group = groupOf(session, spec, flags);
  const run = { jobId, queue, allowHosts, stream, quiet, tellsProcesses, group };
  const end = await runCrawl(session, stops, run);
  await checkStore(session, jobId);
  const written =
    out === undefined
      ? undefined
      : await exportTo({ records: session.trawl.store, screen: session.screen }, jobId, out, columnsOf(spec));
  // Silence is about progress: what went wrong is said all the same.
  if (!quiet || exitCode(end, flags) === 1) screen.err(await report(session, end, { out, written }));
  screen.err(await undeliveredText(session, jobId));
  if (flags.json === true) {
    const { pages, records, invalid } = end.job.tally;
    const seconds = Number(end.seconds.toFixed(3));
    await screen.out(
      `${JSON.stringify({ ...jobOut(end.job, trawl.clock.now()), pages, records, invalid, seconds, ...(out === undefined ? {} : { out }) })}\n`,
    );
  }
  return exitCode(end, flags);
}

/**
 * The processes that are to work for it; undefined: this one does. A spider's handlers never run here, unless somebody
 * asks for that: one that never lets go of its process would leave nobody to hear Ctrl-C.
 */
function groupOf({ config }: Session, { id, queue, spider }: JobSpec, flags: CrawlCommandFlags): PoolGroup | undefined {
  const processes = flags.processes ?? (spider !== undefined && config.pool === "auto" ? 1 : undefined);
  if (processes === undefined) return undefined;
  const words = ["worker", "--queues", queue, "--crawl", id, ...placeWords(flags), ...wordsOf(flags)];
  return { name: undefined, processes, words };
}

/** A store that has lost records must not pass for a finished crawl. */
async function checkStore(session: Session, jobId: string): Promise<void> {
  const { tally, spec } = await getKnownJob(session.trawl.catalogue, jobId, "cli.crawl");
  const stored = await session.trawl.store.countRecords(jobId);
  if (!(spec as JobSpec).keep.records || stored >= tally.records) return;
  throw new TrawlError("STORE_INCOMPLETE", {
    op: "cli.crawl",
    message: `store ${shownPlace(session.config.store)} holds ${stored} of the ${tally.records} records of ${jobId}: it was removed or replaced; bring it back, or crawl again`,
    detail: { jobId, stored, records: tally.records },
  });
}

function exitCode({ job, interrupted }: CrawlEnd, { strict }: CrawlCommandFlags): number {
  if (interrupted) return INTERRUPTED;
  if (job.state !== "finished") return 1;
  return strict === true && job.counts.dead > 0 ? 1 : 0;
}

/** The columns of a CSV where the job names its fields. */
function columnsOf({ extract }: JobSpec): readonly string[] | undefined {
  return extract === undefined ? undefined : Object.keys(extract).filter((name) => name !== EACH);
}
