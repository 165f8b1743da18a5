/** What all jobs share, of broker and store themselves, as a server tells it. */
import type { Trawl } from "../../compose.ts";
import { SLOT_WIDTHS_MS, slotAt } from "../../store/history-book.ts";
import type { ControlPlane } from "./control-plane.ts";

/** How far back history is looked at. */
export const HISTORY_MS = 600_000;

export function fleetDesk({
  frontier,
  store,
  clock,
}: Trawl): Pick<ControlPlane, "listQueues" | "listTopSites" | "readHistory"> {
  const [width] = SLOT_WIDTHS_MS;
  return {
    async listQueues() {
      // Loaded on first use, as all that has schemas.
      const { queuesOut } = await import("../../api/wire-fleet.ts");
      const [queues, workers] = await Promise.all([frontier.listQueues(), frontier.listWorkers()]);
      return queuesOut(queues, workers);
    },
    async listTopSites(limit) {
      const { siteOut } = await import("../../api/wire-fleet.ts");
      const sites = await withOthers(await frontier.listBusySites(limit), limit, () => frontier.listSites(limit));
      return sites.map((site) => siteOut(site, clock.now()));
    },
    async readHistory() {
      const { pointsOut } = await import("../../api/wire-history.ts");
      const now = clock.now();
      const [from, to] = [slotAt(now - HISTORY_MS, width), slotAt(now, width) + width];
      return pointsOut(await store.history.read(width, from, to, (to - from) / width), from, to, width);
    },
  };
}

/** Some sites, and those that are not among them, up to `limit`. */
export async function withOthers<T extends { site: string }>(
  busy: readonly T[],
  limit: number,
  list: () => Promise<readonly T[]>,
): Promise<T[]> {
  if (busy.length >= limit) return [...busy];
  const known = new Set(busy.map(({ site }) => site));
  const others = (await list()).filter(({ site }) => !known.has(site));
  return [...busy, ...others].slice(0, limit);
}
