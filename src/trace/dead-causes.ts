/** Adds to groups of dead letters why their last attempts failed. */
import { attemptCause, lastCause } from "../domain/attempt-cause.ts";
import type { DeadFilter, DeadGroup, FrontierAdmin } from "../frontier/frontier-admin.ts";

export type DeadGroupWithCause = DeadGroup & {
  /** The cause of the last attempt, for `retries_spent`: the status, or the cause of one letter of the group. */
  cause: string | undefined;
};

/** The number of dead letters that are read to find one whose last attempt had no status. */
const SAMPLE = 20;

export function withCauses(
  frontier: Pick<FrontierAdmin, "listDead">,
  filter: DeadFilter,
  groups: readonly DeadGroup[],
): Promise<DeadGroupWithCause[]> {
  async function causeOf({ reason, site, status }: DeadGroup): Promise<string | undefined> {
    if (reason !== "retries_spent") return undefined;
    if (status !== undefined) return attemptCause({ because: reason, status });
    const letters = await frontier.listDead({ ...filter, reason, site }, SAMPLE);
    const letter = letters.find((one) => one.status === undefined);
    return letter === undefined ? undefined : lastCause(reason, letter.history);
  }

  return Promise.all(groups.map(async (group) => ({ ...group, cause: await causeOf(group) })));
}
