import { TrawlError } from "../errors.ts";
import type { Frontier } from "../frontier/frontier.ts";
import type { JobSpec } from "./job-spec.ts";
import { isSameWork } from "./resolve-job.ts";
import { firstTasks, newJobFrom } from "./submit-job.ts";
import type { Intake } from "./submit-stream.ts";

type Known = { spec: unknown; sealed: boolean; archived: boolean };

type Deps = {
  frontier: Pick<Frontier, "createJob" | "enqueue" | "seal">;
  /** Also a job that has left the broker, or was deleted: its key is used up all the same. */
  lookUp(id: string): Promise<Known | "deleted" | undefined>;
  /** The spec as the archive keeps it. */
  asArchived(spec: JobSpec): JobSpec;
  /** Whom the job is to tell is noted before the job is there, or its first events would be missed. */
  noteWebhook(): Promise<string | undefined>;
  now: () => number;
};

/**
 * The broker itself. `isKeyed`: the id of the spec comes of a key, and there may be such a job. Its `begin` throws
 * KEY_REUSED or JOB_DELETED, before anything is noted.
 */
export function frontierIntake(
  { frontier, lookUp, asArchived, noteWebhook, now }: Deps,
  spec: JobSpec,
  { batchMost, isKeyed }: { batchMost: number; isKeyed: boolean },
): Intake {
  async function findBefore(): Promise<Known | undefined> {
    const before = await lookUp(spec.id);
    if (before === "deleted") throw wasDeleted(spec.id);
    if (before === undefined) return undefined;
    if (!isSameWork(before.spec as JobSpec, before.archived ? asArchived(spec) : spec)) throw reused(spec.id);
    return before;
  }

  return {
    job: spec,
    batchMost,
    prepare: (urls) => firstTasks(spec, urls),
    async begin() {
      const before = isKeyed ? await findBefore() : undefined;
      const webhookSecret = (await noteWebhook()) ?? null;
      if (before === undefined) await frontier.createJob(newJobFrom(spec, now()));
      const { id, requestId } = (before?.spec as JobSpec | undefined) ?? spec;
      return { id, requestId, isSealed: before?.sealed ?? false, webhookSecret };
    },
    enqueue: (tasks) => frontier.enqueue(spec.id, tasks),
    seal: async () => void (await frontier.seal(spec.id)),
  };
}

function wasDeleted(id: string): TrawlError {
  return new TrawlError("JOB_DELETED", {
    op: "submit.begin",
    message: `the job of this key (${id}) was deleted; take a new key for a new job`,
    detail: { id },
  });
}

function reused(id: string): TrawlError {
  return new TrawlError("KEY_REUSED", {
    op: "submit.begin",
    message: `this key was used for another job before (${id}); take a new one for a new job`,
    detail: { id },
  });
}
