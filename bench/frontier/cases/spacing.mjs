/**
 * Sites that may be hit every 50 ms, and workers that ask all the time. A grant is wasted if its slot comes sooner after
 * the one before than the site allows, or if more are out than the site takes at once.
 */
import { whileIdle } from "../contestants/trawl.mjs";
import { submitRange } from "../workload.mjs";

const POLICY = { intervalMs: 50, burst: 1, perSite: 2 };
/** What slots are spaced by: the interval, and 5 % for requests that leave late. */
const SPACING_MS = POLICY.intervalMs * 1.05;
const WORKERS_PER_PROCESS = 4;
/**
 * Slots are asked for as far ahead as answers take lately, and one with a hundred grants takes several ms. One in hand half
 * an interval before its slot is told of, as a later call would have done as well; it is used all the same.
 */
const EARLY_MS = POLICY.intervalMs / 2;

export async function measureSpacing({ open, sites, seconds }) {
  const contestant = await open();
  const another = await contestant.openAnother();
  await contestant.createJob(contestant.frontier, POLICY, "limited");
  const enough = Math.ceil((sites * seconds * 1_000) / POLICY.intervalMs);
  await submitRange({ from: 0, to: enough, sites }, (tasks) => contestant.submit(tasks, "limited"));
  const log = { bySite: new Map(), out: new Map(), early: 0, crowded: 0 };
  const ending = AbortSignal.timeout(seconds * 1_000);
  const work = (frontier) => (_, nth) =>
    whileIdle(frontier, `worker-${nth}`, ending, async (grants) => {
      note(log, grants);
      // Before the call: the broker may grant the next one while its reply is still on the way to us.
      for (const { site } of grants) log.out.set(site, log.out.get(site) - 1);
      await contestant.settleAll(grants);
    });
  const teams = [contestant.frontier, another].flatMap((frontier) =>
    Array.from({ length: WORKERS_PER_PROCESS }, work(frontier)),
  );
  await Promise.all(teams);
  return summarise(log, sites, seconds);
}

function note(log, grants) {
  const now = Date.now();
  for (const { site, slot } of grants) {
    if (slot.sendAt > now + EARLY_MS) log.early++;
    const out = (log.out.get(site) ?? 0) + 1;
    log.out.set(site, out);
    if (out > POLICY.perSite) log.crowded++;
    const sentAt = log.bySite.get(site);
    if (sentAt === undefined) log.bySite.set(site, [slot.sendAt]);
    else sentAt.push(slot.sendAt);
  }
}

function summarise({ bySite, early, crowded }, sites, seconds) {
  let grants = 0;
  let close = 0;
  for (const sentAt of bySite.values()) {
    grants += sentAt.length;
    const sorted = sentAt.toSorted((a, b) => a - b);
    close += sorted.filter((at, nth) => nth > 0 && at - sorted[nth - 1] < POLICY.intervalMs - 0.01).length;
  }
  const allowed = (sites * seconds * 1_000) / SPACING_MS;
  return { grants, sites, close, early, crowded, wasted: close + crowded, usedShare: grants / allowed };
}
