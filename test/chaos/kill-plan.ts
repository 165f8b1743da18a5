/** When a round's processes are killed: drawn from its seed, so that a bad round can be had again. */
import { seededRandom } from "./seeded-random.ts";

/** `start`: so long after the process was started; `finish`: so long after the last page was asked for. */
export type Kill = { after: "start" | "finish"; ms: number };

/** While it starts up, opens its files and submits. */
const STARTING_MS = { least: 150, most: 900 };
/** At 200 requests a second, 2,000 pages take 10 s at the least: the first of these always finds the crawl running. */
const CRAWLING_MS = { least: 400, most: 8_000 };
/** While it settles the last pages, and writes the output. */
const FINISHING_MS = { least: 0, most: 250 };

/** One to four kills, the first of them always in the middle of the crawl or before. */
export function planKills(seed: number): Kill[] {
  const random = seededRandom(seed);
  const kills: Kill[] = [];
  const count = random.between(1, 3);
  for (let nth = 0; nth < count; nth++) {
    const { least, most } = random.next() < 0.25 ? STARTING_MS : CRAWLING_MS;
    kills.push({ after: "start", ms: random.between(least, most) });
  }
  if (random.next() < 0.4) kills.push({ after: "finish", ms: random.between(FINISHING_MS.least, FINISHING_MS.most) });
  return kills;
}
