/**
 * Plans when workers and the broker are killed. The plan depends on the seed and on the number of requests so far, not
 * on the speed of the machine.
 */
import { seededRandom } from "../seeded-random.ts";

export type PlannedKill =
  | { kind: "worker"; afterVisits: number; slot: number }
  | { kind: "broker"; afterVisits: number; downMs: number };

export type FleetKillsOptions = { seed: number; kills: number; brokerKills: number; workers: number; visits: number };

/** How long the broker is down: from a quick restart to longer than most retries last. */
const DOWN_MS = { least: 0, max: 1_500 };

/**
 * Divides the crawl into as many parts as there are kills, and plans one kill at a random moment of each part. Sorted
 * by time.
 */
export function planFleetKills({ seed, kills, brokerKills, workers, visits }: FleetKillsOptions): PlannedKill[] {
  const random = seededRandom(seed);
  const moments = (count: number) =>
    Array.from({ length: count }, (_, nth) => Math.floor(((nth + random.next()) / count) * visits));
  const planned: PlannedKill[] = [
    ...moments(kills).map((afterVisits) => ({
      kind: "worker" as const,
      afterVisits,
      slot: random.between(0, workers - 1),
    })),
    ...moments(brokerKills).map((afterVisits) => {
      return { kind: "broker" as const, afterVisits, downMs: random.between(DOWN_MS.least, DOWN_MS.max) };
    }),
  ];
  return planned.sort((one, other) => one.afterVisits - other.afterVisits);
}
