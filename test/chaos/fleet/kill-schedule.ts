/** When a fleet loses what: drawn from a seed, and tied to how far the crawl has come, not to how fast this machine is. */
import { seededRandom } from "../seeded-random.ts";

export type Blow =
  | { kind: "worker"; afterVisits: number; slot: number }
  | { kind: "broker"; afterVisits: number; downMs: number };

export type BlowsOptions = { seed: number; kills: number; brokerKills: number; workers: number; visits: number };

/** How long the broker stays away: from a quick restart to longer than most retries are patient. */
const DOWN_MS = { least: 0, most: 1_500 };

/** Spread over the whole crawl, one in each stretch of it, at a random moment of the stretch; in order. */
export function planBlows({ seed, kills, brokerKills, workers, visits }: BlowsOptions): Blow[] {
  const random = seededRandom(seed);
  const moments = (count: number) =>
    Array.from({ length: count }, (_, nth) => Math.floor(((nth + random.next()) / count) * visits));
  const blows: Blow[] = [
    ...moments(kills).map((afterVisits) => ({
      kind: "worker" as const,
      afterVisits,
      slot: random.between(0, workers - 1),
    })),
    ...moments(brokerKills).map((afterVisits) => {
      return { kind: "broker" as const, afterVisits, downMs: random.between(DOWN_MS.least, DOWN_MS.most) };
    }),
  ];
  return blows.sort((one, other) => one.afterVisits - other.afterVisits);
}
