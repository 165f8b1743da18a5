import { TrawlError } from "../errors.ts";
import type { Frontier } from "../frontier/frontier.ts";
import type { JobSpec } from "./job-spec.ts";
import { isSameWork } from "./resolve-job.ts";
import { firstTasks, newJobFrom } from "./submit-job.ts";
import type { Intake } from "./submit-stream.ts";

type Deps = {
  frontier: Pick<Frontier, "createJob" | "enqueue" | "seal"> & {
    findJob(id: string): Promise<{ spec: unknown; sealed: boolean } | undefined>;
  };
  now: () => number;
};

/** The broker itself. `isKeyed`: the id of the spec comes of a key, and there may be such a job. Throws KEY_REUSED. */
export function frontierIntake(
  { frontier, now }: Deps,
  spec: JobSpec,
  { batchMost, isKeyed }: { batchMost: number; isKeyed: boolean },
): Intake {
  return {
    job: spec,
    batchMost,
    prepare: (urls) => firstTasks(spec, urls),
    async begin() {
      const before = isKeyed ? await frontier.findJob(spec.id) : undefined;
      const known = before?.spec as JobSpec | undefined;
      if (known !== undefined && !isSameWork(known, spec)) throw reused(spec.id);
      if (known === undefined) await frontier.createJob(newJobFrom(spec, now()));
      const { id, requestId } = known ?? spec;
      return { id, requestId, isSealed: before?.sealed ?? false };
    },
    enqueue: (tasks) => frontier.enqueue(spec.id, tasks),
    seal: async () => void (await frontier.seal(spec.id)),
  };
}

function reused(id: string): TrawlError {
  return new TrawlError("KEY_REUSED", {
    op: "submit.begin",
    message: `this key was used for another job before (${id}); take a new one for a new job`,
    detail: { id },
  });
}
