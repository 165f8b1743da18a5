/** The tasks to enqueue: URLs of 60 characters, the same in every run, spread evenly over the sites. */

export const BATCH = 500;
/** The number of batches that one process submits at once. */
export const SUBMITTERS = 4;

const URL_CHARS = 60;

/** `count` tasks, starting with number `first`. Consecutive tasks belong to different sites. */
export function makeTasks({ count, sites, first = 0 }) {
  return Array.from({ length: count }, (_, nth) => makeTask(first + nth, sites));
}

export function makeTask(number, sites) {
  const site = `site-${String(number % sites).padStart(6, "0")}.example`;
  const lead = `https://${site}/c/`;
  return { url: `${lead}${String(number).padStart(URL_CHARS - lead.length - 5, "0")}.html`, site };
}

/** Calls `submit` with every batch, `SUBMITTERS` at a time. Returns the sum of its results. */
export async function submitAll(tasks, submit) {
  let next = 0;
  let sum = 0;
  await Promise.all(Array.from({ length: SUBMITTERS }, keepSubmitting));
  return sum;

  async function keepSubmitting() {
    while (next < tasks.length) {
      const batch = tasks.slice(next, next + BATCH);
      next += BATCH;
      const accepted = await submit(batch);
      sum += accepted; // a separate statement, because other loops change the sum during the await
    }
  }
}

/**
 * Submits tasks `from` to `to`, which must all be new, in chunks: five million tasks at once would use too much memory
 * of the measuring process.
 */
export async function submitRange({ from, to, sites }, submit) {
  const CHUNK = 100_000;
  for (let first = from; first < to; first += CHUNK) {
    const count = Math.min(CHUNK, to - first);
    const accepted = await submitAll(makeTasks({ count, sites, first }), submit);
    if (accepted !== count) throw new Error(`${accepted} of ${count} new URLs were accepted`);
  }
}
