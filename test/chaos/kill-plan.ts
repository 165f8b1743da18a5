/**
 * Plans when the processes of a round are killed. The plan depends only on the seed, so a failed round can be repeated.
 */
import { seededRandom } from "./seeded-random.ts";

/** `start`: time after the start of the process. `finish`: time after the last page was requested. */
export type Kill = { after: "start" | "finish"; ms: number };

/** In this range, the process starts, opens its files and submits. */
const STARTING_MS = { least: 150, max: 900 };
/**
 * At 200 requests per second, 2,000 pages take at least 10 s: the first of these kills always happens during the crawl.
 */
const CRAWLING_MS = { least: 400, max: 8_000 };
/** In this range, the process settles the last pages and writes the output. */
const FINISHING_MS = { least: 0, max: 250 };

/** One to four kills. The first one happens during the crawl or before. */
export function planKills(seed: number): Kill[] {
  const random = seededRandom(seed);
  const kills: Kill[] = [];
  const count = random.between(1, 3);
  for (let nth = 0; nth < count; nth++) {
    const { least, max } = random.next() < 0.25 ? STARTING_MS : CRAWLING_MS;
    kills.push({ after: "start", ms: random.between(least, max) });
  }
  if (random.next() < 0.4) kills.push({ after: "finish", ms: random.between(FINISHING_MS.least, FINISHING_MS.max) });
  return kills;
}
