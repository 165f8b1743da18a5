/**
 * Creates jobs in the broker and queues their URLs. The API, the command line, crawls and schedules all use this code.
 *
 * The order is fixed: reuse check, quota, webhook, create, add, seal. Large request bodies are stored before the URLs
 * of their batch are added. The webhook is stored before the job exists, so that no event is missed. A crash between
 * two steps may leave a job that is not sealed, or a webhook or an owner row without a job; the webhook and the owner
 * row expire. With an idempotency key, the job's id is derived from the key. A
 * repeated submission, even to another server at the same time, finds the job of the first submission and continues it.
 */
import type { JobSpec } from "../domain/job-spec.ts";
import type { NewTask } from "../domain/task.ts";
import { pageUrlOf } from "../domain/task-url.ts";
import { isTrawlError, TrawlError } from "../errors.ts";
import type { Frontier, NewJob } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { RequestBodies } from "../store/bodies/bodies.ts";
import { firstTasks, type PreparedUrls, robotsTasks } from "./first-tasks.ts";
import { isSameJob } from "./job-digest.ts";
import { storeLargeBodies } from "./store-large-bodies.ts";
import { type Intake, inBatches, type SubmitAnswer, submitUrls } from "./submit-urls.ts";

type ExistingJob = { spec: JobSpec; sealed: boolean; archived: boolean };

export type SubmitDeps = {
  frontier: Pick<Frontier, "createJob" | "enqueue" | "seal"> & Pick<FrontierAdmin, "findJob">;
  /** Also finds archived and deleted jobs: their idempotency keys cannot be used for another job. */
  lookUp(id: string): Promise<ExistingJob | "deleted" | undefined>;
  /** Applies quotas to a job that does not exist yet, and records its owner. Throws QUOTA_REACHED. */
  admit(): Promise<void>;
  /** Stores the webhook. Returns its secret if the secret was generated. A repeated call has no effect. */
  addWebhook(): Promise<string | undefined>;
  now: () => number;
  requestBodies: RequestBodies;
};

/** What adding URLs to a job needs. */
type AddDeps = { frontier: Pick<Frontier, "enqueue" | "seal">; requestBodies: RequestBodies };

/**
 * Whether an earlier submission may have created the job. `key`: the id is derived from an idempotency key, and the job
 * must be the same. `occurrence`: the id is derived from an occurrence of a schedule, which fixes the job.
 */
export type Repeats = "never" | "key" | "occurrence";

/**
 * Number of URLs in one broker call. It is small enough that a list of a million URLs does not delay other callers for
 * long, and large enough that a batch has several URLs per site. Grouped by site, 10,000 URLs of 50 sites take the
 * broker 50 ms in batches of this size; not grouped, they take 92 ms.
 */
const BATCH = 2_500;

/**
 * The intake of a job that may not exist yet. `begin` throws JOB_DELETED and KEY_REUSED before it writes anything, with
 * one exception: if another process creates the job at the same time, KEY_REUSED may be thrown after the owner row and
 * the webhook were written.
 */
export function createBrokerIntake(deps: SubmitDeps, submitted: JobSpec, repeats: Repeats): Intake {
  const { frontier, requestBodies } = deps;
  const { id } = submitted;
  let spec = submitted;
  let isArchived = false;
  const queueRobots = createRobotsQueue(frontier, id);

  async function findExisting(): Promise<ExistingJob | undefined> {
    if (repeats === "never") return undefined;
    const existing = await deps.lookUp(id);
    if (existing === "deleted") throw jobDeleted(id);
    return existing;
  }

  /** Creates the job. Returns the existing job if another process has created it since `findExisting`. */
  async function create(): Promise<ExistingJob | undefined> {
    const now = deps.now();
    await frontier.createJob(newJobFrom(submitted, now));
    if (repeats === "never") return undefined;
    const job = await frontier.findJob(id);
    if (job === undefined) return undefined;
    const isOurs = job.createdAt === now && job.spec.requestId === submitted.requestId;
    return isOurs ? undefined : { ...job, archived: false };
  }

  function checkSame(existing: ExistingJob): void {
    if (repeats === "key" && !isSameJob(existing.spec, submitted)) throw keyReused(id);
  }

  return {
    maxBatch: BATCH,
    job: submitted,
    prepare: (urls) => bySite(firstTasks(spec, urls, requestBodies.settings)),
    async begin() {
      const before = await findExisting();
      if (before === undefined) await deps.admit();
      else checkSame(before);
      const webhookSecret = (await deps.addWebhook()) ?? null;
      const existing = before ?? (await create());
      if (existing !== undefined) {
        checkSame(existing);
        spec = existing.spec;
        isArchived = existing.archived;
      }
      const { requestId } = spec;
      return { id, requestId, isNew: existing === undefined, isSealed: existing?.sealed ?? false, webhookSecret };
    },
    async enqueue(tasks) {
      try {
        await queueRobots(spec, tasks);
        return await frontier.enqueue(id, await storeLargeBodies(requestBodies, id, tasks));
      } catch (error) {
        // Another process has completed the same submission.
        if (repeats !== "never" && isTrawlError(error, "JOB_ENDED")) return "ended";
        throw error;
      }
    },
    async seal() {
      if (!isArchived) await frontier.seal(id);
    },
  };
}

