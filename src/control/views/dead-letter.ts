/** Dead letters as the API returns them and as `--json` prints them. */
import { lastCause } from "../../domain/attempt-cause.ts";
import type { DeadReason } from "../../domain/task.ts";
import type { DeadLetter } from "../../frontier/frontier-admin.ts";
import type { DeadGroupWithCause } from "../../trace/dead-causes.ts";

export type DeadOut = {
  taskId: string;
  jobId: string;
  url: string;
  site: string;
  reason: DeadReason;
  status: number | null;
  diedAt: string;
  cause: string | null;
  history: { at: string; because: string; status: number | null; detail: string | null }[];
};

export type DeadGroupOut = {
  reason: DeadReason;
  site: string;
  status: number | null;
  count: number;
  sample: string;
  cause: string | null;
};

export function deadOut(letter: DeadLetter): DeadOut {
  const { taskId, jobId, url, site, reason, status = null, diedAt, history } = letter;
  return {
    ...{ taskId, jobId, url, site, reason, status },
    diedAt: new Date(diedAt).toISOString(),
    cause: lastCause(reason, history) ?? null,
    history: history.map(({ at, because, status = null, detail = null }) => ({
      at: new Date(at).toISOString(),
      ...{ because, status, detail },
    })),
  };
}

export function deadGroupOut(group: DeadGroupWithCause): DeadGroupOut {
  return { ...group, status: group.status ?? null, cause: group.cause ?? null };
}
