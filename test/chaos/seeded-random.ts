/** A generator of random numbers. The same seed yields the same numbers. */
export type SeededRandom = {
  /** From 0 up to, but not including, 1. */
  next(): number;
  /** A whole number from `least` to `max`, both included. */
  between(least: number, max: number): number;
};

/** mulberry32. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed | 0;
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  return { next, between: (least, max) => least + Math.floor(next() * (max - least + 1)) };
}
