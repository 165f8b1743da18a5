/** The `trawl submit` command: queues URLs, and with --wait follows the job to its end. */
import type { JobOut } from "../../client/wire-types.ts";
import { networksFrom } from "../../compose/app.ts";
import { checkRules } from "../../compose/extractor.ts";
import { plural } from "../../domain/format-number.ts";
import { hasEnded } from "../../domain/job.ts";
import type { JobSpec } from "../../domain/job-spec.ts";
import { flagsForQueues, proxyAdvice, queueText } from "../../domain/queue-name.ts";
import { parseRate } from "../../domain/rate.ts";
import { isTrawlError, TrawlError } from "../../errors.ts";
import { showable } from "../../runtime/showable.ts";
import { digestJob } from "../../submit/job-digest.ts";
import { jobIdOfKey, KEY_TAKES, newJobId, newRequestId, resolveJob } from "../../submit/resolve-job.ts";
import { type Intake, inBatches, NOTHING_SUBMITTED, type SubmitAnswer, submitUrls } from "../../submit/submit-urls.ts";
import { hostsOf } from "../crawl/begin.ts";
import { refuseShapeFlags } from "../crawl/resume.ts";
import type { CrawlFlags } from "../crawl/targets.ts";
import { type ControlPlane, getJob } from "../plane/control-plane.ts";
import { type PlaneFlags, type PlaneSession, runOnPlane } from "../plane/run-on-plane.ts";
import { INTERRUPTED, type Shutdown } from "../shutdown.ts";
import { processScreen, type Screen } from "../terminal.ts";
import { aborted, watchJob } from "../watch-job.ts";
import { createForcedExit, type ForcedExit } from "./forced-exit.ts";
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
  PlaneFlags & {
    queue?: string;
    priority?: number;
    wait?: boolean;
    strict?: boolean;
    quiet?: boolean;
    resume?: string;
    idempotencyKey?: string;
  };

/** Runs the command. Resolves with the exit code. */
export async function submit(targets: readonly string[], flags: SubmitFlags, shutdown: Shutdown): Promise<number> {
  const stopping = new AbortController();
  const forcedExit = createForcedExit();
  const stopped = shutdown.onStop(() => {
    stopping.abort();
    forcedExit.start();
  });
  try {
    if (flags.resume !== undefined) refuseLateFlags(flags);
    const { signal } = stopping;
    const printNothingSubmitted = async () => processScreen().err("stopped while reading: nothing was submitted\n");
    forcedExit.setMessage(printNothingSubmitted); // the module of a spider may block while it loads
    const submission = await readSubmission(targets, flags, signal);
    if (signal.aborted) {
      await printNothingSubmitted();
      return INTERRUPTED;
    }
    forcedExit.setMessage(async () =>
      processScreen().err("stopped: the broker does not respond; nothing was submitted\n"),
    );
    return await runOnPlane({ flags, waitsForBroker: true }, (session) =>
      submitIn(session, submission, { flags, signal, forcedExit }),
    );
  } finally {
    stopped.remove();
    forcedExit.cancel();
  }
}

type Run = { flags: SubmitFlags; signal: AbortSignal; forcedExit: ForcedExit };

/** Throws BAD_USAGE for flags that have no effect on an existing job. */
function refuseLateFlags(flags: SubmitFlags): void {
  refuseShapeFlags(flags);
  const { queue, priority, idempotencyKey } = flags;
  if (queue === undefined && priority === undefined && idempotencyKey === undefined) return;
  throw new TrawlError("BAD_USAGE", {
    op: "cli.submit",
    message: "--queue, --priority and --idempotency-key cannot be changed with --resume; remove them",
  });
}

