/**
 * Measures whether lease and settle become slower with more pending tasks or more sites. Two frontiers on the same
 * Redis alternate, block by block: one with 1,000 tasks on 1,000 sites, and a large one. Other load on the machine
 * affects both, so their ratio is stable.
 */
import { makeTasks, submitAll, submitRange } from "../workload.mjs";

const SMALL = 1_000;
const CALLS = 4;
const PER_CALL = 125;

/** One row per level, in rising order: more and more tasks on 1,000 sites. */
export async function measureGrowth({ open, levels, blocks }) {
  const small = await openSide(open, "small", SMALL);
  await small.fillTo(SMALL);
  const large = await openSide(open, "large", SMALL);
  const rows = [];
  for (const level of levels) {
    await large.fillTo(level);
    rows.push({ pending: level, sites: SMALL, ...(await compare(small, large, blocks)) });
  }
  return { rows };
}

/** One row per number of sites, each with `pending` tasks in total. */
export async function measureSites({ open, pending, siteCounts, blocks }) {
  const small = await openSide(open, "small", SMALL);
  await small.fillTo(SMALL);
  const rows = [];
  for (const sites of siteCounts) {
    const large = await openSide(open, `large-${sites}`, sites);
    await large.fillTo(pending);
    rows.push({ pending, sites, ...(await compare(small, large, blocks)) });
  }
  return { rows };
}

async function openSide(open, prefix, sites) {
  const contestant = await open({ prefix });
  let submitted = 0;
  let pending = 0;

  async function fillTo(count) {
    const more = count - pending;
    await submitRange({ from: submitted, to: submitted + more, sites }, contestant.submit);
    submitted += more;
    pending = count;
  }

  /** Leases and settles one block, then fills up again outside of the measured time. Returns tasks per second. */
  async function runBlock() {
    const startedAt = performance.now();
    const counts = await Promise.all(Array.from({ length: CALLS }, leaseAndSettle));
    const seconds = (performance.now() - startedAt) / 1_000;
    const ended = counts.reduce((sum, count) => sum + count, 0);
    if (ended === 0) throw new Error(`no task was granted with ${pending} pending tasks`);
    await submitAll(makeTasks({ count: ended, sites, first: submitted }), contestant.submit);
    submitted += ended;
    return ended / seconds;
  }

  async function leaseAndSettle(_, nth) {
    const grants = await contestant.lease(PER_CALL, `worker-${nth}`);
    if (grants.length > 0) await contestant.settleAll(grants);
    return grants.length;
  }

  return { fillTo, runBlock };
}

async function compare(small, large, blocks) {
  const rates = { small: [], large: [] };
  for (let block = 0; block < blocks; block++) {
    rates.small.push(await small.runBlock());
    rates.large.push(await large.runBlock());
  }
  const [smallPerS, perS] = [median(rates.small), median(rates.large)];
  return { smallPerS, perS, ratio: perS / smallPerS };
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
