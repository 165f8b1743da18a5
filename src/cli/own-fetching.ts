/** The fetchers of commands that fetch without a broker. The rate of each site and robots.txt apply. */
import { createFetching } from "../compose/worker.ts";
import type { Config } from "../config/schema.ts";
import type { Term } from "../domain/politeness.ts";
import { NO_RESPONSES } from "../domain/throttling.ts";
import type { RobotsFile } from "../frontier/frontier.ts";
import { systemClock } from "../runtime/clock.ts";
import { createLog } from "../runtime/log.ts";
import { createWorkerMeter } from "../worker/observe/worker-meter.ts";
import { createPacer } from "../worker/pace/pacer.ts";

export type OwnFetching = ReturnType<typeof createFetching>;

/** `allowHosts`: hosts that the user typed. They may have private addresses. */
export function openOwnFetching(config: Config, allowHosts: readonly string[]): OwnFetching {
  const clock = systemClock();
  const pacer = createPacer({ frontier: ownTerms(config, clock.now), clock }, { worker: "own", concurrency: 1 });
  const fetching = createFetching(config, {
    allowHosts,
    clock,
    log: createLog("silent", () => {}),
    frontier: { ...ownRobots(), ...NO_SHARED_VALUES },
    pacer,
    meter: createWorkerMeter(), // required by createFetching, never read
  });
  return {
    ...fetching,
    async close() {
      pacer.stop();
      await fetching.close();
    },
  };
}

/** Replaces the broker. Each site has one term that does not end. */
function ownTerms({ rate: intervalMs, burst }: Config, now: () => number) {
  return {
    async openTerm({ site }: { site: string }): Promise<Term | undefined> {
      const times = { startsAt: now(), endsAt: Number.POSITIVE_INFINITY, arrivalAt: 0 };
      if (intervalMs === 0) return undefined;
      const atFullRate = { slowdown: 1, throttling: NO_RESPONSES };
      return { site, number: 1, intervalMs, burst, ...times, concurrent: 1, ...atFullRate };
    },
  };
}

/** The health of proxies is not stored. */
const NO_SHARED_VALUES = { findValue: async () => undefined, keepValue: async () => 1 };

function ownRobots() {
  const robots = new Map<string, RobotsFile>();
  return {
    findRobots: async (site: string) => robots.get(site),
    keepRobots: async (site: string, file: RobotsFile) => void robots.set(site, file),
  };
}
