import type { Trawl } from "../../src/compose.ts";

const WAIT_MOST_MS = 1_000;

/** Takes some tasks of a.example as a worker would, and is done with them. The answer is how many; where there are none, it comes when there may be. */
export async function takeSome(frontier: Trawl["frontier"]): Promise<number> {
  await frontier.setSitePolicy("a.example", { intervalMs: 0, burst: 1, perSite: 1000 });
  const { grants } = await frontier.lease({ worker: "w", queues: ["fetch"], max: 1_000, leaseMs: 60_000 });
  for (const { site, mustAskRobots } of grants) {
    const now = Date.now();
    if (mustAskRobots)
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
  } else await frontier.waitForWork(Date.now() + WAIT_MOST_MS, new AbortController().signal);
  return grants.length;
}