async function submitIn(session: PlaneSession, submission: Submission, run: Run): Promise<number> {
  const { screen } = session;
  const { flags, signal, forcedExit } = run;
  const intake = printingSecret(screen, await intakeFor(session, submission, flags));
  const privates = createPrivateHosts(networksFrom(session.config));
  const answer = await queueAll(session, intake, privates.watch(submission.urls), run);
  const spec = { id: answer.id, name: intake.job.name };
  const warning = privates.warning();
  if (warning !== undefined) screen.err(`note: ${showable(warning)}\n`);
  if (!answer.isBegun || !answer.isWhole) {
    screen.err(answer.isBegun ? interruptedText(spec, answer, screen) : nothingText(answer, screen.columns()));
    await printJson(session, answer, flags);
    return answer.isWhole ? 1 : INTERRUPTED;
  }
  forcedExit.setMessage(async () => {
    screen.err(
      `stopped: the broker does not respond; job ${showable(spec.id)} is submitted, and workers continue it\n`,
    );
    await printJson(session, answer, flags);
  });
  if (flags.json !== true) await screen.out(submissionText(spec, answer, screen.outColumns()));
  if (answer.isKnown)
    screen.err("note: the job was already submitted with this idempotency key; no URL was submitted again\n");
  await warnIfUnserved(session, spec.id);
  const job = flags.wait === true ? await follow(session, spec, flags, signal) : undefined;
  await printJson(session, answer, flags, job);
  if (flags.json !== true && screen.isLive) screen.err(nextSteps(spec, screen));
  return exitCode(answer, job, flags);
}

async function printJson(
  { screen }: PlaneSession,
  answer: SubmitAnswer,
  flags: SubmitFlags,
  job?: JobOut,
): Promise<void> {
  if (flags.json !== true) return;
  const end = job === undefined ? {} : endJson(job);
  await screen.out(`${JSON.stringify({ ...answerJson(answer, flags), ...end })}\n`);
}

/** Opens a new job, or the one to continue. */
async function intakeFor(session: PlaneSession, submission: Submission, flags: SubmitFlags): Promise<Intake> {
  const { plane, config, now: clock } = session;
  const { first, isShort } = submission;
  const { resume, priority, queue, requestId, idempotencyKey: key } = flags;
  const now = clock();
  const { urls: _, ...written } = submission.job;
  const job = {
    ...written,
    ...(priority === undefined ? {} : { priority }),
    ...(queue === undefined ? {} : { queue }),
  };
  const context = {
    ...{ id: idFor(key, now), requestId: requestId ?? newRequestId(now) },
    ...{ queue: undefined, typedHosts: hostsOf(first), out: undefined },
  };
  const spec: JobSpec = {
    ...resolveJob({ ...job, urls: [...first] }, config, context),
    ...(isShort ? {} : { urls: [] }),
    ...(key === undefined ? {} : { digest: digestJob(job, first, { isWhole: isShort }) }),
  };
  if (resume !== undefined) await applyPace(session, resume, flags);
  else checkRules(spec); // throws BAD_SELECTOR before anything is queued
  return plane.openIntake({ spec, job, urls: first, resume, key, requestId });
}

/** Prints a generated secret at once, because it cannot be shown later. */
function printingSecret(screen: Screen, intake: Intake): Intake {
  return {
    ...intake,
    async begin() {
      const begun = await intake.begin();
      const { webhookSecret } = begun;
      if (webhookSecret) screen.err(`webhook secret (shown only once): ${webhookSecret}\n`);
      return begun;
    },
  };
}

function idFor(key: string | undefined, now: number): string {
  const id = key === undefined ? newJobId(now) : jobIdOfKey(key, "");
  if (id !== undefined) return id;
  throw new TrawlError("BAD_USAGE", { op: "cli.submit", message: `--idempotency-key must be ${KEY_TAKES}` });
}

/** Changes the rate of the job to continue. */
async function applyPace({ plane }: PlaneSession, id: string, { rate, burst, perSite }: SubmitFlags): Promise<void> {
  await getJob(plane, id);
  if (rate !== undefined && parseRate(rate) === undefined) {
    throw new TrawlError("BAD_USAGE", {
      op: "cli.pace",
      message: `--rate must be a rate such as 4/s or 10/m, or unlimited, not ${rate}`,
    });
  }
  const pace = {
    ...(rate === undefined ? {} : { rate }),
    ...(burst === undefined ? {} : { burst }),
    ...(perSite === undefined ? {} : { perSite }),
  };
  if (Object.keys(pace).length > 0) await plane.changeJob(id, pace);
}

