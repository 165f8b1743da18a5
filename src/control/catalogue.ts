/**
 * All jobs, in the broker or in the archive. Retention writes a job to the archive before it removes the job from the
 * broker. Reads therefore query the broker first: a job that leaves the broker in between is found in the archive. A
 * deleted job is in neither, from the moment it is marked as deleted.
 */
import { TrawlError } from "../errors.ts";
import type { FrontierAdmin, JobView } from "../frontier/frontier-admin.ts";
import { jobNotFound } from "../frontier/job-errors.ts";
import type { ArchivedJob, JobArchive } from "../store/job-archive.ts";

/** `archived`: the job has left the broker. It can be read, but not changed. */
export type KnownJob = JobView & { archived: boolean };

export type Catalogue = {
  find(jobId: string): Promise<KnownJob | undefined>;
  /** Like `find`, but distinguishes a deleted job from one that never existed. */
  lookUp(jobId: string): Promise<KnownJob | "deleted" | undefined>;
  /** The jobs that exist, in any order. `jobIds` has at most MAX_BATCH entries (frontier.ts). */
  findAll(jobIds: readonly string[]): Promise<readonly KnownJob[]>;
  /** Newest first. */
  list(limit: number, before?: { createdAt: number }): Promise<readonly KnownJob[]>;
  /** Jobs that have not ended, newest first. The cost does not depend on the number of ended jobs. */
  listOpen(limit: number, before?: { createdAt: number }): Promise<readonly KnownJob[]>;
};

type Deps = {
  frontier: Pick<FrontierAdmin, "findJob" | "findJobs">;
  /** Jobs that users submitted, newest first. */
  listJobs: FrontierAdmin["listJobs"];
  listOpen: FrontierAdmin["listOpen"];
  archive: JobArchive;
};

export function createCatalogue({ frontier, listJobs, listOpen, archive }: Deps): Catalogue {
  async function lookUp(jobId: string): Promise<KnownJob | "deleted" | undefined> {
    const live = await frontier.findJob(jobId);
    const archived = await archive.find(jobId);
    if (archived === "deleted") return archived;
    if (live !== undefined) return { ...live, archived: false };
    return archived === undefined ? undefined : fromArchive(archived);
  }

  /**
   * Leaves out jobs that are marked as deleted but still in the broker. Returns fewer than `limit` jobs only if there
   * are no more.
   */
  async function listLive(
    list: FrontierAdmin["listJobs"],
    limit: number,
    before: { createdAt: number } | undefined,
  ): Promise<KnownJob[]> {
    const found: KnownJob[] = [];
    for (let from = before; ; ) {
      const jobs = await list(limit, from);
      const deleted = new Set(await archive.filterDeleted(jobs.map(({ id }) => id)));
      found.push(...jobs.filter(({ id }) => !deleted.has(id)).map((job) => ({ ...job, archived: false })));
      from = jobs.at(-1);
      if (jobs.length < limit || found.length >= limit) return found.slice(0, limit);
    }
  }

  return {
    lookUp,
    async find(jobId) {
      const job = await lookUp(jobId);
      return job === "deleted" ? undefined : job;
    },
    async findAll(jobIds) {
      const live = await frontier.findJobs(jobIds);
      const liveIds = new Set(live.map(({ id }) => id));
      const archived = await archive.findAll(jobIds.filter((jobId) => !liveIds.has(jobId)));
      const deleted = new Set(await archive.filterDeleted([...liveIds]));
      const kept = live.filter(({ id }) => !deleted.has(id)).map((job) => ({ ...job, archived: false }));
      return [...kept, ...archived.map(fromArchive)];
    },
    async list(limit, before) {
      const live = await listLive(listJobs, limit, before);
      const archived = await archive.list(limit, before);
      const liveIds = new Set(live.map(({ id }) => id));
      const jobs = [...live, ...archived.filter(({ id }) => !liveIds.has(id)).map(fromArchive)];
      return jobs.sort((one, other) => other.createdAt - one.createdAt).slice(0, limit);
    },
    listOpen: (limit, before) => listLive(listOpen, limit, before),
  };
}

/** `view` is the `JobView` that archive-ended.ts stored. */
function fromArchive({ view, finishedAt }: ArchivedJob): KnownJob {
  return { ...(view as JobView), finishedAt, archived: true };
}

/** The error if a caller tries to change an archived job. */
export function jobArchived(jobId: string, op: string): TrawlError {
  return new TrawlError("JOB_ARCHIVED", {
    op,
    message: `job ${jobId} has ended and is archived: its results can be read, but it cannot be changed or run again; submit a new job`,
    detail: { jobId },
  });
}

/** A job, archived or not. Throws NOT_FOUND. */
export async function getKnownJob({ find }: Pick<Catalogue, "find">, jobId: string, op: string): Promise<KnownJob> {
  const job = await find(jobId);
  if (job === undefined) throw jobNotFound(jobId, op);
  return job;
}

/** A job that is not archived. Throws NOT_FOUND or JOB_ARCHIVED. */
export async function getLiveJob(catalogue: Pick<Catalogue, "find">, jobId: string, op: string): Promise<KnownJob> {
  const job = await getKnownJob(catalogue, jobId, op);
  if (job.archived) throw jobArchived(jobId, op);
  return job;
}
