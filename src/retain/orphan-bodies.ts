/**
 * Removes bodies that no page refers to. Pages of several jobs may share a body, and a page that refers to it may not
 * be written yet. So a body is checked only after it has been an orphan for `SETTLED_MS`. It is kept if a page refers
 * to it by then. It is also kept if it was stored again in the meantime, because its new page may not be written yet.
 */
import type { Clock } from "../runtime/clock.ts";
import type { Bodies } from "../store/bodies/bodies.ts";
import type { JobArchive } from "../store/job-archive.ts";
import { SETTLED_MS } from "./delete-job.ts";

type Deps = {
  archive: Pick<JobArchive, "listOrphanBodies" | "dropOrphanBodies">;
  bodies: Pick<Bodies, "remove">;
  clock: Clock;
};

const BODY_BATCH = 100;

export async function removeOrphanBodies({ archive, bodies, clock }: Deps, signal: AbortSignal): Promise<void> {
  const since = clock.now() - SETTLED_MS;
  while (!signal.aborted) {
    const orphans = await archive.listOrphanBodies(since, BODY_BATCH);
    for (const { ref, isReferenced } of orphans) {
      if (signal.aborted) return;
      // `remove` keeps a body that was stored again after `since`: it belongs to that write.
      if (!isReferenced) await bodies.remove(ref, since);
    }
    await archive.dropOrphanBodies(
      orphans.map(({ ref }) => ref),
      since,
    );
    if (orphans.length < BODY_BATCH) return;
  }
}
