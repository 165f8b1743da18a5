/** New URLs into the queue, then the same ones again, which must all be recognised. */
import { makeTasks, submitAll } from "../workload.mjs";

export async function measureEnqueue({ open, meter, urls, sites, hasDedup }) {
  const contestant = await open();
  const tasks = makeTasks({ count: urls, sites });
  let accepted = 0;
  const fresh = await meter.measure(urls, async () => {
    accepted = await submitAll(tasks, contestant.submit);
  });
  if (accepted !== urls) throw new Error(`${accepted} of ${urls} new URLs were taken`);
  if (!hasDedup) return { fresh };
  const again = await meter.measure(urls, async () => {
    accepted = await submitAll(tasks, contestant.submit);
  });
  const waiting = await contestant.count?.();
  if ((waiting ?? urls + accepted) !== urls) throw new Error("a URL was taken twice");
  return { fresh, again };
}
