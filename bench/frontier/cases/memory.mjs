/** Redis memory per URL, everything included: while it waits, and after it has been dealt with. */
import { submitRange } from "../workload.mjs";

export async function measureMemory({ open, meter, urls, sites }) {
  const contestant = await open();
  const before = await meter.usedMemory();
  await submitRange({ from: 0, to: urls, sites }, contestant.submit);
  const pending = await meter.usedMemory();
  await contestant.drain(urls);
  const seen = await meter.usedMemory();
  return { urls, pendingBytes: (pending - before) / urls, seenBytes: (seen - before) / urls };
}
