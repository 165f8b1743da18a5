/** Queues what `trawl submit` was given, and with --wait follows it to its end. */

import { jobOut } from "../../api/job-out.ts";
import { networksFrom } from "../../compose.ts";
import { extractorOf } from "../../compose-extractor.ts";
import { hasEnded } from "../../domain/job.ts";
import { TrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { showable } from "../../runtime/showable.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { queuesOfJob } from "../../submit/queues-of-job.ts";
import { newJobId, newRequestId, resolveJob } from "../../submit/resolve-job.ts";
import { NOTHING_YET, type StreamAnswer, submitStream } from "../../submit/submit-stream.ts";
import { hostsOf } from "../crawl/begin.ts";
import { applyPoliteness, refuseShapeFlags } from "../crawl/resume.ts";
import type { CrawlFlags } from "../crawl/targets.ts";
import { noteWebhookHere } from "../note-webhook.ts";
import { inSession, type PlaceFlags, type Session } from "../session.ts";
import { INTERRUPTED, type Stops } from "../stops.ts";
import { plural, processScreen } from "../terminal.ts";
import { aborted, getJob, watchJob } from "../watch-job.ts";
import { createLeave, type Leave } from "./leave.ts";
import { createPrivateHosts } from "./private-hosts.ts";
import { readSubmission, type Submission } from "./read-submission.ts";
import {
  createSubmitProgress,
  interruptedText,
  nextSteps,
  nothingText,
  submissionText,
  unansweredText,
} from "./show-submission.ts";

export type SubmitFlags = CrawlFlags &
  PlaceFlags & {
    queue?: string;
    priority?: number;
    wait?: boolean;
    strict?: boolean;
    quiet?: boolean;
    resume?: string;
  };

const BATCH = 1000;
const REFUSALS_MOST = 1000;

/** The answer is the exit code. */
export async function submit(targets: readonly string[], flags: SubmitFlags, stops: Stops): Promise<number> {
  const stopping = new AbortController();
  const leave = createLeave();
  const stopped = stops.once(() => {
    stopping.abort();
    leave.ask();
  });
  try {
    if (flags.resume !== undefined) refuseLateFlags(flags);
    const { signal } = stopping;
    const sayNothingCame = async () => processScreen().err("stopped while reading: nothing was submitted\n");
    leave.willSay(sayNothingCame); // a spider's module may never have loaded
    const submission = await readSubmission(targets, flags, signal);
    if (signal.aborted) {
      await sayNothingCame();
      return INTERRUPTED;
    }
    leave.willSay(async () => processScreen().err("stopped: the broker does not answer; nothing was submitted\n"));
    return await inSession({ flags, isPatient: true }, (session) =>
      submitIn(session, submission, { flags, signal, leave }),
    );
  } finally {
    stopped.forget();
    leave.forget();
  }
}

type Run = { flags: SubmitFlags; signal: AbortSignal; leave: Leave };

/** Too late for a job that has begun: better said than ignored. */
function refuseLateFlags(flags: SubmitFlags): void {
  refuseShapeFlags(flags);
  if (flags.queue === undefined && flags.priority === undefined) return;
  throw new TrawlError("BAD_USAGE", {
    op: "cli.submit",
    message: "--queue and --priority are chosen when a job is begun; leave them out with --resume",
  });
}

async function submitIn(session: Session, submission: Submission, run: Run): Promise<number> {
  const { screen } = session;
  const { flags, signal, leave } = run;
  const spec = await specFor(session, submission, flags);
  const privates = createPrivateHosts(networksFrom(session.config));
  if (flags.resume === undefined) await noteWebhookHere(session, submission.job.webhook, { jobId: spec.id });
  const answer = await queueAll(session, spec, privates.watch(submission.urls), run);
  const warning = privates.words();
  if (warning !== undefined) screen.err(`note: ${showable(warning)}\n`);
  if (!answer.isBegun || !answer.isWhole) {
    screen.err(answer.isBegun ? interruptedText(spec, answer, screen) : nothingText(answer, screen.columns()));
    await printJson(session, answer, flags);
    return answer.isWhole ? 1 : INTERRUPTED;
  }
  leave.willSay(async () => {
    screen.err(`stopped: the broker does not answer; job ${showable(spec.id)} is submitted, and goes on without us\n`);
    await printJson(session, answer, flags);
  });
  if (flags.json !== true) await screen.out(submissionText(spec, answer, screen.outColumns()));
  await sayIfUnserved(session, spec);
  const job = flags.wait === true ? await follow(session, spec, flags, signal) : undefined;
  await printJson(session, answer, flags, job);
  if (flags.json !== true && screen.isLive) screen.err(nextSteps(spec, screen));
  return exitCode(answer, job, flags);
}

async function printJson(
  { screen, trawl }: Session,
  answer: StreamAnswer,
  flags: SubmitFlags,
  job?: JobView,
): Promise<void> {
  if (flags.json !== true) return;
  const end = job === undefined ? {} : endJson(job, trawl.clock.now());
  await screen.out(`${JSON.stringify({ ...answerJson(answer, flags), ...end })}\n`);
}

/** A job of its own, or the one that is gone on with. */
async function specFor(session: Session, { job, first, isShort }: Submission, flags: SubmitFlags): Promise<JobSpec> {
  if (flags.resume !== undefined) {
    const { spec } = await getJob(session, flags.resume);
    await applyPoliteness(session, spec as JobSpec, flags);
    return spec as JobSpec;
  }
  const input = { ...job, urls: [...first], ...(flags.priority === undefined ? {} : { priority: flags.priority }) };
  const now = session.trawl.clock.now();
  const ids = { id: newJobId(now), requestId: flags.requestId ?? newRequestId(now) };
  const context = { ...ids, queue: flags.queue, typedHosts: hostsOf(first), out: undefined };
  const spec = resolveJob(input, session.config, context);
  extractorOf(spec); // a bad selector is said before anything is queued
  return isShort ? spec : { ...spec, urls: [] };
}

async function queueAll(
  session: Session,
  spec: JobSpec,
  urls: AsyncIterable<string>,
  { flags, signal, leave }: Run,
): Promise<StreamAnswer> {
  const { screen, trawl } = session;
  const { frontier, clock } = trawl;
  const progress = flags.quiet === true ? undefined : createSubmitProgress(screen, clock.now);
  let latest: StreamAnswer = { id: spec.id, requestId: spec.requestId, ...NOTHING_YET };
  leave.willSay(async () => {
    screen.err(unansweredText(spec, latest, screen));
    // The call that is not answered may have made the job.
    await printJson(session, { ...latest, isBegun: true }, flags);
  });
  const onProgress = (answer: StreamAnswer, isFull: boolean) => {
    latest = answer;
    progress?.show(answer, isFull);
  };
  const options = { batchMost: BATCH, refusalsMost: REFUSALS_MOST, onProgress, signal };
  try {
    return await submitStream({ frontier, now: clock.now, sleep: clock.sleep }, spec, urls, options);
  } finally {
    progress?.clear();
  }
}

/** A job that nobody will ever look at should not look as if all were well. */
async function sayIfUnserved({ trawl, screen }: Session, spec: JobSpec): Promise<void> {
  const workers = await trawl.frontier.listWorkers();
  const unserved = queuesOfJob(spec).filter((queue) => !workers.some(({ queues }) => queues.includes(queue)));
  if (unserved.length === 0) return;
  const [names, many] = [unserved.join(","), unserved.length > 1];
  const flag = names === "fetch" ? "" : ` --queues ${names}`;
  const words = `no worker serves the queue${many ? "s" : ""} ${unserved.join(", ")} yet; start one: ${screen.command} worker${flag}`;
  screen.err(`note: ${showable(words)}\n`);
}

/** The job when it has ended, or as it was when somebody stopped looking. */
async function follow(
  session: Session,
  { id }: JobSpec,
  { quiet }: SubmitFlags,
  signal: AbortSignal,
): Promise<JobView> {
  const over = new AbortController();
  const leave = () => over.abort();
  signal.addEventListener("abort", leave, { once: true });
  const watch = watchJob(session, { jobId: id, quiet: quiet === true, isOnlyLook: true }, over);
  if (!signal.aborted) await aborted(over.signal);
  await watch.stop();
  signal.removeEventListener("abort", leave);
  const job = await getJob(session, id);
  const words = hasEnded(job.state) ? `${job.state}: ${plural(job.tally.pages, "page")}` : "the job goes on without us";
  // Silence is about progress: what went wrong is said all the same.
  if (quiet !== true || (hasEnded(job.state) && job.state !== "finished")) {
    session.screen.err(`${showable(`${words}; look at it with: ${session.screen.command} job ${id}`)}\n`);
  }
  return job;
}

function answerJson(answer: StreamAnswer, { resume }: SubmitFlags) {
  const { id, requestId, accepted, duplicates, refused, refusedCount, taken, isBegun, isWhole } = answer;
  return {
    // Of a job that was never made there is nothing to look at by that name.
    id: isBegun || resume !== undefined ? id : null,
    requestId,
    accepted,
    duplicates,
    refused,
    ...(refusedCount > refused.length ? { refusedCount } : {}),
    ...(isWhole ? {} : { taken, interrupted: true }),
  };
}

function endJson(job: JobView, now: number): object {
  const { pages, records, invalid } = job.tally;
  return { ...jobOut(job, now), pages, records, invalid };
}

function exitCode(
  { accepted, duplicates, refusedCount }: StreamAnswer,
  job: JobView | undefined,
  { strict }: SubmitFlags,
): number {
  if (job !== undefined && !hasEnded(job.state)) return INTERRUPTED;
  if (job !== undefined && job.state !== "finished") return 1;
  if (accepted + duplicates === 0) return 1;
  return strict === true && (refusedCount > 0 || (job?.counts.dead ?? 0) > 0) ? 1 : 0;
}
