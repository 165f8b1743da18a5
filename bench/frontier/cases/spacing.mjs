/**
 * Measures whether terms keep the requests to a site apart. Each site allows one request per 50 ms, and several workers
 * lease tasks all the time. Each worker returns its terms at once, as if it had sent the requests as early as possible.
 * A grant is wasted if its request would be too close to another request to the site.
 */
import { whileIdle } from "../contestants/trawl.mjs";
import { submitRange } from "../workload.mjs";

const POLICY = { intervalMs: 50, burst: 1, perSite: 2 };
const WORKERS_PER_PROCESS = 4;

export async function measureSpacing({ open, sites, seconds }) {
  const contestant = await open();
  const another = await contestant.openAnother();
  await contestant.createJob(contestant.frontier, POLICY, "limited");
  const enough = Math.ceil((sites * seconds * 1_000) / POLICY.intervalMs);
  await submitRange({ from: 0, to: enough, sites }, (tasks) => contestant.submit(tasks, "limited"));
  const bySite = new Map();
  const ending = AbortSignal.timeout(seconds * 1_000);
  const work = (frontier) => (_, nth) =>
    whileIdle(frontier, `worker-${nth}`, ending, async ({ grants, terms }) => {
      const returned = terms.map((term) =>
        sendAll(
          bySite,
          term,
          grants.filter(({ site }) => site === term.site),
        ),
      );
      await contestant.settleAll(grants);
      await frontier.returnTerms(returned);
    });
  const loops = [contestant.frontier, another].flatMap((frontier) =>
    Array.from({ length: WORKERS_PER_PROCESS }, work(frontier)),
  );
  await Promise.all(loops);
  return summarise(bySite, sites, seconds);
}

/** Records when the requests of a term would be sent. Returns the argument of `returnTerms` for this term. */
function sendAll(bySite, { site, number, intervalMs, burst, startsAt }, grants) {
  const sentAt = bySite.get(site) ?? [];
  bySite.set(site, sentAt);
  sentAt.push(...grants.map((_, nth) => startsAt + nth * intervalMs));
  return {
    site,
    number,
    intervalMs,
    burst,
    arrivalAt: startsAt + grants.length * intervalMs,
    unstarted: 0,
    slowdown: 1,
  };
}

function summarise(bySite, sites, seconds) {
  let grants = 0;
  let wasted = 0;
  for (const sentAt of bySite.values()) {
    grants += sentAt.length;
    const sorted = sentAt.toSorted((a, b) => a - b);
    wasted += sorted.filter((at, nth) => nth > 0 && at - sorted[nth - 1] < POLICY.intervalMs - 0.01).length;
  }
  const allowed = (sites * seconds * 1_000) / POLICY.intervalMs;
  return { grants, sites, wasted, usedShare: grants / allowed };
}
