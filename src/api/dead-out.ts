/** A dead letter as the API answers it. Apart from the schemas: the command line needs none of them. */
import type { DeadLetter } from "../frontier/frontier-admin.ts";
import type { DeadOut } from "./wire-fleet.ts";

export function deadOut(letter: DeadLetter): DeadOut {
  const { taskId, jobId, url, site, reason, status = null, diedAt, history } = letter;
  return {
    ...{ taskId, jobId, url, site, reason, status },
    diedAt: new Date(diedAt).toISOString(),
    history: history.map(({ at, because, status = null, detail = null }) => ({
      at: new Date(at).toISOString(),
      ...{ because, status, detail },
    })),
  };
}
