/** A job as `--json` prints it. */
import type { JobView } from "../frontier/frontier-admin.ts";

export function jobJson({ id, name, state, createdAt, finishedAt, counts, tally }: JobView): Record<string, unknown> {
  return {
    id,
    name,
    state,
    counts,
    tally,
    createdAt: new Date(createdAt).toISOString(),
    finishedAt: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
  };
}
