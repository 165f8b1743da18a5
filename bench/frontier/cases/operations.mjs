/** Adds URLs, then leases all of them, then settles all of them: the rate of each operation alone. */
import { makeTasks, submitAll } from "../workload.mjs";

const PER_CALL = 500;
/** The number of calls that one process has in flight. */
const CALLS = 4;

export async function measureOperations({ open, meter, urls, sites }) {
  const contestant = await open();
  const tasks = makeTasks({ count: urls, sites });
  const add = await meter.measure(urls, async () => {
    const accepted = await submitAll(tasks, contestant.submit);
    if (accepted !== urls) throw new Error(`${accepted} of ${urls} new URLs were accepted`);
  });
  const batches = [];
  const lease = await meter.measure(urls, () => inParallel(() => leaseUntilEmpty(contestant, batches)));
  const leased = batches.reduce((sum, batch) => sum + batch.length, 0);
  if (leased !== urls) throw new Error(`${leased} of ${urls} tasks were leased`);
  const settle = await meter.measure(urls, () => inParallel(() => settleUntilEmpty(contestant, batches)));
  return { add, lease, settle };
}

async function leaseUntilEmpty(contestant, batches) {
  for (;;) {
    const grants = await contestant.lease(PER_CALL, "worker");
    if (grants.length === 0) return;
    batches.push(grants);
  }
}

async function settleUntilEmpty(contestant, batches) {
  for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) await contestant.settleAll(batch);
}

function inParallel(work) {
  return Promise.all(Array.from({ length: CALLS }, work));
}
