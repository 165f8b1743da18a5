/**
 * Measures wasted grants of sites with one request per 50 ms, while workers lease all the time. A grant is wasted if
 * its slot starts too early after the previous slot of the site, or if too many grants of the site are open at once.
 */
import { whileIdle } from "../contestants/trawl.mjs";
import { submitRange } from "../workload.mjs";

const POLICY = { intervalMs: 50, burst: 1, perSite: 2 };
/** The time between two slots: the interval, and 5 % for requests that are sent late. */
const SPACING_MS = POLICY.intervalMs * 1.05;
const WORKERS_PER_PROCESS = 4;
/**
 * A frontier grants a slot before the slot starts. How much earlier depends on how long its recent replies took: a
 * reply with a hundred grants takes several ms. A grant that arrives more than half an interval before its slot is
 * counted as early, because a later call would have been enough. An early grant is not wasted: its slot is used.
 */
const EARLY_MS = POLICY.intervalMs / 2;

export async function measureSpacing({ open, sites, seconds }) {
  const contestant = await open();
  const another = await contestant.openAnother();
  await contestant.createJob(contestant.frontier, POLICY, "limited");
  const enough = Math.ceil((sites * seconds * 1_000) / POLICY.intervalMs);
  await submitRange({ from: 0, to: enough, sites }, (tasks) => contestant.submit(tasks, "limited"));
  const log = { bySite: new Map(), open: new Map(), early: 0, crowded: 0 };
  const ending = AbortSignal.timeout(seconds * 1_000);
  const work = (frontier) => (_, nth) =>
    whileIdle(frontier, `worker-${nth}`, ending, async (grants) => {
      record(log, grants);
      // Before the call, because the broker may grant the next task before this process has received the reply.
      for (const { site } of grants) log.open.set(site, log.open.get(site) - 1);
      await contestant.settleAll(grants);
    });
  const loops = [contestant.frontier, another].flatMap((frontier) =>
    Array.from({ length: WORKERS_PER_PROCESS }, work(frontier)),
  );
  await Promise.all(loops);
  return summarise(log, sites, seconds);
}

function record(log, grants) {
  const now = Date.now();
  for (const { site, slot } of grants) {
    if (slot.sendAt > now + EARLY_MS) log.early++;
    const count = (log.open.get(site) ?? 0) + 1;
    log.open.set(site, count);
    if (count > POLICY.perSite) log.crowded++;
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
