/** Adds to groups of dead letters why their last attempts failed. */
import { hasCause, lastCause } from "../domain/attempt-cause.ts";
import type { DeadFilter, DeadGroup, FrontierAdmin } from "../frontier/frontier-admin.ts";

export type DeadGroupWithCause = DeadGroup & {
  /** The cause of the last attempt of one letter of the group, for `retries_spent` and `blocked`. */
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
    if (!hasCause(reason)) return undefined;
    const same = status === undefined ? { ...filter, reason, site } : { ...filter, reason, site, status };
    const letters = await frontier.listDead(same, SAMPLE);
    const letter = letters.find((one) => one.status === status);
    return letter === undefined ? undefined : lastCause(reason, letter.history);
  }

  return Promise.all(groups.map(async (group) => ({ ...group, cause: await causeOf(group) })));
}
