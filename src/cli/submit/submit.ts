/** Queues what `trawl submit` was given, and with --wait follows it to its end. */
import type { JobOut } from "../../api/wire-types.ts";
import { networksFrom } from "../../compose.ts";
import { extractorOf } from "../../compose-extractor.ts";
import { plural } from "../../domain/counted.ts";
import { hasEnded } from "../../domain/job.ts";
import { parseRate } from "../../domain/rate.ts";
import { isTrawlError, TrawlError } from "../../errors.ts";
import { showable } from "../../runtime/showable.ts";
import { jobIdOfKey, KEY_TAKES, newJobId, newRequestId, resolveJob } from "../../submit/resolve-job.ts";
import { type Intake, NOTHING_YET, type StreamAnswer, submitStream } from "../../submit/submit-stream.ts";
import { hostsOf } from "../crawl/begin.ts";
import { refuseShapeFlags } from "../crawl/resume.ts";
import type { CrawlFlags } from "../crawl/targets.ts";
import type { ControlPlane } from "../plane/control-plane.ts";
import { getJob } from "../plane/get-job.ts";
import { inPlane, type PlaneFlags, type PlaneSession } from "../plane/in-plane.ts";
import { INTERRUPTED, type Stops } from "../stops.ts";
import { processScreen, type Screen } from "../terminal.ts";
import { aborted, watchJob } from "../watch-job.ts";
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
  PlaneFlags & {
    queue?: string;
    priority?: number;
    wait?: boolean;
    strict?: boolean;
    quiet?: boolean;
    resume?: string;
    idempotencyKey?: string;
  };

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
    return await inPlane({ flags, isPatient: true }, (session) =>
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
  const { queue, priority, idempotencyKey } = flags;
  if (queue === undefined && priority === undefined && idempotencyKey === undefined) return;
  throw new TrawlError("BAD_USAGE", {
    op: "cli.submit",
    message: "--queue, --priority and --idempotency-key are chosen when a job is begun; leave them out with --resume",
  });
}

async function submitIn(session: PlaneSession, submission: Submission, run: Run): Promise<number> {
  const { screen } = session;
  const { flags, signal, leave } = run;
  const intake = tellingSecret(screen, await intakeFor(session, submission, flags));
  const privates = createPrivateHosts(networksFrom(session.config));
  const answer = await queueAll(session, intake, privates.watch(submission.urls), run);
  const spec = { id: answer.id, name: intake.job.name };
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
  if (answer.isKnown) screen.err("note: it was submitted under this key before, whole: nothing was sent again\n");
  await sayIfUnserved(session, spec.id);
  const job = flags.wait === true ? await follow(session, spec, flags, signal) : undefined;
  await printJson(session, answer, flags, job);
  if (flags.json !== true && screen.isLive) screen.err(nextSteps(spec, screen));
  return exitCode(answer, job, flags);
}

async function printJson(
  { screen }: PlaneSession,
  answer: StreamAnswer,
  flags: SubmitFlags,
  job?: JobOut,
): Promise<void> {
  if (flags.json !== true) return;
  const end = job === undefined ? {} : endJson(job);
  await screen.out(`${JSON.stringify({ ...answerJson(answer, flags), ...end })}\n`);
}

/** A job of its own, or the one that is gone on with. */
async function intakeFor(session: PlaneSession, submission: Submission, flags: SubmitFlags): Promise<Intake> {
  const { plane, config, now: clock } = session;
  const { job, first, isShort } = submission;
  const { resume, priority, queue, requestId, idempotencyKey: key } = flags;
  const now = clock();
  const input = { ...job, urls: [...first], ...(priority === undefined ? {} : { priority }) };
  const ids = { id: idFor(key, now), requestId: requestId ?? newRequestId(now) };
  const spec = resolveJob(input, config, { ...ids, queue, typedHosts: hostsOf(first), out: undefined });
  if (resume !== undefined) await applyPace(session, resume, flags);
  else extractorOf(spec); // a bad selector is said before anything is queued
  return plane.openIntake({
    spec: isShort ? spec : { ...spec, urls: [] },
    job: { ...input, ...(queue === undefined ? {} : { queue }) },
    urls: isShort ? first : undefined,
    ...{ resume, key, requestId },
  });
}

/** A secret that had to be made is said at once: nothing shows it later. */
function tellingSecret(screen: Screen, intake: Intake): Intake {
  return {
    ...intake,
    async begin() {
      const begun = await intake.begin();
      const { webhookSecret } = begun;
      if (webhookSecret) screen.err(`webhook secret, told this once: ${webhookSecret}\n`);
      return begun;
    },
  };
}

