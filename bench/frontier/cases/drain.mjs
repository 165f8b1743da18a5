/** Leases and settles tasks, with no work in between, until no task is left. */
import { submitRange } from "../workload.mjs";

export async function measureDrain({ open, meter, urls, sites }) {
  const contestant = await open();
  await submitRange({ from: 0, to: urls, sites }, contestant.submit);
  return { drain: await meter.measure(urls, () => contestant.drain(urls)) };
}
