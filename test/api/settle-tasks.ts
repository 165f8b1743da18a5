import type { App } from "../../src/compose/app.ts";
import { aRequest } from "../contracts/frontier/makers.ts";

const MAX_WAIT_MS = 1_000;

/**
 * Leases and settles tasks of a.example like a worker, and returns their number. If there are none, it waits for new
 * ones.
 */
export async function settleTasks(frontier: App["frontier"]): Promise<number> {
  await frontier.setSitePolicy("a.example", { intervalMs: 0, burst: 1, perSite: 1000 });
  const { grants } = await frontier.lease(aRequest({ max: 1_000 }));
  for (const { site, mustFetchRobots } of grants) {
    const now = Date.now();
    if (mustFetchRobots)
      await frontier.keepRobots(site, { kind: "absent", text: "", fetchedAt: now, freshUntil: now + 1e7 }, 0);
  }
  if (grants.length > 0) {
    await frontier.settle(
      grants.map(({ taskId, token }) => ({
        ...{ taskId, token, discovered: [], refusedLinks: 0 },
        outcome: { kind: "done" },
        site: { kind: "ok" },
        tally: { pages: 1, records: 0, invalid: 0, bytes: 0 },
      })),
    );
  } else await frontier.waitForWork(Date.now() + MAX_WAIT_MS, new AbortController().signal);
  return grants.length;
}
