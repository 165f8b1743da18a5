/**
 * Measures the bytes per URL: while it is pending, and after it was settled. On Redis, these are bytes of memory. On
 * SQLite, they are bytes of the broker file, which does not shrink. On both, `processBytes` is the memory that this
 * process uses per pending URL.
 */
import { submitRange } from "../workload.mjs";

export async function measureMemory({ open, meter, urls, sites }) {
  const contestant = await open();
  const usedBytes = contestant.usedBytes ?? meter.usedMemory;
  const before = await usedBytes();
  const heldBefore = heldBytes();
  await submitRange({ from: 0, to: urls, sites }, contestant.submit);
  const pending = await usedBytes();
  const heldPending = heldBytes();
  await contestant.drain(urls);
  const seen = await usedBytes();
  return {
    urls,
    pendingBytes: (pending - before) / urls,
    seenBytes: (seen - before) / urls,
    processBytes: (heldPending - heldBefore) / urls,
  };
}

/** The bytes that this process uses after a garbage collection. run.mjs makes `gc` available. */
function heldBytes() {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