/** Submits a whole list. If the broker is full, it returns early: `full` is set, and the job is not sealed. */
export function submitList(
  deps: SubmitDeps,
  spec: JobSpec,
  urls: readonly string[],
  repeats: Repeats,
): Promise<SubmitAnswer> {
  return submitAll(createBrokerIntake(deps, spec, repeats), urls);
}

/** Queues the rest of a list, and seals the job. */
export function completeList(deps: AddDeps, spec: JobSpec, urls: readonly string[]): Promise<SubmitAnswer> {
  return submitAll(existingJobIntake(deps, spec), urls);
}

function submitAll(intake: Intake, urls: readonly string[]): Promise<SubmitAnswer> {
  return submitUrls(intake, inBatches(urls, intake.maxBatch), {
    ...{ isEager: true, seals: true, whenFull: "return", budget: undefined },
    onProgress: () => {},
    signal: new AbortController().signal,
  });
}

/** The intake that adds URLs to a job that exists. */
export function existingJobIntake({ frontier, requestBodies }: AddDeps, spec: JobSpec): Intake {
  const { id, requestId } = spec;
  const queueRobots = createRobotsQueue(frontier, id);
  return {
    maxBatch: BATCH,
    job: spec,
    prepare: (urls) => bySite(firstTasks(spec, urls, requestBodies.settings)),
    begin: async () => ({ id, requestId, isNew: false, isSealed: false, webhookSecret: null }),
    async enqueue(tasks) {
      await queueRobots(spec, tasks);
      return frontier.enqueue(id, await storeLargeBodies(requestBodies, id, tasks));
    },
    seal: async () => void (await frontier.seal(id)),
  };
}

/** The most robots.txt files that an intake remembers. If it forgets one, the frontier finds the duplicate. */
const MAX_KNOWN = 10_000;

/**
 * Queues the tasks that read the sitemaps of the sites of a batch. They are no URLs of the list, so they are not counted
 * as accepted. If the broker is full, the batch is full too, and the caller sends it again.
 */
function createRobotsQueue(frontier: Pick<Frontier, "enqueue">, jobId: string) {
  const known = new Set<string>();
  return async (spec: JobSpec, tasks: readonly NewTask[]): Promise<void> => {
    const missing = robotsTasks(spec, tasks, known);
    if (missing.length === 0) return;
    const { full } = await frontier.enqueue(jobId, missing);
    if (full !== undefined) return;
    if (known.size > MAX_KNOWN) known.clear();
    for (const { url } of missing) known.add(pageUrlOf(url));
  };
}

/** The job as the frontier stores it. */
export function newJobFrom(spec: JobSpec, now: number): NewJob {
  const { pages, seconds } = spec.limits;
  return {
    id: spec.id,
    name: spec.name,
    queue: spec.queue,
    priority: spec.priority,
    policy: spec.politeness.policy,
    sites: spec.politeness.sites,
    robots: spec.politeness.robots,
    retries: spec.retries,
    limits: {
      ...(pages === undefined ? {} : { pages }),
      ...(seconds === undefined ? {} : { deadlineAt: now + seconds * 1000 }),
    },
    dedup: spec.dedup,
    spec,
  };
}

/** Groups tasks by site: a broker call costs more if it contains more sites. The order within a site is kept. */
function bySite({ tasks, indexes, refused }: PreparedUrls): PreparedUrls {
  const groups = new Map<string, { tasks: NewTask[]; indexes: number[] }>();
  tasks.forEach((task, nth) => {
    const group = groups.get(task.site) ?? { tasks: [], indexes: [] };
    groups.set(task.site, group);
    group.tasks.push(task);
    group.indexes.push(indexes[nth] ?? nth);
  });
  if (groups.size <= 1) return { tasks, indexes, refused };
  const all = [...groups.values()];
  return { tasks: all.flatMap((group) => group.tasks), indexes: all.flatMap((group) => group.indexes), refused };
}

function jobDeleted(id: string): TrawlError {
  return new TrawlError("JOB_DELETED", {
    op: "submit.begin",
    message: `the job of this idempotency key (${id}) was deleted; use a new key for a new job`,
    detail: { id },
  });
}

function keyReused(id: string): TrawlError {
  return new TrawlError("KEY_REUSED", {
    op: "submit.begin",
    message: `this idempotency key was used for another job (${id}); use a new key for a new job`,
    detail: { id },
  });
}
