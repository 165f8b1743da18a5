import type { JobSpec } from "../domain/job-spec.ts";
import { queuesOf } from "../domain/route.ts";

/** All queues that tasks of a job may go to: for it to end, each needs a worker. */
export function queuesOfJob(spec: JobSpec): string[] {
  const { render, renderQueue, parse } = spec;
  const more = [...(render === "auto" ? [renderQueue] : []), ...(parse === undefined ? [] : [parse.queue])];
  return [...new Set([...queuesOf(spec), ...more])];
}
