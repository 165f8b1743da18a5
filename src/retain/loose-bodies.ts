/**
 * Removes bodies that no page refers to any more. Pages of several jobs may share one, and a page may be about to be written
 * that refers to it: so a body is looked at only when it has been loose for a while, is kept if any page has it by then, and
 * if somebody has put it again meanwhile, whose page may be on its way.
 */
import type { Clock } from "../runtime/clock.ts";
import type { Bodies } from "../store/bodies/bodies.ts";
import type { JobArchive } from "../store/job-archive.ts";
import { SETTLED_MS } from "./delete-job.ts";

type Deps = { archive: Pick<JobArchive, "listLoose" | "dropLoose">; bodies: Pick<Bodies, "remove">; clock: Clock };

const BODIES = 100;

export async function removeLoose({ archive, bodies, clock }: Deps, signal: AbortSignal): Promise<void> {
  const since = clock.now() - SETTLED_MS;
  while (!signal.aborted) {
    const loose = await archive.listLoose(since, BODIES);
    for (const { ref, isReferred } of loose) {
      if (signal.aborted) return;
      // One that was put again belongs to whoever did: its page refers to it, or it is no job's that was deleted.
      if (!isReferred) await bodies.remove(ref, since);
    }
    await archive.dropLoose(
      loose.map(({ ref }) => ref),
      since,
    );
    if (loose.length < BODIES) return;
  }
}