function idFor(key: string | undefined, now: number): string {
  const id = key === undefined ? newJobId(now) : jobIdOfKey(key, "");
  if (id !== undefined) return id;
  throw new TrawlError("BAD_USAGE", { op: "cli.submit", message: `--idempotency-key takes ${KEY_TAKES}` });
}

/** The one thing that may change under way. */
async function applyPace({ plane }: PlaneSession, id: string, { rate, burst, perSite }: SubmitFlags): Promise<void> {
  await getJob(plane, id);
  if (rate !== undefined && parseRate(rate) === undefined) {
    throw new TrawlError("BAD_USAGE", { op: "cli.pace", message: `--rate takes 4/s, 10/m or unlimited, not ${rate}` });
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
  { flags, signal, leave }: Run,
): Promise<StreamAnswer> {
  const { screen, now, sleep } = session;
  const progress = flags.quiet === true ? undefined : createSubmitProgress(screen, now);
  let latest: StreamAnswer = { ...intake.job, ...NOTHING_YET };
  const shown = () => ({ id: latest.id, name: intake.job.name });
  leave.willSay(async () => {
    screen.err(unansweredText(shown(), latest, screen));
    // The call that is not answered may have made the job.
    await printJson(session, { ...latest, isBegun: true }, flags);
  });
  const onProgress = (answer: StreamAnswer, isFull: boolean) => {
    latest = answer;
    progress?.show(answer, isFull);
  };
  try {
    const options = { refusalsMost: REFUSALS_MOST, onProgress, signal };
    return await submitStream({ intake, sleep }, urls, options);
  } catch (error) {
    progress?.clear();
    if (latest.isBegun) screen.err(unansweredText(shown(), latest, screen));
    throw error;
  } finally {
    progress?.clear();
  }
}

/** A job that nobody will ever look at should not look as if all were well. */
async function sayIfUnserved({ plane, screen }: PlaneSession, id: string): Promise<void> {
  const unserved = await unservedQueues(plane, id);
  if (unserved.length === 0) return;
  const [names, many] = [unserved.join(","), unserved.length > 1];
  const flag = names === "fetch" ? "" : ` --queues ${names}`;
  const words = `no worker serves the queue${many ? "s" : ""} ${unserved.join(", ")} yet; start one: ${screen.command} worker${flag}`;
  screen.err(`note: ${showable(words)}\n`);
}

async function unservedQueues(plane: ControlPlane, id: string): Promise<string[]> {
  try {
    const [job, workers] = await Promise.all([plane.findJob(id), plane.listWorkers()]);
    return (job?.queues ?? []).filter((queue) => !workers.some(({ queues }) => queues.includes(queue)));
  } catch (error) {
    // Who works is for operators to see: a key without that right submits all the same.
    if (isTrawlError(error, "FORBIDDEN")) return [];
    throw error;
  }
}

/** The job when it has ended, or as it was when somebody stopped looking. */
async function follow(
  session: PlaneSession,
  { id }: { id: string },
  { quiet }: SubmitFlags,
  signal: AbortSignal,
): Promise<JobOut> {
  const over = new AbortController();
  const leave = () => over.abort();
  signal.addEventListener("abort", leave, { once: true });
  const { plane, screen, now } = session;
  const watching = { jobId: id, quiet: quiet === true, isOnlyLook: true, everyMs: plane.lookEveryMs };
  const watch = watchJob({ findJob: plane.findJob, now, screen }, watching, over);
  if (!signal.aborted) await aborted(over.signal);
  await watch.stop();
  signal.removeEventListener("abort", leave);
  const job = await getJob(plane, id);
  const words = hasEnded(job.state) ? `${job.state}: ${plural(job.tally.pages, "page")}` : "the job goes on without us";
  // Silence is about progress: what went wrong is said all the same.
  if (quiet !== true || (hasEnded(job.state) && job.state !== "finished")) {
    session.screen.err(`${showable(`${words}; look at it with: ${session.screen.command} job ${id}`)}\n`);
  }
  return job;
}

function answerJson(answer: StreamAnswer, { resume }: SubmitFlags) {
  const { id, requestId, accepted, duplicates, refused, refusedCount, taken, isBegun, isWhole, isKnown } = answer;
  const { webhookSecret } = answer;
  return {
    // Of a job that was never made there is nothing to look at by that name.
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
  { accepted, duplicates, refusedCount, isKnown }: StreamAnswer,
  job: JobOut | undefined,
  { strict }: SubmitFlags,
): number {
  if (job !== undefined && !hasEnded(job.state)) return INTERRUPTED;
  if (job !== undefined && job.state !== "finished") return 1;
  if (accepted + duplicates === 0 && !isKnown) return 1;
  return strict === true && (refusedCount > 0 || (job?.counts.dead ?? 0) > 0) ? 1 : 0;
}
