/** The `trawl crawl` command: reads the target, runs the job and prints the report. */

import { maskedUrl } from "../../config/connection-url.ts";
import { getKnownJob } from "../../control/catalogue.ts";
import { jobOut } from "../../control/views/job.ts";
import { EACH } from "../../domain/extraction-rules.ts";
import type { JobSpec } from "../../domain/job-spec.ts";
import { TrawlError } from "../../errors.ts";
import { checkOutput, exportTo } from "../export-to.ts";
import { findProxyCosts } from "../proxies/costs.ts";
import { exitSettings } from "../proxy-flags.ts";
import { type CommandSession, type ConnectionFlags, connectionArgs, inSession } from "../session.ts";
import { INTERRUPTED, type Shutdown } from "../shutdown.ts";
import { processArgs } from "../worker/process-flags.ts";
import type { PoolGroup } from "../worker/run-pool.ts";
import { beginCrawl } from "./begin.ts";
import { undeliveredText } from "./deliveries.ts";
import { report } from "./report.ts";
import { findResumed, readResume, refuseShapeFlags } from "./resume.ts";
import { type CrawlEnd, runCrawl } from "./run-crawl.ts";
import { type CrawlFlags, readTarget } from "./targets.ts";

export type CrawlCommandFlags = CrawlFlags &
  ConnectionFlags & {
    out?: string;
    resume?: string | true;
    strict?: boolean;
    quiet?: boolean;
    concurrency?: number;
    processes?: number;
    userAgent?: string;
    proxy: string[];
  };

/** Runs the command. Resolves with the exit code. */
export async function crawl(targets: readonly string[], flags: CrawlCommandFlags, shutdown: Shutdown): Promise<number> {
  if (flags.out !== undefined) await checkOutput(flags.out);
  const { given, resume } = readResume(targets, flags);
  const target = given.length > 0 || resume === undefined ? await readTarget(given, flags) : undefined;
  if (target === undefined) refuseShapeFlags(flags);
  const settings = { concurrency: flags.concurrency, userAgent: flags.userAgent, ...exitSettings(flags) };
  return inSession({ flags, settings, waitsForBroker: true }, async (session) => {
    const resumed = resume === undefined ? undefined : await findResumed(session, resume, flags, target);
    const spec = resumed ?? (await beginCrawl(session, target, flags));
    return runAndReport(session, shutdown, { ...spec, out: flags.out ?? spec.out }, flags);
  });
}

async function runAndReport(
  session: CommandSession,
  shutdown: Shutdown,
  spec: JobSpec,
  flags: CrawlCommandFlags,
): Promise<number> {
  const { screen, trawl } = session;
  const stream = flags.out === undefined && spec.out === undefined && flags.json !== true && !process.stdout.isTTY;
  const { id: jobId, queue, typedHosts: allowHosts, out } = spec;
  await checkStore(session, jobId);
  const quiet = flags.quiet === true;
  // Without --processes, the output mentions a process only when it crashes.
  const showsProcesses = flags.processes !== undefined && !quiet;
  const group = groupOf(session, spec, flags);
  const run = { jobId, queue, allowHosts, stream, quiet, showsProcesses, group };
  const end = await runCrawl(session, shutdown, run);
  await checkStore(session, jobId);
  const written =
    out === undefined
      ? undefined
      : await exportTo({ records: session.trawl.store, screen: session.screen }, jobId, out, columnsOf(spec));
  // --quiet hides progress, not failures.
  if (!quiet || exitCode(end, flags) === 1) screen.err(await report(session, end, { out, written }));
  screen.err(await undeliveredText(session, jobId));
  if (flags.json === true) {
    const { pages, records, invalid } = end.job.tally;
    const seconds = Number(end.seconds.toFixed(3));
    const { rates } = end;
    const proxies = await findProxyCosts(session, end.job);
    const more = {
      ...(rates.length === 0 ? {} : { rates }),
      ...(out === undefined ? {} : { out }),
      ...(proxies === null ? {} : { proxies }),
    };
    const result = { ...jobOut(end.job, trawl.clock.now()), pages, records, invalid, seconds, ...more };
    await screen.out(`${JSON.stringify(result)}\n`);
  }
  return exitCode(end, flags);
}

/**
 * The worker processes of the crawl; undefined if this process does the work. A spider's handlers run in another
 * process unless the user sets TRAWL_POOL=solo: a handler that blocks the event loop must not block the handling of
 * Ctrl-C.
 */
function groupOf(
  { config }: CommandSession,
  { id, queue, spider }: JobSpec,
  flags: CrawlCommandFlags,
): PoolGroup | undefined {
  const processes = flags.processes ?? (spider !== undefined && config.pool === "auto" ? 1 : undefined);
  if (processes === undefined) return undefined;
  const args = ["worker", "--queues", queue, "--crawl", id, ...connectionArgs(flags), ...processArgs(flags)];
  return { name: undefined, processes, args };
}

/** Throws STORE_INCOMPLETE if records are missing: a crawl with lost records must not be reported as complete. */
async function checkStore(session: CommandSession, jobId: string): Promise<void> {
  const { tally, spec } = await getKnownJob(session.trawl.catalogue, jobId, "cli.crawl");
  const stored = await session.trawl.store.countRecords(jobId);
  if (!spec.keep.records || stored >= tally.records) return;
  throw new TrawlError("STORE_INCOMPLETE", {
    op: "cli.crawl",
    message: `store ${maskedUrl(session.config.store)} contains ${stored} of the ${tally.records} records of ${jobId}; the store was probably removed or replaced: restore it, or crawl again`,
    detail: { jobId, stored, records: tally.records },
  });
}

function exitCode({ job, interrupted }: CrawlEnd, { strict }: CrawlCommandFlags): number {
  if (interrupted) return INTERRUPTED;
  if (job.state !== "finished") return 1;
  return strict === true && job.counts.dead > 0 ? 1 : 0;
}

/** The CSV columns, if the job defines its fields. */
function columnsOf({ extract }: JobSpec): readonly string[] | undefined {
  return extract === undefined ? undefined : Object.keys(extract).filter((name) => name !== EACH);
}
