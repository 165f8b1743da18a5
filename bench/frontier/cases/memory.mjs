/** Measures the total Redis memory per URL: while the URL is pending, and after it was settled. */
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
