/** Enqueues new URLs, then the same URLs again, which must all be recognized as duplicates. */
import { makeTasks, submitAll } from "../workload.mjs";

export async function measureEnqueue({ open, meter, urls, sites, hasDedup }) {
  const contestant = await open();
  const tasks = makeTasks({ count: urls, sites });
  let accepted = 0;
  const fresh = await meter.measure(urls, async () => {
    accepted = await submitAll(tasks, contestant.submit);
  });
  if (accepted !== urls) throw new Error(`${accepted} of ${urls} new URLs were accepted`);
  if (!hasDedup) return { fresh };
  const again = await meter.measure(urls, async () => {
    accepted = await submitAll(tasks, contestant.submit);
  });
  const waiting = await contestant.count?.();
  if ((waiting ?? urls + accepted) !== urls) throw new Error("a URL was accepted twice");
  return { fresh, again };
}
