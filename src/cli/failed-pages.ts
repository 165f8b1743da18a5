/** Explains why a job has no pages although some were fetched, and finds the messages of failed URLs. */
import type { JobOut } from "../client/wire-types.ts";
import { plural } from "../domain/format-number.ts";
import type { DeadReason } from "../domain/task.ts";
import type { DeadFilter, DeadGroup, DeadLetter } from "../frontier/frontier-admin.ts";
import type { ControlPlane } from "./plane/control-plane.ts";

/** Reasons for which a fetched page fails in a handler of the spider. Such a page is not stored. */
export const HANDLER_REASONS: readonly DeadReason[] = ["handler_failed", "time_limit"];

const MAX_GROUPS = 500;

/** Explains a job without pages whose handlers failed on fetched pages. Undefined for other jobs. */
export async function findNoPageCause(
  plane: Pick<ControlPlane, "groupDead">,
  { id, tally, counts }: Pick<JobOut, "id" | "tally" | "counts">,
): Promise<string | undefined> {
  if (tally.pages > 0 || counts.dead === 0) return undefined;
  const groups = await plane.groupDead({ jobId: id }, MAX_GROUPS);
  const inHandler = groups.filter(({ reason }) => HANDLER_REASONS.includes(reason));
  const failed = inHandler.reduce((sum, { count }) => sum + count, 0);
  if (failed === 0) return undefined;
  const which = failed < counts.dead ? `${failed} of ${plural(counts.dead, "failed URL")}` : allOf(failed);
  return `no page was stored: the handler failed on ${which}`;
}

function allOf(pages: number): string {
  return pages === 1 ? "the only page" : `all ${plural(pages, "page")}`;
}

/** How many dead letters are read for all groups together, and for each group that has none among them. */
const LETTERS_READ = 500;
const LETTERS_READ_PER_GROUP = 20;

/**
 * The message of the last attempt of the newest dead letter of each group. If there are more than LETTERS_READ dead
 * letters, it may be that of an older one, because they are listed by task id.
 */
export async function findNewestMessages(
  plane: Pick<ControlPlane, "listDead">,
  filter: DeadFilter,
  groups: readonly DeadGroup[],
): Promise<(string | undefined)[]> {
  const letters = await plane.listDead(filter, LETTERS_READ);
  return Promise.all(
    groups.map(async (group) => {
      const known = letters.filter((letter) => isIn(group, letter));
      const own = known.length > 0 ? known : await listGroup(plane, filter, group);
      const [newest] = own.toSorted((one, other) => other.diedAt - one.diedAt);
      return newest?.history.at(-1)?.detail;
    }),
  );
}

async function listGroup(
  plane: Pick<ControlPlane, "listDead">,
  filter: DeadFilter,
  group: DeadGroup,
): Promise<DeadLetter[]> {
  const { reason, site, status } = group;
  const own = { ...filter, reason, site, ...(status === undefined ? {} : { status }) };
  return (await plane.listDead(own, LETTERS_READ_PER_GROUP)).filter((letter) => isIn(group, letter));
}

function isIn({ reason, site, status }: DeadGroup, letter: DeadLetter): boolean {
  return letter.reason === reason && letter.site === site && letter.status === status;
}
