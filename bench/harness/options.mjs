/** What the benchmark's commands share of their options. */

/** The site is the same in every run, on every machine. */
export const SEED = 20_251;

export function readCount(flag, given) {
  const count = Number(given);
  if (!Number.isSafeInteger(count) || count < 1) throw new Error(`${flag} wants a whole number over 0, not "${given}"`);
  return count;
}