async function queueAll(
  session: PlaneSession,
  intake: Intake,
  urls: AsyncIterable<string>,
  { flags, signal, forcedExit }: Run,
): Promise<SubmitAnswer> {
  const { screen, now, sleep } = session;
  const progress = flags.quiet === true ? undefined : createSubmitProgress(screen, now);
  let latest: SubmitAnswer = { ...intake.job, ...NOTHING_SUBMITTED };
  const shown = () => ({ id: latest.id, name: intake.job.name });
  forcedExit.setMessage(async () => {
    screen.err(unansweredText(shown(), latest, screen));
    // The call without a response may have created the job.
    await printJson(session, { ...latest, isBegun: true }, flags);
  });
  const onProgress = (answer: SubmitAnswer, isFull: boolean) => {
    latest = answer;
    progress?.show(answer, isFull);
  };
  try {
    return await submitUrls(intake, inBatches(urls, intake.maxBatch), {
      ...{ isEager: false, seals: true, whenFull: sleep, budget: undefined, onProgress, signal },
    });
  } catch (error) {
    progress?.clear();
    if (latest.isBegun) screen.err(unansweredText(shown(), latest, screen));
    throw error;
  } finally {
    progress?.clear();
  }
}

/** Warns if no worker serves a queue of the job. */
async function warnIfUnserved({ plane, screen }: PlaneSession, id: string): Promise<void> {
  const unserved = await unservedQueues(plane, id);
  if (unserved.length === 0) return;
  const [names, many] = [unserved.join(","), unserved.length > 1];
  const flags = names === "fetch" ? "" : ` ${flagsForQueues(unserved)}`;
  const queues = many ? `queues ${unserved.join(", ")}` : queueText(names);
  const start = `${screen.command} worker${flags}${proxyAdvice(unserved)}`;
  screen.err(`note: ${showable(`no worker serves the ${queues}; start one with: ${start}`)}\n`);
}

async function unservedQueues(plane: ControlPlane, id: string): Promise<string[]> {
  try {
    const [job, workers] = await Promise.all([plane.findJob(id), plane.listWorkers()]);
    return (job?.queues ?? []).filter((queue) => !workers.some(({ queues }) => queues.includes(queue)));
  } catch (error) {
    // Listing workers requires the scope admin. A key without it can submit.
    if (isTrawlError(error, "FORBIDDEN")) return [];
    throw error;
  }
}

/** Resolves with the job when it has ended, or when the user has stopped waiting. */
async function follow(
  session: PlaneSession,
  { id }: { id: string },
  { quiet }: SubmitFlags,
  signal: AbortSignal,
): Promise<JobOut> {
  const over = new AbortController();
  const stopWaiting = () => over.abort();
  signal.addEventListener("abort", stopWaiting, { once: true });
  const { plane, screen, now } = session;
  const watching = { jobId: id, quiet: quiet === true, isObserver: true, everyMs: plane.pollEveryMs };
  const watch = watchJob({ findJob: plane.findJob, now, screen }, watching, over);
  if (!signal.aborted) await aborted(over.signal);
  await watch.stop();
  signal.removeEventListener("abort", stopWaiting);
  const job = await getJob(plane, id);
  const text = hasEnded(job.state) ? `${job.state}: ${plural(job.tally.pages, "page")}` : "workers continue the job";
  // --quiet hides progress, not failures.
  if (quiet !== true || (hasEnded(job.state) && job.state !== "finished")) {
    session.screen.err(`${showable(`${text}; show it with: ${session.screen.command} job ${id}`)}\n`);
  }
  return job;
}

function answerJson(answer: SubmitAnswer, { resume }: SubmitFlags) {
  const { id, requestId, accepted, duplicates, refused, refusedCount, taken, isBegun, isWhole, isKnown } = answer;
  const { webhookSecret } = answer;
  return {
    // The id is null if the job was not created.
    id: isBegun || resume !== undefined ? id : null,
    requestId,
    accepted,
    duplicates,
    refused,
    ...(refusedCount > refused.length ? { refusedCount } : {}),
    ...(isWhole ? {} : { taken, interrupted: true }),
    ...(isKnown ? { known: true } : {}),
    ...(webhookSecret === null ? {} : { webhookSecret }),
  };
}

function endJson(job: JobOut): object {
  const { pages, records, invalid } = job.tally;
  return { ...job, pages, records, invalid };
}

function exitCode(
  { accepted, duplicates, refusedCount, isKnown }: SubmitAnswer,
  job: JobOut | undefined,
  { strict }: SubmitFlags,
): number {
  if (job !== undefined && !hasEnded(job.state)) return INTERRUPTED;
  if (job !== undefined && job.state !== "finished") return 1;
  if (accepted + duplicates === 0 && !isKnown) return 1;
  return strict === true && (refusedCount > 0 || (job?.counts.dead ?? 0) > 0) ? 1 : 0;
}
