import { type JobSpec, mayRender } from "../domain/job-spec.ts";
import { queuesOf } from "../domain/route.ts";

/** All queues that may receive tasks of a job. The job ends only if workers serve each of them. */
export function queuesOfJob(spec: JobSpec): string[] {
  const { render, renderQueue, parse } = spec;
  const more = [
    ...(render !== "always" && mayRender(spec) ? [renderQueue] : []),
    ...(parse === undefined ? [] : [parse.queue]),
  ];
  return [...new Set([...queuesOf(spec), ...more])];
}
