/**
 * Moves large request bodies from tasks into TRAWL_BODIES, before the tasks are queued. If the process crashes in
 * between, the folder of the job contains a body that no task uses; it is removed with the job.
 */
import { isLargeBody } from "../domain/request.ts";
import type { NewTask } from "../domain/task.ts";
import type { RequestBodies } from "../store/bodies/bodies.ts";

/** Bodies that are written at once. */
const WRITES = 8;

/** The tasks, with references in place of large bodies. Resolves once the bodies are durable. */
export async function storeLargeBodies(
  bodies: Pick<RequestBodies, "put">,
  jobId: string,
  tasks: readonly NewTask[],
): Promise<readonly NewTask[]> {
  const large = tasks.flatMap(({ request }, nth) => (request !== undefined && isLargeBody(request) ? [nth] : []));
  if (large.length === 0) return tasks;
  const stored = [...tasks];
  for (let from = 0; from < large.length; from += WRITES) {
    await Promise.all(
      large.slice(from, from + WRITES).map(async (nth) => {
        const task = stored[nth];
        if (task?.request?.body === undefined) return;
        const { body, ...request } = task.request;
        stored[nth] = { ...task, request: { ...request, bodyRef: await bodies.put(jobId, body) } };
      }),
    );
  }
  return stored;
}
