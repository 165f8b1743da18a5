/**
 * Every job there is, whether the broker still has it or only the archive. A job is archived before the broker forgets
 * it: so the broker is asked first, and what has left it in between is found in the archive. What somebody has deleted is
 * in neither, from the moment it was marked.
 */
import { TrawlError } from "../errors.ts";
import type { FrontierAdmin, JobView } from "../frontier/frontier-admin.ts";
import { jobMissing } from "../frontier/job-missing.ts";
import type { ArchivedJob, JobArchive } from "../store/job-archive.ts";

/** `archived`: it has left the broker, and can be looked at only. */
export type KnownJob = JobView & { archived: boolean };

export type Catalogue = {
  find(jobId: string): Promise<KnownJob | undefined>;
  /** The same, where a job that was deleted is told from one that never was. */
  lookUp(jobId: string): Promise<KnownJob | "deleted" | undefined>;
  /** Newest first. */
  list(limit: number, before?: { createdAt: number }): Promise<readonly KnownJob[]>;
  /** Those that have not ended, newest first; others cost nothing. */
  listOpen(limit: number, before?: { createdAt: number }): Promise<readonly KnownJob[]>;
};

type Deps = {
  frontier: Pick<FrontierAdmin, "findJob">;
  /** Those that somebody submitted, newest first. */
  listJobs: FrontierAdmin["listJobs"];
  listOpen: FrontierAdmin["listOpen"];
  archive: JobArchive;
};

export function createCatalogue({ frontier, listJobs, listOpen, archive }: Deps): Catalogue {
  async function lookUp(jobId: string): Promise<KnownJob | "deleted" | undefined> {
    const live = await frontier.findJob(jobId);
    const kept = await archive.find(jobId);
    if (kept === "deleted") return kept;
    if (live !== undefined) return { ...live, archived: false };
    return kept === undefined ? undefined : fromArchive(kept);
  }

  /** As many as asked for, if there are, however many of those in the broker are deleted and not removed yet. */
  async function listLive(
    list: FrontierAdmin["listJobs"],
    limit: number,
    before: { createdAt: number } | undefined,
  ): Promise<KnownJob[]> {
    const found: KnownJob[] = [];
    for (let from = before; ; ) {
      const jobs = await list(limit, from);
      const gone = new Set(await archive.deletedAmong(jobs.map(({ id }) => id)));
      found.push(...jobs.filter(({ id }) => !gone.has(id)).map((job) => ({ ...job, archived: false })));
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
    async list(limit, before) {
      const live = await listLive(listJobs, limit, before);
      const kept = await archive.list(limit, before);
      const alive = new Set(live.map(({ id }) => id));
      const jobs = [...live, ...kept.filter(({ id }) => !alive.has(id)).map(fromArchive)];
      return jobs.sort((one, other) => other.createdAt - one.createdAt).slice(0, limit);
    },
    listOpen: (limit, before) => listLive(listOpen, limit, before),
  };
}

/** As it is kept, see archive-ended.ts. */
function fromArchive({ view, finishedAt }: ArchivedJob): KnownJob {
  return { ...(view as JobView), finishedAt, archived: true };
}

/** What whoever would steer a job that has left the broker is told. */
export function jobArchived(jobId: string, op: string): TrawlError {
  return new TrawlError("JOB_ARCHIVED", {
    op,
    message: `job ${jobId} ended long ago and has left the broker: its results can be read, and nothing of it runs again; submit it anew`,
    detail: { jobId },
  });
}

/** The job as it stands. Throws NOT_FOUND. */
export async function getKnownJob({ find }: Pick<Catalogue, "find">, jobId: string, op: string): Promise<KnownJob> {
  const job = await find(jobId);
  if (job === undefined) throw jobMissing(jobId, op);
  return job;
}

/** A job that may be steered. Throws NOT_FOUND or JOB_ARCHIVED. */
export async function getLiveJob(catalogue: Pick<Catalogue, "find">, jobId: string, op: string): Promise<KnownJob> {
  const job = await getKnownJob(catalogue, jobId, op);
  if (job.archived) throw jobArchived(jobId, op);
  return job;
}
