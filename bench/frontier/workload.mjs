/** What is queued: URLs of 60 characters, the same in every run, spread evenly over sites. */

export const BATCH = 500;
/** Batches under way at once, from one process. */
export const SUBMITTERS = 4;

const URL_CHARS = 60;

/** `count` tasks from the `first` on; neighbours belong to different sites. */
export function makeTasks({ count, sites, first = 0 }) {
  return Array.from({ length: count }, (_, nth) => makeTask(first + nth, sites));
}

export function makeTask(number, sites) {
  const site = `site-${String(number % sites).padStart(6, "0")}.example`;
  const lead = `https://${site}/c/`;
  return { url: `${lead}${String(number).padStart(URL_CHARS - lead.length - 5, "0")}.html`, site };
}

/** Calls `submit` with every batch, `SUBMITTERS` at a time; returns the sum of its answers. */
export async function submitAll(tasks, submit) {
  let next = 0;
  let sum = 0;
  await Promise.all(Array.from({ length: SUBMITTERS }, keepSubmitting));
  return sum;

  async function keepSubmitting() {
    while (next < tasks.length) {
      const batch = tasks.slice(next, next + BATCH);
      next += BATCH;
      const taken = await submit(batch);
      sum += taken; // not in one step with the await: others add to it meanwhile
    }
  }
}

/**
 * The same for tasks `from` to `to`, all of them new, without holding all at once: five million would crowd the process
 * that measures.
 */
export async function submitRange({ from, to, sites }, submit) {
  const CHUNK = 100_000;
  for (let first = from; first < to; first += CHUNK) {
    const count = Math.min(CHUNK, to - first);
    const taken = await submitAll(makeTasks({ count, sites, first }), submit);
    if (taken !== count) throw new Error(`${taken} of ${count} new URLs were taken`);
  }
}
