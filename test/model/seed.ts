/**
 * Settings of every property test. fast-check prints the seed of a failure. TRAWL_SEED repeats a run, and TRAWL_RUNS
 * sets the number of runs. Shrinking a failure may take long: at the time limit it stops and shows its result so far.
 */
export function seeded(usualRuns: number): { numRuns: number; interruptAfterTimeLimit: number; seed?: number } {
  const { TRAWL_SEED: seed, TRAWL_RUNS: runs } = process.env;
  const numRuns = runs === undefined ? usualRuns : Number(runs);
  const limits = { numRuns, interruptAfterTimeLimit: 50_000 * Math.ceil(numRuns / usualRuns) };
  return seed === undefined ? limits : { ...limits, seed: Number(seed) };
}
